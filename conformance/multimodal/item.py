"""An image's encoded item (`features.kwargs_data`) read and written without vLLM.

An item is base64 of MessagePack: field name -> {"data": tensor, "field": [kind, arguments]}. A tensor
is [dtype, shape, extension 3 with its bytes]. Only what such items hold is read here.
"""

import base64
import struct
from typing import Any

import numpy

RAW_VIEW = 3


class Raw(bytes):
    """The payload of a MessagePack extension of type `RAW_VIEW`: a tensor's bytes, little-endian."""


def decode(text: str) -> dict[str, Any]:
    """Field name -> {"data", "field"}; a tensor stays [dtype, shape, Raw].

    Raises ValueError where the text is no base64 or has bytes left over.
    """
    packed = base64.b64decode(text, validate=True)
    value, end = _read(packed, 0)
    if end != len(packed):
        raise ValueError(f"{len(packed) - end} bytes after the item")
    return value


def encode(item: Any) -> str:
    """The inverse of `decode`, for any value of dict, list, str, bool, int, None and Raw."""
    return base64.b64encode(_write(item)).decode("ascii")


def tensor(values: Any, dtype: str) -> list:
    """A tensor as it crosses the wire; `dtype` is numpy's and torch's name at once."""
    array = numpy.ascontiguousarray(values, dtype=numpy.dtype(dtype).newbyteorder("<"))
    return [dtype, list(array.shape), Raw(array.tobytes())]


def array(crossed: list) -> numpy.ndarray:
    """The values of a tensor that crossed the wire."""
    dtype, shape, raw = crossed
    return numpy.frombuffer(raw, numpy.dtype(dtype).newbyteorder("<")).reshape(shape)


def _read(packed: bytes, at: int) -> tuple[Any, int]:
    """The value that starts at byte `at`, and where the next one does."""
    code = packed[at]
    at += 1
    if code < 0x80:
        return code, at
    if code >= 0xE0:
        return code - 0x100, at
    if code in _CONSTANTS:
        return _CONSTANTS[code], at
    if code < 0x90:
        return _read_map(packed, at, code & 0x0F)
    if code < 0xA0:
        return _read_list(packed, at, code & 0x0F)
    if code < 0xC0:
        return _take(packed, at, code & 0x1F, bytes.decode)
    if code in _INTEGERS:
        (value,) = struct.unpack_from(_INTEGERS[code], packed, at)
        return value, at + struct.calcsize(_INTEGERS[code])
    if code in _FIXED_EXTENSIONS:
        return _take(packed, _kind(packed, at), _FIXED_EXTENSIONS[code], Raw)
    if code not in _SIZED:
        raise ValueError(f"an item holds no MessagePack of code {code:#x}")
    layout, what = _SIZED[code]
    (size,) = struct.unpack_from(layout, packed, at)
    at += struct.calcsize(layout)
    if what == "extension":
        return _take(packed, _kind(packed, at), size, Raw)
    if what == "text":
        return _take(packed, at, size, bytes.decode)
    return (_read_list if what == "list" else _read_map)(packed, at, size)


_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_INTEGERS = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
    0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}  # fmt: skip
_FIXED_EXTENSIONS = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}
_SIZED = {
    0xC7: (">B", "extension"), 0xC8: (">H", "extension"), 0xC9: (">I", "extension"),
    0xD9: (">B", "text"), 0xDA: (">H", "text"), 0xDB: (">I", "text"),
    0xDC: (">H", "list"), 0xDD: (">I", "list"), 0xDE: (">H", "map"), 0xDF: (">I", "map"),
}  # fmt: skip


def _kind(packed: bytes, at: int) -> int:
    if packed[at] != RAW_VIEW:
        raise ValueError(f"an extension of type {packed[at]}, not {RAW_VIEW}")
    return at + 1


def _take(packed: bytes, at: int, size: int, make: Any) -> tuple[Any, int]:
    if at + size > len(packed):
        raise ValueError("an item that ends early")
    return make(packed[at : at + size]), at + size


def _read_list(packed: bytes, at: int, size: int) -> tuple[list, int]:
    values = []
    for _ in range(size):
        value, at = _read(packed, at)
        values.append(value)
    return values, at


def _read_map(packed: bytes, at: int, size: int) -> tuple[dict, int]:
    flat, at = _read_list(packed, at, 2 * size)
    return dict(zip(flat[::2], flat[1::2], strict=True)), at


def _write(value: Any) -> bytes:
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        return b"\xd3" + struct.pack(">q", value)
    if isinstance(value, Raw):
        return b"\xc9" + struct.pack(">IB", len(value), RAW_VIEW) + value
    if isinstance(value, str):
        encoded = value.encode()
        return b"\xdb" + struct.pack(">I", len(encoded)) + encoded
    if isinstance(value, dict):
        flat = [part for pair in value.items() for part in pair]
        return b"\xdf" + struct.pack(">I", len(value)) + b"".join(map(_write, flat))
    return b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(_write, value))
