"""An encode server hands its embeddings on; a prefill server needs no pixels then.

Both are stock vLLM with the connector that ships as its example: it writes the embeddings of an
image into a file named by the image's hash, in a folder that both nodes have.
"""

import secrets

import pytest
from packaging.version import Version

from conformance.generate import refused
from conformance.multimodal import VISION, ids, rendered, transfers, with_features
from conformance.multimodal.images import BLUE, RED, chat
from fixtures.case import requirement
from fixtures.settings import Settings
from fixtures.wire import Wire

CONSUMER = transfers("ec_consumer")


def fresh() -> tuple[int, int, int]:
    """A colour that no image had before: embeddings of an older run lie in the same folder."""
    return tuple(secrets.token_bytes(3))


@pytest.fixture
async def encoder(lease, settings: Settings) -> Wire:
    """An encode server; it generates too where an engine that only encodes does not start on a CPU."""
    alone = Version(settings.release) >= Version("0.29.0")
    return await lease(transfers("ec_producer" if alone else "ec_both"))


@requirement("multimodal.transfer.encoder-answers-parameters")
async def test_the_encoder_answers_with_its_items(encoder):
    """ec_transfer_params names each image by its hash, with its modality and its places in the
    request; no token is generated.
    """
    request = await rendered(encoder, chat(RED, BLUE, RED))
    answer = (await encoder.generate(request)).expect(200).json
    red, blue, _ = request["features"]["mm_hashes"]["image"]
    told = answer["ec_transfer_params"]
    assert {name: own["item_indices"] for name, own in told.items()} == {red: [0, 2], blue: [1]}
    assert {own["modality"] for own in told.values()} == {"image"}
    assert answer["choices"][0]["token_ids"] == []


@requirement("multimodal.transfer.metadata-is-enough")
@pytest.mark.parametrize("count", [1, 2])
async def test_metadata_and_transfer_give_the_whole_answer(encoder, lease, count):
    """With the encoder's parameters a request of metadata alone has the single server's answer."""
    single, prefill = await lease(VISION), await lease(CONSUMER)
    request = await rendered(encoder, chat(*(fresh() for _ in range(count))))
    want = ids(await single.generate(request))
    told = (await encoder.generate(request)).expect(200).json["ec_transfer_params"]
    bare = with_features(request, kwargs_data=None)
    answer = await prefill.generate({**bare, "ec_transfer_params": told})
    assert ids(answer) == want and len(want) == 8


@requirement("multimodal.features.metadata-needs-a-transfer")
async def test_a_prefill_server_wants_the_parameters(lease):
    """Without ec_transfer_params metadata alone is a 400 on a server that takes transfers, too."""
    prefill = await lease(CONSUMER)
    request = await rendered(prefill, chat(RED))
    refused(await prefill.generate(with_features(request, kwargs_data=None)))
