"""routed_experts of a real mixture of experts: the experts that the engine itself chose."""

import numpy
import pytest

from conformance.generate import array_of, choices_of
from fixtures.case import Node, requirement
from fixtures.models.recipes import EXPERTS, EXPERTS_PER_TOKEN, LAYERS

pytestmark = pytest.mark.parametrize(
    "node",
    [Node("real", "--enable-return-routed-experts", model="tiny-moe", exclusive=True)],
    indirect=True,
)

GREEDY = {"temperature": 0.0, "ignore_eos": True, "max_tokens": 6}
PROMPT = list(range(30, 42))


def experts_of(choice):
    """The array of a choice: tokens, layers, experts per token."""
    return array_of(choice["routed_experts"])


async def answered(wire, prompt=PROMPT, **changes):
    """The choice of a full answer."""
    params = {**GREEDY, **changes}
    return (
        (await wire.generate(token_ids=prompt, sampling_params=params))
        .expect(200)
        .json["choices"][0]
    )


@requirement("generate.routed-experts.engines-own")
async def test_each_token_has_different_experts_of_the_model(wire):
    """A row for every token but the last, for each layer as many different experts as a token has."""
    array = experts_of(await answered(wire))
    rows = len(PROMPT) + GREEDY["max_tokens"] - 1
    assert array.shape == (rows, LAYERS, EXPERTS_PER_TOKEN)
    assert set(array.ravel().tolist()) <= set(range(EXPERTS))
    chosen = {tuple(sorted(pair)) for row in array.tolist() for pair in row}
    assert all(len(set(pair)) == EXPERTS_PER_TOKEN for pair in chosen) and len(chosen) > 1


@requirement("generate.routed-experts.engines-own")
async def test_a_row_depends_on_its_tokens_alone(wire):
    """A longer output or another last token leaves the rows before as they are."""
    array = experts_of(await answered(wire))
    shorter = experts_of(await answered(wire, max_tokens=2))
    other = experts_of(await answered(wire, prompt=[*PROMPT[:-1], 90]))
    numpy.testing.assert_array_equal(array[: len(shorter)], shorter)
    numpy.testing.assert_array_equal(array[: len(PROMPT) - 1], other[: len(PROMPT) - 1])
    assert not numpy.array_equal(array[len(PROMPT) - 1 :], other[len(PROMPT) - 1 :])


@requirement(
    "generate.routed-experts.engines-own",
    "generate.routed-experts.stream-last-chunk-only",
    "generate.routed-experts.stream-taken-together",
)
async def test_a_stream_ends_with_the_full_answers_array(wire):
    """Null on every chunk but the last, which has the array of the full answer."""
    full = await answered(wire)
    stream = await wire.generate_stream(token_ids=PROMPT, sampling_params=GREEDY)
    *earlier, last = choices_of(stream)
    assert [choice["routed_experts"] for choice in earlier] == [None] * len(earlier)
    numpy.testing.assert_array_equal(experts_of(last), experts_of(full))
