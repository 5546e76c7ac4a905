"""weight_versions: which weights made which ids, as spans over the output, in a stream on the last
chunk.
"""

import pytest

from conformance.generate import PROMPT, choices_of
from fixtures.case import Node, requirement
from fixtures.nodes.script import output

pytestmark = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)


@requirement("generate.weight-versions.spans")
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
@pytest.mark.parametrize(
    ("versions", "spans"),
    [
        (["v1", "v1", "v1"], [("v1", 0, 6)]),
        (["v1", "v2", "v2"], [("v1", 0, 1), ("v2", 1, 6)]),
        (["v1", "v2", "v1"], [("v1", 0, 1), ("v2", 1, 3), ("v1", 3, 6)]),
    ],
    ids=["one", "changed", "changed-back"],
)
async def test_spans_cover_the_output(wire, engine, stream, versions, spans):
    """A change of weights while the request runs starts a new span at the first id made
    with them.
    """
    ids = [[40], [41, 42], [43, 44, 45]]
    steps = [
        output(token_ids=new, weight_version=version)
        for new, version in zip(ids, versions, strict=True)
    ]
    steps[-1] |= {"finish_reason": "length"}
    fields = {
        "token_ids": PROMPT,
        "sampling_params": {"max_tokens": 8},
        "script": await engine.script(steps),
    }
    if stream:
        *earlier, last = choices_of(await wire.generate_stream(**fields))
        assert [choice["weight_versions"] for choice in earlier] == [None, None]
    else:
        (last,) = (await wire.generate(**fields)).expect(200).json["choices"]
    assert last["weight_versions"] == [
        {"version": v, "start": start, "end": end} for v, start, end in spans
    ]
