"""n > 1 on a real engine: every choice comes back, once, under its index, with its own end."""

import pytest

from conformance.generate import PROMPT, choices_of, joined, refused, still_answers, stop_reason
from conformance.support import UNDISTURBED, since
from fixtures.case import capability, requirement
from fixtures.models import tokenizer

pytestmark = UNDISTURBED

SAMPLED = {"temperature": 1.0, "ignore_eos": True, "max_tokens": 24}


@requirement("generate.n.full-has-every-choice")
@capability("parallel-sampling")
@pytest.mark.parametrize("n", [1, 2, 4, 7])
async def test_full_has_every_choice(wire, n):
    """n choices, indices 0..n-1 in order, each as long as asked, and usage adds them."""
    answer = await wire.generate(token_ids=PROMPT, sampling_params={**SAMPLED, "seed": 1, "n": n})
    choices = answer.expect(200).json["choices"]
    assert [choice["index"] for choice in choices] == list(range(n))
    assert [(len(choice["token_ids"]), choice["finish_reason"]) for choice in choices] == [
        (24, "length")
    ] * n
    assert answer.json["usage"]["completion_tokens"] == 24 * n
    assert answer.json["usage"]["prompt_tokens"] == len(PROMPT)


@requirement("generate.n.full-has-every-choice")
@capability("parallel-sampling")
async def test_choices_differ(wire):
    """Sampled choices are samples of their own, not copies of one."""
    answer = await wire.generate(token_ids=PROMPT, sampling_params={**SAMPLED, "n": 4})
    assert len({tuple(choice["token_ids"]) for choice in answer.expect(200).json["choices"]}) == 4


@requirement("generate.n.full-has-every-choice")
@capability("parallel-sampling")
@pytest.mark.parametrize("seed", range(10))
async def test_choices_that_end_at_different_steps(wire, node, seed):
    """Each choice ends at its own stop id; whichever ends first, all come back complete.

    A third of the vocabulary stops, so that the choices end a few steps apart; what was once lost
    was timing.
    """
    stops = list(range(0, tokenizer().get_vocab_size(), 3))
    params = {
        "temperature": 1.0,
        "seed": seed,
        "ignore_eos": True,
        "max_tokens": 40,
        "n": 4,
        "stop_token_ids": stops,
    }
    answer = await wire.generate(token_ids=PROMPT, sampling_params=params)
    choices = answer.expect(200).json["choices"]
    assert [choice["index"] for choice in choices] == [0, 1, 2, 3]
    for choice in choices:
        *body, end = choice["token_ids"]
        assert not set(body) & set(stops)
        reason = end if end in stops and since(node, "0.32.0") else None
        ended_by = (choice["finish_reason"], stop_reason(node, choice))
        assert ended_by == ("stop" if end in stops else "length", reason)
        assert end in stops or len(choice["token_ids"]) == 40
    assert answer.json["usage"]["completion_tokens"] == sum(
        len(choice["token_ids"]) for choice in choices
    )


@requirement("generate.n.stream-has-every-choice")
@capability("parallel-sampling")
@pytest.mark.parametrize("n", [2, 5])
async def test_stream_has_every_choice(wire, n):
    """A stream gives each choice the ids of the full answer, and each ends exactly once, on its
    last chunk.
    """
    params = {**SAMPLED, "seed": 9, "n": n}
    full = (
        (await wire.generate(token_ids=PROMPT, sampling_params=params)).expect(200).json["choices"]
    )
    stream = await wire.generate_stream(token_ids=PROMPT, sampling_params=params)
    assert joined(stream) == {choice["index"]: choice["token_ids"] for choice in full}
    for index in range(n):
        ends = [
            choice["finish_reason"] for choice in choices_of(stream) if choice["index"] == index
        ]
        assert ends == [None] * (len(ends) - 1) + ["length"]
    assert len(full) == n and stream.done


@requirement("generate.n.below-one-refused")
@pytest.mark.parametrize("n", [0, -1])
async def test_below_one_is_refused(wire, n):
    """n below 1 is a 400."""
    refused(await wire.generate(token_ids=PROMPT, sampling_params={**SAMPLED, "n": n}))
    await still_answers(wire)


@requirement("generate.n.greedy-is-refused-or-complete")
async def test_greedy_n_is_refused_or_complete(wire):
    """n=2 at temperature 0 is a 400 (every vLLM release seen), or two equal choices; never one
    choice.
    """
    answer = await wire.generate(
        token_ids=PROMPT, sampling_params={**SAMPLED, "temperature": 0.0, "n": 2}
    )
    if answer.status == 200:
        first, second = answer.json["choices"]
        assert first["token_ids"] == second["token_ids"] and (first["index"], second["index"]) == (
            0,
            1,
        )
    else:
        refused(answer)
    await still_answers(wire)
