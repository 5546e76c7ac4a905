"""Outputs that hold no tokens, or no token ids, are refused.

Catches a node that answers 200 with empty text, or a server error, where it was handed nothing
to derender.
"""

import pytest

from conformance.support import response
from fixtures.case import Node, capability, own_id, requirement

pytestmark = pytest.mark.parametrize(
    "node", [Node("real"), Node("none", role="render")], indirect=True
)

# name: the choices that were handed in
CHOICES = {
    "empty-ids": [[]],
    "null-ids": [None],
    "negative-id": [[-1]],
    "negative-id-among-others": [[30, -1, 31]],
    "text-id": [["thirty"]],
    "ids-are-text": ["hello"],
    "second-choice-empty": [[30], []],
}
BODIES = {
    "empty-object": {},
    "null-response": {"generate_response": None},
    "response-without-ids": {"generate_response": {"choices": [{"index": 0}]}},
    "list": [],
    "text": "text",
}


@requirement("derender.ids.refused")
@capability("derender.chat")
@pytest.mark.parametrize("name", CHOICES)
async def test_chat_without_sound_ids_is_refused(wire, name):
    """400 with an error object; a sound choice in its place is a 200."""
    (await wire.derender_chat(generate_response=response([30]))).expect(200)
    choices = [{"token_ids": token_ids} for token_ids in CHOICES[name]]
    answer = await wire.derender_chat(generate_response=response(*choices))
    assert answer.expect(400).json["error"]["code"] == 400


@requirement("derender.ids.refused")
@capability("derender.completions")
@pytest.mark.parametrize("name", CHOICES)
async def test_completion_without_sound_ids_is_refused(wire, name):
    """The same for completions, also when only the second response is at fault."""
    (await wire.derender_completions(generate_responses=[response([30])])).expect(200)
    choices = [{"token_ids": token_ids} for token_ids in CHOICES[name]]
    bodies = [response([30]), response(*choices)]
    answer = await wire.derender_completions(generate_responses=bodies)
    assert answer.expect(400).json["error"]["code"] == 400


@requirement("derender.ids.refused")
@capability("derender.completions")
async def test_no_responses_at_all_are_refused(wire):
    """An empty list of responses, null, or one object in place of the list."""
    (await wire.derender_completions(generate_responses=[response([30])])).expect(200)
    for wrong in ([], None, response([30])):
        (await wire.derender_completions(generate_responses=wrong)).expect(400)


@requirement("derender.ids.refused")
@capability("derender.chat")
@pytest.mark.parametrize("name", BODIES)
async def test_chat_body_without_a_response_is_refused(wire, name):
    """A body of another form is a 400, not a server error."""
    (await wire.derender_chat(generate_response=response([30]))).expect(200)
    (await wire.derender_chat(BODIES[name])).expect(400)


@requirement("derender.older.accepted")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("route", ["chat", "completions"])
async def test_answer_of_an_older_node_is_accepted(wire, route):
    """The least an older generate node sent: request_id, choices, and nulls."""
    body = {
        "request_id": own_id("old"),
        "choices": [{"index": 0, "logprobs": None, "finish_reason": "stop", "token_ids": [30, 31]}],
        "prompt_logprobs": None,
        "kv_transfer_params": None,
    }
    if route == "chat":
        answer = (await wire.derender_chat(generate_response=body)).expect(200).json
        texts = [choice["message"]["content"] for choice in answer["choices"]]
    else:
        answer = (await wire.derender_completions(generate_responses=[body])).expect(200).json
        texts = [choice["text"] for choice in answer["choices"]]
    assert (answer["id"], texts) == (own_id("old"), ["89"])
