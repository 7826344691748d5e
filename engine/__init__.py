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
from engine.keys import key_of
from engine.library.download import DEFAULT_MODEL_BYTES
from engine.library.found import FoundModel, delete_model, find_models, is_same_model
from engine.library.found import size_of as model_bytes
from engine.library.hub import HubModel, TokenNeededError, page_of, wish_of
from engine.library.hub import Unfinished as UnfinishedDownload
from engine.library.hub import discard as discard_download
from engine.library.hub import fetch as fetch_from_hub
from engine.library.hub import keep_token as keep_hub_token
from engine.library.hub import look_up as look_up_on_hub
from engine.library.hub import unfinished as unfinished_downloads
from engine.library.places import blocks_dir, data_dir, models_dir, runtimes_dir
from engine.library.resolve import check_model, default_model, fetch_model
from engine.machine import DeviceCheck, DeviceReport, EngineReport, describe_devices
from engine.port import EnginePort
from engine.remote.either import EitherEngine
from engine.remote.keys import keep_key
from engine.runtimes.install import Offer as GraphicsOffer
from engine.runtimes.install import find_offer as find_graphics_offer
from engine.runtimes.install import install as install_graphics
from engine.runtimes.install import installed as installed_graphics
from engine.runtimes.install import remove as remove_graphics
from engine.runtimes.launch import Runtime as GraphicsRuntime
from engine.runtimes.launch import begins as graphics_begins
from engine.runtimes.launch import is_ready as graphics_ready
from engine.runtimes.launch import notice as graphics_notice
from engine.side_programs import installed_folder, installed_resources
from engine.types import (
    BLOCK_TOKENS,
    DEVICES,
    DTYPES,
    LEAST_CONTEXT,
    NOTHING_CHOSEN,
    Cure,
    Device,
    DiskFullError,
    Dtype,
    HeadstartError,
    InvalidRequestError,
    KeptStart,
    Message,
    ModelError,
    ModelFit,
    ModelInfo,
    ModelSpec,
    OutOfMemoryError,
    PromptTooLongError,
    Request,
    Role,
    Sampling,
    SystemPlace,
    TemplateSettings,
    TokenSpan,
    Tool,
    ToolCall,
    is_server,
)
from engine.worker.checking import check_device
from engine.worker.engine import Engine
from engine.worker.needed import foreseen_fit, model_fit
from engine.worker.passed_check import has_passed

__all__ = [
    "BLOCK_TOKENS",
    "BY_ITSELF",
    "DEFAULT_MODEL_BYTES",
    "DEVICES",
    "DTYPES",
    "LEAST_CONTEXT",
    "NOTHING_CHOSEN",
    "CacheView",
    "Cure",
    "Device",
    "DeviceCheck",
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
    "FoundModel",
    "GraphicsOffer",
    "GraphicsRuntime",
    "HeadstartError",
    "HubModel",
    "InvalidRequestError",
    "KeptStart",
    "Loaded",
    "Loading",
    "Matched",
    "Message",
    "ModelError",
    "ModelFit",
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
    "TemplateSettings",
    "TextDelta",
    "TokenNeededError",
    "TokenScore",
    "TokenSpan",
    "Tool",
    "ToolCall",
    "TtftParts",
    "TurnStats",
    "UnfinishedDownload",
    "blocks_dir",
    "check_device",
    "check_model",
    "data_dir",
    "default_model",
    "delete_model",
    "describe_devices",
    "discard_download",
    "fetch_from_hub",
    "fetch_model",
    "find_graphics_offer",
    "find_models",
    "foreseen_fit",
    "graphics_begins",
    "graphics_notice",
    "graphics_ready",
    "has_passed",
    "install_graphics",
    "installed_folder",
    "installed_graphics",
    "installed_resources",
    "is_same_model",
    "is_server",
    "keep_hub_token",
    "keep_key",
    "key_of",
    "look_up_on_hub",
    "model_bytes",
    "model_fit",
    "models_dir",
    "page_of",
    "remove_graphics",
    "runtimes_dir",
    "unfinished_downloads",
    "wish_of",
]
