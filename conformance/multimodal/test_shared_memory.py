"""With a shared-memory cache an item can be a handle; one that the node did not issue is refused.

A handle is an address in the node's memory: a forged one would have the engine read whatever lies
there.
"""

import pytest

from conformance.generate import refused
from conformance.multimodal import ids, item, rendered, tried, with_features
from conformance.multimodal.images import RED, chat
from fixtures.case import Node, requirement

SHARED = Node("real", "--mm-processor-cache-type", "shm", model="tiny-vision", exclusive=True)


def batched(value) -> dict:
    """A field of the kind that a handle's parts have."""
    return {"data": value, "field": ["batched", {"keep_on_cpu": False}]}


FORGED = {
    "unsigned": {"address": batched(0), "monotonic_id": batched(0)},
    "no-id": {"address": batched(0), "signature": batched([1] * 32)},
    "wrong-signature": {
        "address": batched(0), "monotonic_id": batched(0), "signature": batched([1] * 32),
    },
    "no-signature-bytes": {
        "address": batched(0), "monotonic_id": batched(0), "signature": batched([300] * 32),
    },
    "negative-address": {
        "address": batched(-8), "monotonic_id": batched(0), "signature": batched([1] * 32),
    },
}  # fmt: skip


@requirement("multimodal.handles.forged-refused")
@pytest.mark.parametrize("beside", [True, False], ids=["beside-tensors", "alone"])
@pytest.mark.parametrize("handle", FORGED)
async def test_a_forged_handle_is_refused(lease, handle, beside):
    """A handle without a signature of the node's own is a 400, with the item's tensors or without;
    the true item is served before and after.
    """
    wire = await lease(SHARED)
    request = await rendered(wire, chat(RED))
    true = item.decode(request["features"]["kwargs_data"]["image"][0]) if beside else {}
    assert ids(await wire.generate(request))
    forged = item.encode({**true, **FORGED[handle]})
    sent = with_features(request, kwargs_data={"image": [forged]})
    answer, alive = await tried(wire, sent, request)
    assert answer, "the server broke the connection"
    refused(answer)
    assert alive and "SHM handle" in answer.json["error"]["message"]
