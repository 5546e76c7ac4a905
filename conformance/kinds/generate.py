"""Kinds of request to generate: levels, sampling parameters, logprobs, and what is refused."""

from typing import Any

from conformance.kinds.kind import Kind
from fixtures.case import own_id

PROMPT = [20, 21, 22, 23, 24, 25, 26, 27]
GREEDY = {"temperature": 0.0, "max_tokens": 6, "ignore_eos": True}
SEEDED = {"temperature": 1.5, "seed": 11, "max_tokens": 6, "ignore_eos": True}
A, B = 71, 72  # the tokens of these two letters
ONLY_A = {"allowed_token_ids": [A]}
SCHEMA = {"type": "object", "properties": {"a": {"enum": [1, 2]}}, "required": ["a"]}


def body(sampling: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A generate body: greedy, but for what `sampling` says."""
    return {"token_ids": PROMPT, "sampling_params": {**GREEDY, **(sampling or {})}, **fields}


def full(
    sampling: dict[str, Any] | None = None, *needs: str, node: str = "plain", **fields: Any
) -> Kind:
    return Kind("generate", body(sampling, **fields), ("generate", *needs), node=node)


def stream(sampling: dict[str, Any] | None = None, *needs: str, **fields: Any) -> Kind:
    return full(sampling, "generate-stream", *needs, stream=True, **fields)


def text(sampling: dict[str, Any] | None = None, *needs: str, **fields: Any) -> Kind:
    return full(sampling, "output-mode.text", *needs, output_mode="text", **fields)


def derender(sampling: dict[str, Any] | None = None, *needs: str, **fields: Any) -> Kind:
    return full(sampling, "output-mode.derender", *needs, output_mode="derender", **fields)


def refused(status: int = 400, **fields: Any) -> Kind:
    return Kind("generate", {**body(), **fields}, ("generate",), status=status)


N2 = {**SEEDED, "n": 2}
STREAMED_PROMPT_LOGPROBS = ("generate-stream", "prompt-logprobs.stream")
USAGE = {"include_usage": True}
EACH_USAGE = {"include_usage": True, "continuous_usage_stats": True}

KINDS: dict[str, Kind] = {
    "greedy": full(),
    "seeded": full(SEEDED),
    "penalties": full({"presence_penalty": 1.0, "frequency_penalty": 0.5, "repetition_penalty": 2}),
    "nucleus": full({**SEEDED, "top_p": 0.7, "top_k": 9, "min_p": 0.05}),
    "one-token": full({"max_tokens": 1}),
    "max-tokens-null": Kind(
        "generate",
        {"token_ids": PROMPT * 60, "sampling_params": {**GREEDY, "max_tokens": None}},
        ("generate",),
    ),
    "logprobs-0": full({"logprobs": 0}),
    "logprobs-1": full({"logprobs": 1}),
    "logprobs-5-seeded": full({**SEEDED, "logprobs": 5}),
    "logprobs-all": full({"logprobs": -1, "max_tokens": 2}, node="any-logprobs"),
    "prompt-logprobs-0": full({"prompt_logprobs": 0}),
    "prompt-logprobs-2": full({"prompt_logprobs": 2, "logprobs": 1}),
    "n-2": full(N2, "parallel-sampling"),
    "n-2-logprobs": full({**N2, "logprobs": 2}, "parallel-sampling"),
    "stop-string": full({**ONLY_A, "stop": ["aaa"]}, "stop-strings"),
    "stop-string-included": full(
        {**ONLY_A, "stop": "aa", "include_stop_str_in_output": True}, "stop-strings"
    ),
    "stop-token-ids": full({"allowed_token_ids": [A, B], "stop_token_ids": [A, B]}),
    "min-tokens": full({"min_tokens": 3, "ignore_eos": False, "logit_bias": {"2": 100.0}}),
    "end-token": full({"ignore_eos": False, "logit_bias": {"2": 100.0}}),
    "bad-words": full({"allowed_token_ids": [A, B], "bad_words": ["a"]}),
    "logit-bias": full({"logit_bias": {"40": 50.0}}),
    "allowed-token-ids": full({"allowed_token_ids": [30, 31, 32], "logprobs": 2}),
    "structured-json": full({"structured_outputs": {"json": SCHEMA}, "ignore_eos": False}),
    "structured-choice": full(
        {"structured_outputs": {"choice": ["yes", "no"]}, "ignore_eos": False, "logprobs": 1}
    ),
    "structured-regex": full({"structured_outputs": {"regex": "[ab]{3}"}, "ignore_eos": False}),
    "return-token-ids": full(None, "return-token-ids", return_token_ids=True),
    "request-id": full(None, request_id=own_id("kind")),
    "no-detokenize": full({"detokenize": False, "logprobs": 1}),
    "cache-salt": full(None, cache_salt=own_id("salt")),
    "stream": stream(),
    "stream-seeded": stream(SEEDED),
    "stream-logprobs-0": stream({"logprobs": 0}),
    "stream-logprobs-5": stream({**SEEDED, "logprobs": 5}),
    "stream-logprobs-all": stream({"logprobs": -1, "max_tokens": 2}, node="any-logprobs"),
    "stream-prompt-logprobs": stream({"prompt_logprobs": 1}, "prompt-logprobs.stream"),
    "stream-n-2": stream({**N2, "logprobs": 1}, "parallel-sampling"),
    "stream-usage": stream(None, stream_options=USAGE),
    "stream-usage-each": stream(None, stream_options=EACH_USAGE),
    "stream-return-token-ids": stream(None, "return-token-ids", return_token_ids=True),
    "stream-stop-string": stream({**ONLY_A, "stop": ["aaa"]}, "stop-strings"),
    "stream-stop-token-ids": stream({"allowed_token_ids": [A, B], "stop_token_ids": [A, B]}),
    "stream-end-token": stream({"ignore_eos": False, "logit_bias": {"2": 100.0}}),
    "text": text(),
    "text-logprobs": text({**SEEDED, "logprobs": 2}),
    "text-n-2": text(N2, "parallel-sampling"),
    "text-stop-string": text({**ONLY_A, "stop": ["aaa"]}),
    "text-stream": text(SEEDED, stream=True),
    "text-stream-logprobs": text({**SEEDED, "logprobs": 2}, stream=True),
    "text-stream-stop-string": text({**ONLY_A, "stop": ["aaa"]}, stream=True),
    "derender": derender(),
    "derender-logprobs": derender({**SEEDED, "logprobs": 2}),
    "derender-n-2": derender(N2, "parallel-sampling"),
    "derender-parsers": derender(
        {"structured_outputs": {"regex": "<think>a</think>b"}, "ignore_eos": False},
        node="parsers",
        parse_context={"tools": None, "tool_choice": "none"},
    ),
    "derender-stream": derender(
        {**SEEDED, "logprobs": 2}, "output-mode.derender.stream", stream=True
    ),
    "abort": Kind("abort", {"request_ids": ["nobody"]}, ("abort-route",)),
    "abort-without-ids": Kind("abort", {}, ("abort-route",), status=400),
    "unknown-model": refused(404, model="nobody"),
    "no-prompt": refused(token_ids=[]),
    "unknown-token-id": refused(token_ids=[20, 100_000]),
    "prompt-too-long": refused(token_ids=[20] * 600),
    "wrong-type": refused(sampling_params={"temperature": "hot"}),
    "negative-temperature": refused(sampling_params={**GREEDY, "temperature": -1.0}),
    "too-many-logprobs": refused(sampling_params={**GREEDY, "logprobs": 21}),
    "stream-too-many-logprobs": Kind(
        "generate", body({"logprobs": 21}, stream=True), ("generate-stream",), error_event=True
    ),
    "unknown-output-mode": Kind(
        "generate", body(output_mode="bogus"), ("output-mode.text",), status=400
    ),
}
