"""Multimodal: images through render and generate. What the files of this chapter share."""

import json

import pytest

from fixtures.case import Node
from fixtures.node_wire import NodeWire
from fixtures.wire import Exchange, Wire, WireError

GREEDY = {"temperature": 0.0, "max_tokens": 8, "ignore_eos": True}
VISION = Node("real", model="tiny-vision")
# For what may end a node: no other chapter's, and `outlives` puts it away then.
ALONE = Node("real", model="tiny-vision", exclusive=True)
ON_VISION = pytest.mark.parametrize("node", [pytest.param(VISION, id="vision")], indirect=True)


def transfers(role: str, *, exclusive: bool = False) -> Node:
    """A node of encoder transfers with vLLM's example connector; `role` is the connector's.

    It writes an image's embeddings into a file named by the image's hash, in a folder that all
    nodes of a release share: the one their host runs in.
    """
    connector = {
        "ec_connector": "ECExampleConnector",
        "ec_role": role,
        "ec_connector_extra_config": {"shared_storage_path": "."},
    }
    flags = ("--ec-transfer-config", json.dumps(connector))
    return Node("real", *flags, model="tiny-vision", exclusive=exclusive)


async def rendered(wire: NodeWire, messages: list[dict], **fields) -> dict:
    """The generate request that chat render makes of `messages`, greedy.

    The case is unsupported on a server that renders no chats.
    """
    await wire.needs("render.chat")
    answer = await wire.render_chat(messages=messages, **{**GREEDY, **fields})
    return answer.expect(200).json


def with_features(request: dict, **features) -> dict:
    """A copy of a rendered request with some of its features replaced."""
    return {**request, "features": {**request["features"], **features}}


def ids(answer: Exchange) -> list[int]:
    """The token ids of the first choice of a full answer, generate's or chat's."""
    return answer.expect(200).json["choices"][0]["token_ids"]


async def tried(wire: Wire, body: dict, good: dict) -> tuple[Exchange | None, bool]:
    """The answer to `body`, None where the server broke off, and whether it still serves `good`."""
    try:
        answer = await wire.generate(body)
    except WireError:
        answer = None
    return answer, await outlives(wire, good)


async def outlives(wire: Wire, request: dict) -> bool:
    """Whether the node of an exclusive lease still serves a good request.

    One that died is put away, so that the case judges its death.
    """
    try:
        if (await wire.generate(request)).status == 200:
            return True
    except WireError:
        pass
    wire.node.end()
    return False
