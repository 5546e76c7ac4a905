"""The trainer's client on a server without the generate route: an error, never a list.

Catches a client that reads an answer without looking at its status.
"""

import asyncio

import pytest

from fixtures.case import Node, requirement
from impl.teacher_logprobs import RefusedError, TeacherLogprobsError, teacher_logprobs

PROMPT, COMPLETION = [20, 71, 9], [40, 30]
# name: (node, status, a word of the error; vllm-rs has no words for a route that is not there)
CLOSED = {
    "switched-off": (Node("scripted", "--no-enable-scale-out"), 403, "--enable-scale-out"),
    "render-node": (Node("none", role="render"), 404, "404"),
}


@pytest.mark.parametrize(
    ("node", "status", "word"),
    [pytest.param(*case, id=name) for name, case in CLOSED.items()],
    indirect=["node"],
)
@requirement("clients.teacher-logprobs.no-route-is-an-error")
async def test_a_server_without_the_route_is_an_error(wire, node, lease, status, word):
    """The status and the server's words; the same call elsewhere is a list."""
    try:
        outcome = await asyncio.to_thread(
            teacher_logprobs, wire.node.url + "/v1", PROMPT, COMPLETION, model="tiny"
        )
    except TeacherLogprobsError as error:
        outcome = error
    assert isinstance(outcome, RefusedError), outcome
    assert (outcome.status, word in str(outcome)) == (status, True)
    served = await lease(Node("scripted"))
    values = await asyncio.to_thread(
        teacher_logprobs, served.node.url, PROMPT, COMPLETION, model="tiny"
    )
    assert len(values) == 5
