"""What the upgrade chapter shares: the nodes a cell mixes, the steps of an exchange, what an engine got."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from conformance.parity.support import GREEDY
from conformance.support import PARSERS
from fixtures.case import Node
from fixtures.mix import answered
from fixtures.nodes.script import output

RENDER = DERENDER = SUCCESSOR = Node("none", role="render")
PARSING_RENDER = PARSING_DERENDER = Node("none", *PARSERS, role="render")
SCRIPTED = Node("scripted")
PARSING = Node("scripted", *PARSERS)
REAL = Node("real")

CHAT = {"messages": [{"role": "user", "content": "hello world"}]}
COMPLETION = {"prompt": "hello world"}
GREEDY_CHAT = {**CHAT, **GREEDY}
GREEDY_COMPLETION = {**COMPLETION, **GREEDY}
ONE_TOKEN = [output([50], finish_reason="length")]

# How a node hands its answers over inside: no client asks for it.
NOT_ASKED = ("output_kind", "skip_clone", "detokenize")

Call = Callable[..., Awaitable[Any]]


def picked(value: dict, *keys: str) -> dict:
    """The part of `value` under `keys`; an absent key is null."""
    return {key: value.get(key) for key in keys}


# What reaches an engine


async def engine_request(node: Any, script: str) -> dict:
    """The request that reached the engine of a scripted node under `script`."""
    calls = await node.engine.calls(script)
    return next(call["request"] for call in calls if call["event"] == "add_request")


async def effective(node: Any, call: Call, body: dict) -> dict:
    """What a request to the scripted `node` asks of its engine; raises Stopped where it is refused.

    `call` is one of the node's, `node.chat` or `node.generate`.
    """
    script = await node.engine.script(ONE_TOKEN)
    answered(await call(body, script=script))
    request = await engine_request(node, script)
    sampling = request["sampling_params"]
    return {
        **picked(request, "prompt_token_ids", "cache_salt", "priority"),
        "sampling_params": {key: sampling[key] for key in sampling if key not in NOT_ASKED},
    }


# The steps behind render; where a cell names no render node, the generate node renders


async def rendered_chat(mix: Any, request: dict) -> dict:
    """The generate request of a chat; raises Stopped."""
    return answered(await mix.render.render_chat(request))


async def rendered_completion(mix: Any, request: dict) -> dict:
    """The generate request of a completion with one prompt; raises Stopped."""
    [rendered] = answered(await mix.render.render_completions(request))
    return rendered


def of_chat(request: dict, rendered: dict, **generated: Any) -> dict:
    """The body of a chat derender call, with all that any release asks for."""
    ids = rendered["token_ids"]
    return {
        "chat_request": {"model": "tiny", **request},
        "prompt_tokens": len(ids),
        "prompt_token_ids": ids,
        **generated,
    }


def of_completion(request: dict, rendered: dict, generated: dict) -> dict:
    """The body of a completions derender call for one prompt."""
    ids = rendered["token_ids"]
    return {
        "completion_request": {"model": "tiny", **request},
        "prompt_tokens": [len(ids)],
        "prompt_token_ids": [ids],
        "generate_responses": [generated],
    }


async def derendered_stream(
    call: Call, chunks: Sequence[dict], body: dict, state: dict | None = None
) -> tuple[list[dict], dict | None]:
    """The derendered chunks and the state after the last; raises Stopped."""
    found = []
    for chunk in chunks:
        sent = {**body, "stream": True, "generate_chunk": chunk, "stream_state": state}
        answer = answered(await call(sent))
        found.append(answer["chunk"])
        state = answer["stream_state"]
    return found, state
