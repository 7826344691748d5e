"""ZIP files that are whole at first sight, and cannot be read."""

from __future__ import annotations

import io
import re
import zipfile

ODD = ("damaged", "locked", "packed in another way")


def odd(data: bytes, kind: str) -> bytes:
    """A ZIP file with its members damaged, as a password or another way of packing has it. As the format says, the
    directory has flags and the way of packing 8 and 10 bytes behind its mark."""
    made = bytearray(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        starts = [info.header_offset for info in archive.infolist()]
    for start in starts if kind == "damaged" else ():
        lengths = (int.from_bytes(data[start + at : start + at + 2], "little") for at in (26, 28))
        made[start + 30 + sum(lengths)] = 0xFF
    for entry in re.finditer(rb"PK\x01\x02", data):
        made[entry.start() + 8] |= kind == "locked"
        if kind == "packed in another way":
            made[entry.start() + 10] = 97
    return bytes(made)
