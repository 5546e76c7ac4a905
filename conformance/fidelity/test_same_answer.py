"""Each kind of request, answered by a real engine and by a script of what that engine said.

Catches a scripted engine that drifted from vLLM's: cases that force an output would judge an engine
that does not exist.
"""

import pytest

from conformance.fidelity.support import same, script_of
from conformance.kinds import FLAGS, KINDS, parameters
from fixtures.case import Node, requirement

SAMPLED = [name for name, kind in KINDS.items() if kind.samples]
REFUSED = [name for name, kind in KINDS.items() if kind.refused]
OTHERS = [name for name in KINDS if name not in {*SAMPLED, *REFUSED}]

# What is scripted must stand on the wire: ids, ranks and the engine's own stop reason.
pytestmark = [
    pytest.mark.parametrize("node", [Node("real")], indirect=True),
    pytest.mark.usefixtures("capable"),
    pytest.mark.capability("integer-logprobs", "stop-reason"),
]


async def both(kind, wire, lease):
    """The scripted engine's answer and the real one's."""
    if kind.node != "plain":
        wire = await lease(Node("real", *FLAGS[kind.node]))
    scripted = await lease(Node("scripted", *FLAGS[kind.node]))
    await scripted.engine.script()  # unsupported where the server has no script control
    real = await kind.send(wire, wire.node)
    assert real.status == kind.status, real.body[:500]
    calls = await script_of(kind, wire, real)
    script = None if calls is None else await scripted.engine.script(calls=calls)
    forced = await kind.send(scripted, scripted.node, script=script)
    return forced, real


@requirement("fidelity.scripted.same-answer")
@pytest.mark.parametrize("kind", parameters(*SAMPLED))
async def test_sampled_answer_is_the_same(wire, lease, kind):
    """The script says the real engine's tokens, logprobs and ends; the whole answer is the same."""
    same(*await both(kind, wire, lease))


@requirement("fidelity.scripted.same-refusal")
@pytest.mark.parametrize("kind", parameters(*REFUSED))
async def test_refusal_is_the_same(wire, lease, kind):
    """A request that is refused never needs the engine."""
    same(*await both(kind, wire, lease))


@requirement("fidelity.scripted.same-without-engine")
@pytest.mark.parametrize("kind", parameters(*OTHERS))
async def test_answer_without_sampling_is_the_same(wire, lease, kind):
    """Render, derender and the abort of nobody."""
    same(*await both(kind, wire, lease))
