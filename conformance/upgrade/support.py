"""What the upgrade chapter shares: the nodes a cell mixes, and what reached an engine."""

from typing import Any

from conformance.parity.support import GREEDY
from conformance.support import PARSERS
from fixtures.case import Node
from fixtures.nodes.script import output

RENDER = DERENDER = Node("none", role="render")
PARSING_RENDER = PARSING_DERENDER = Node("none", *PARSERS, role="render")
SCRIPTED = Node("scripted")
PARSING = Node("scripted", *PARSERS)
REAL = Node("real")

MESSAGES = [{"role": "user", "content": "hello world"}]
CHAT = {"messages": MESSAGES}
GREEDY_CHAT = {**CHAT, **GREEDY}
ONE_TOKEN = [output([50], finish_reason="length")]

# What two nodes may write differently without a meaning: how answers are handed over inside the node.
NOT_ASKED = {"output_kind", "skip_clone", "detokenize"}


async def engine_request(node: Any, script: str) -> dict:
    """The request that reached the engine of a scripted node under `script`.

    Of what the releases' request objects hold, the part that a client can set.
    """
    calls = await node.engine.calls(script)
    request = next(call["request"] for call in calls if call["event"] == "add_request")
    sampling = request["sampling_params"]
    return {
        "prompt_token_ids": request["prompt_token_ids"],
        "sampling_params": {key: sampling[key] for key in sampling if key not in NOT_ASKED},
        "cache_salt": request["cache_salt"],
        "priority": request["priority"],
    }
