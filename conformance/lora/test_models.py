"""/v1/models lists the base model and each adapter of the command line.

Catches a server whose adapters cannot be found out, or that names the wrong base for them.
"""

from conformance.lora import ADAPTER, BASE, UNKNOWN, WITH_ADAPTER
from fixtures.case import requirement

pytestmark = WITH_ADAPTER


@requirement("lora.models.listed")
async def test_the_adapter_is_listed_under_its_base(wire):
    """Two models: the base without a parent, the adapter with the base as its parent."""
    answer = (await wire.get("/v1/models")).expect(200).json
    assert answer["object"] == "list"
    assert [(model["id"], model["object"], model["parent"]) for model in answer["data"]] == [
        (BASE, "model", None),
        (ADAPTER, "model", BASE),
    ]


@requirement("lora.models.listed")
async def test_what_is_listed_is_generated_with(wire):
    """Each listed model generates; one that is not listed is a 404."""
    listed = [model["id"] for model in (await wire.get("/v1/models")).expect(200).json["data"]]
    body = {"token_ids": [20, 21], "sampling_params": {"max_tokens": 1}}
    answers = {model: await wire.generate(body, model=model) for model in [*listed, UNKNOWN]}
    assert {model: answer.status for model, answer in answers.items()} == {
        BASE: 200,
        ADAPTER: 200,
        UNKNOWN: 404,
    }
