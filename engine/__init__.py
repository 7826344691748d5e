"""Headstart's engine: local language models behind a prefix cache. Usable from a script, without Qt.

An `Engine` runs a thread that owns the model and the cache. Commands (`EnginePort`) return at once; what comes of them
arrives as events, which `poll` hands out. What the model computed for the start of a prompt, its keys and values (KV),
stays in the cache, and the next prompt that begins with the same tokens computes only what is new.

Words of our own, beside those of the field (prefill, decode, block, prefix, pin, eviction, TTFT):

- lane: the working buffer of one request, one contiguous stretch of keys and values; published blocks are copies of it.
- settled: final, that is computed as a cold run computes it, and so allowed into published blocks.
- exact: an answer equals that of a cold run bit for bit; near: it may differ where two tokens are nearly as likely.
- regime: which variant of the position code computes a sequence, where a model has one for short and one for long ones.
- namespace: names all that a block depends on besides its tokens; nothing is ever reused from another one.
- space: the part of a namespace that belongs to one regime.
- owner: the conversation that a cached path belongs to; what only a deleted one owned goes from disk.
- to keep: to hold a prefix resident because somebody asked for it; to pin: because a running request needs it.
- run: of blocks, a stretch in the tree that nothing branches off; of the cache, the time that one request holds a lane.
- idle work: what is done while nobody waits: settling what decoding wrote, and writing blocks to disk.
"""

from engine.events import (
    BY_ITSELF,
    CacheView,
    Divergence,
    Event,
    Failed,
    Finished,
    FinishReason,
    Loaded,
    Loading,
    Matched,
    NodeView,
    Prefill,
    Preview,
    Scored,
    TextDelta,
    TokenScore,
    TtftParts,
    TurnStats,
)
from engine.library.download import DEFAULT_MODEL_BYTES
from engine.library.places import data_dir
from engine.library.resolve import check_model, default_model, fetch_model
from engine.machine import DeviceReport, EngineReport, describe_devices
from engine.port import EnginePort
from engine.remote.either import EitherEngine
from engine.remote.keys import keep_key
from engine.remote.wire import is_server
from engine.types import (
    BLOCK_TOKENS,
    DEVICES,
    DTYPES,
    Cure,
    Device,
    DiskFullError,
    Dtype,
    HeadstartError,
    InvalidRequestError,
    KeptStart,
    Message,
    ModelError,
    ModelInfo,
    ModelSpec,
    OutOfMemoryError,
    PromptTooLongError,
    Request,
    Role,
    Sampling,
    SystemPlace,
    TokenSpan,
    Tool,
    ToolCall,
)
from engine.worker.engine import Engine

__all__ = [
    "BLOCK_TOKENS",
    "BY_ITSELF",
    "DEFAULT_MODEL_BYTES",
    "DEVICES",
    "DTYPES",
    "CacheView",
    "Cure",
    "Device",
    "DeviceReport",
    "DiskFullError",
    "Divergence",
    "Dtype",
    "EitherEngine",
    "Engine",
    "EnginePort",
    "EngineReport",
    "Event",
    "Failed",
    "FinishReason",
    "Finished",
    "HeadstartError",
    "InvalidRequestError",
    "KeptStart",
    "Loaded",
    "Loading",
    "Matched",
    "Message",
    "ModelError",
    "ModelInfo",
    "ModelSpec",
    "NodeView",
    "OutOfMemoryError",
    "Prefill",
    "Preview",
    "PromptTooLongError",
    "Request",
    "Role",
    "Sampling",
    "Scored",
    "SystemPlace",
    "TextDelta",
    "TokenScore",
    "TokenSpan",
    "Tool",
    "ToolCall",
    "TtftParts",
    "TurnStats",
    "check_model",
    "data_dir",
    "default_model",
    "describe_devices",
    "fetch_model",
    "is_server",
    "keep_key",
]
