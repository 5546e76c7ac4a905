"""The rendered request id names its route and keeps the caller's id.

Catches a node that drops the caller's id, gives two prompts of one request the same id, or gives
every request the same one.
"""

import re

import pytest

from fixtures.case import Node, capabilities, own_id, requirement

pytestmark = [
    pytest.mark.parametrize("node", [Node("real"), Node("none", role="render")], indirect=True),
    *capabilities("render.chat", "render.completions"),
]

MESSAGES = [{"role": "user", "content": "hello"}]


@requirement("render.request-id.names-the-route")
async def test_chat_ids_are_fresh_and_prefixed(wire):
    """Two requests without an id get two ids, both `chatcmpl-` and a random part."""
    ids = [(await wire.render_chat(messages=MESSAGES)).expect(200).json["request_id"] for _ in "ab"]
    assert [bool(re.fullmatch(r"chatcmpl-[0-9a-f]{8,32}", own)) for own in ids] == [True, True]
    assert ids[0] != ids[1]


@requirement("render.request-id.names-the-route")
async def test_completions_ids_are_fresh_and_prefixed(wire):
    """The same for completions with `cmpl-`."""
    answers = [await wire.render_completions(prompt="hello") for _ in "ab"]
    ids = [answer.expect(200).json[0]["request_id"] for answer in answers]
    assert [bool(re.fullmatch(r"cmpl-[0-9a-f]{8,32}", own)) for own in ids] == [True, True]
    assert ids[0] != ids[1]


@requirement("render.request-id.keeps-the-callers")
@pytest.mark.parametrize(
    ("sources", "own"),
    [(["body"], "from-body"), (["header"], "from-header"), (["body", "header"], "from-header")],
    ids=["body", "header", "header-before-body"],
)
async def test_the_callers_id_is_kept(wire, sources, own):
    """The id is the route's prefix and the caller's id; the header comes before the body."""
    fields = {"request_id": own_id("from-body")} if "body" in sources else {}
    headers = {"X-Request-Id": own_id("from-header")} if "header" in sources else {}
    chat = await wire.render_chat(messages=MESSAGES, headers=headers, **fields)
    completions = await wire.render_completions(prompt="hello", headers=headers, **fields)
    assert chat.expect(200).json["request_id"] == f"chatcmpl-{own_id(own)}"
    assert [item["request_id"] for item in completions.expect(200).json] == [f"cmpl-{own_id(own)}"]


@requirement("render.request-id.one-per-prompt")
async def test_prompts_of_one_request_get_numbered_ids(wire):
    """Several prompts: the id and the prompt's number, so that an abort ends one of them."""
    own = own_id("own")
    answer = await wire.render_completions(prompt=["hello", "fox", "dog"], request_id=own)
    ids = [item["request_id"] for item in answer.expect(200).json]
    assert ids == [f"cmpl-{own}-0", f"cmpl-{own}-1", f"cmpl-{own}-2"]
