"""Kinds of request to the coupled routes: what a client gets where nothing is split."""

from typing import Any

from conformance.kinds.kind import Kind
from conformance.kinds.render import HELLO
from conformance.support import WEATHER_TOOL

# No special token is sampled, and the end token ends nothing.
GREEDY = {
    "temperature": 0.0,
    "max_tokens": 6,
    "ignore_eos": True,
    "logit_bias": {"0": -100.0, "1": -100.0, "2": -100.0},
}
SEEDED = {"temperature": 1.5, "seed": 11}
ONLY_A = {"allowed_token_ids": [71], "logit_bias": None}
LOGPROBS = {"logprobs": True, "top_logprobs": 2}
EACH_USAGE = {"stream_options": {"include_usage": True, "continuous_usage_stats": True}}
TOOLS = {"tools": [WEATHER_TOOL], "ignore_eos": False, "logit_bias": None, "max_tokens": 60}
REGEX = {"ignore_eos": False, "logit_bias": None, "max_tokens": 20}
REASONED = {**REGEX, "structured_outputs": {"regex": "<think>a</think>b"}}


def chat(*, status: int = 200, node: str = "plain", needs: tuple = (), **fields: Any) -> Kind:
    body = {"messages": HELLO, **GREEDY, **fields}
    body = {key: value for key, value in body.items() if value is not None}
    return Kind("chat", body, ("coupled.chat", *needs), status, node)


def completions(*, status: int = 200, needs: tuple = (), **fields: Any) -> Kind:
    body = {"prompt": "the quick brown fox", **GREEDY, **fields}
    body = {key: value for key, value in body.items() if value is not None}
    return Kind("completions", body, ("coupled.completions", *needs), status)


KINDS: dict[str, Kind] = {
    "chat": chat(),
    "chat-seeded": chat(**SEEDED),
    "chat-logprobs-0": chat(logprobs=True, top_logprobs=0),
    "chat-logprobs-2": chat(**SEEDED, **LOGPROBS),
    "chat-n-2": chat(**SEEDED, n=2, needs=("parallel-sampling",)),
    "chat-stop-string": chat(**ONLY_A, stop=["aaa"]),
    "chat-end-token": chat(logit_bias={"2": 100.0}, ignore_eos=False, min_tokens=2),
    "chat-echo": chat(
        messages=[*HELLO, {"role": "assistant", "content": "the"}],
        echo=True,
        add_generation_prompt=False,
        continue_final_message=True,
    ),
    "chat-return-token-ids": chat(return_token_ids=True),
    "chat-prompt-logprobs": chat(prompt_logprobs=1),
    "chat-json": chat(
        response_format={"type": "json_object"}, ignore_eos=False, logit_bias=None, max_tokens=12
    ),
    "chat-reasoning": chat(node="parsers", **REASONED),
    "chat-tool-required": chat(node="parsers", **TOOLS, tool_choice="required"),
    "chat-tool-named": chat(
        node="parsers",
        **TOOLS,
        tool_choice={"type": "function", "function": {"name": "get_weather"}},
    ),
    "chat-tool-auto": chat(node="parsers", **{**TOOLS, "max_tokens": 6}, tool_choice="auto"),
    "chat-stream-one-token": chat(stream=True, max_tokens=1),
    "chat-stream-usage-each": chat(stream=True, **EACH_USAGE),
    "chat-stream-logprobs": chat(stream=True, **SEEDED, **LOGPROBS),
    "chat-stream-n-2": chat(stream=True, **SEEDED, **LOGPROBS, n=2, needs=("parallel-sampling",)),
    "chat-stream-return-token-ids": chat(stream=True, return_token_ids=True),
    "chat-stream-stop-string": chat(stream=True, **ONLY_A, stop=["aaa"], return_token_ids=True),
    "chat-stream-reasoning": chat(node="parsers", stream=True, **REASONED, return_token_ids=True),
    "chat-stream-tool-required": chat(
        node="parsers", stream=True, **TOOLS, tool_choice="required", return_token_ids=True
    ),
    "chat-unknown-model": chat(status=404, model="nobody"),
    "chat-no-messages": chat(status=400, messages=[]),
    "chat-wrong-type": chat(status=400, temperature="hot"),
    "chat-too-many-logprobs": chat(status=400, logprobs=True, top_logprobs=21),
    "completions": completions(),
    "completions-logprobs": completions(**SEEDED, logprobs=2),
    "completions-echo": completions(echo=True),
    "completions-echo-logprobs": completions(echo=True, logprobs=1),
    "completions-two-prompts": completions(prompt=["hello", "the fox"], logprobs=1),
    "completions-token-ids": completions(prompt=[20, 21, 22], return_token_ids=True),
    "completions-n-2": completions(**SEEDED, n=2, needs=("parallel-sampling",)),
    "completions-stop-string": completions(**ONLY_A, stop=["aaa"]),
    "completions-suffix-space": completions(skip_special_tokens=False),
    "completions-stream": completions(stream=True, max_tokens=1),
    "completions-stream-usage-each": completions(stream=True, **EACH_USAGE),
    "completions-stream-logprobs": completions(stream=True, **SEEDED, logprobs=2),
    "completions-stream-n-2": completions(
        stream=True, **SEEDED, n=2, logprobs=0, needs=("parallel-sampling",)
    ),
    "completions-unknown-model": completions(status=404, model="nobody"),
    "completions-too-many-logprobs": completions(status=400, logprobs=21),
}
