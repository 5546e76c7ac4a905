"""How `routed_experts` is written on the wire, and vLLM's own writing of it re-encoded.

`npy` is vLLM's own; `base85` and `compact` are those of PrimeIntellect-ai/prime-rl (CASES 42).
"""

import base64
import io
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, Literal, get_args

import numpy

Encoding = Literal["npy", "base85", "compact"]
ENCODINGS: tuple[str, ...] = get_args(Encoding)


def encode_routed_experts(
    experts: numpy.ndarray, encoding: Encoding, start: int = 0
) -> str | dict[str, Any]:
    """`experts`, expert ids of shape (tokens, layers, top k), as the wire value of `encoding`.

    npy      base64 of a `.npy` file: shape and dtype travel in the file.
    base85   `{data, shape}`: base85 of raw int32.
    compact  `{data, shape, start, dtype}`: base64 of raw uint8, uint16 or int32, the first
             that holds every id; `start` is the prompt token of the first row.

    Raw bytes are little-endian and in C order.
    """
    match encoding:
        case "npy":
            file = io.BytesIO()
            numpy.save(file, experts, allow_pickle=False)
            return base64.b64encode(file.getbuffer()).decode("ascii")
        case "base85":
            return {
                "data": base64.b85encode(_raw(experts, "int32")).decode("ascii"),
                "shape": list(experts.shape),
            }
        case "compact":
            dtype = _smallest_dtype(experts)
            data = base64.b64encode(_raw(experts, dtype)).decode("ascii")
            return {"data": data, "shape": list(experts.shape), "start": start, "dtype": dtype}
    raise ValueError(
        f"routed_experts encoding must be one of {', '.join(ENCODINGS)}, not {encoding!r}."
    )


def routed_experts_start(sampling_params: Any) -> int:
    """The first prompt token whose experts are returned; 0 in a release that cannot skip any."""
    return getattr(sampling_params, "routed_experts_prompt_start", None) or 0


def _raw(experts: numpy.ndarray, dtype: str) -> bytes:
    return experts.astype(numpy.dtype(dtype).newbyteorder("<")).tobytes()


def _smallest_dtype(experts: numpy.ndarray) -> str:
    low, high = (int(experts.min()), int(experts.max())) if experts.size else (0, 0)
    if low < 0 or high > 65535:
        return "int32"
    return "uint8" if high <= 255 else "uint16"


def reencode(npy: str, encoding: Encoding, start: int) -> str | dict[str, Any]:
    """A wire value in vLLM's own encoding, as the wire value of `encoding`."""
    return encode_routed_experts(
        numpy.load(io.BytesIO(base64.b64decode(npy)), allow_pickle=False), encoding, start
    )


async def reencode_stream(
    events: AsyncGenerator[str, None], encode: Callable[[str], str | dict[str, Any]]
) -> AsyncGenerator[str, None]:
    """vLLM's SSE events with every choice's experts re-encoded; others pass byte for byte."""
    # Closed with us, so that a client that goes away still aborts the engine request at once.
    async with aclosing(events):
        async for event in events:
            yield _reencode_event(event, encode) if '"routed_experts":"' in event else event


def _reencode_event(event: str, encode: Callable[[str], str | dict[str, Any]]) -> str:
    chunk = json.loads(event.removeprefix("data: "))
    for choice in chunk["choices"]:
        if choice["routed_experts"] is not None:
            choice["routed_experts"] = encode(choice["routed_experts"])
    return f"data: {json.dumps(chunk, ensure_ascii=False, separators=(',', ':'))}\n\n"
