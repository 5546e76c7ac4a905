"""What the parity cases compare, and how closely."""

from typing import Any

from conformance.support import END_OF_TEXT, IM_START
from fixtures.tolerance import VARIABLE, assert_same

# Besides ids and clock: the split route has no engine whose fingerprint it could tell.
IGNORED = (*VARIABLE, "system_fingerprint")
# Tokens that are never sampled, so that special tokens are judged by their own rule only.
NO_SPECIALS = {str(END_OF_TEXT): -100.0, str(IM_START): -100.0}
# 16 is kept away from: a limit of 16 is judged by render.max-tokens.explicit-kept.
GREEDY = {"temperature": 0, "max_tokens": 24, "ignore_eos": True, "logit_bias": NO_SPECIALS}
SAMPLED = {**GREEDY, "temperature": 1.0, "seed": 7}

PROMPTS = {
    "one-turn": [{"role": "user", "content": "hello world"}],
    "system": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "the quick brown fox"},
    ],
    "unicode": [{"role": "user", "content": "日本 é 🦊?"}],
    "turns": [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "the fox"},
        {"role": "user", "content": "jumps over"},
    ],
}


def same_answer(split: Any, coupled: Any, *, logprob_abs: float = 0.0) -> None:
    """AssertionError unless the whole answers are the same; logprobs bit for bit by default."""
    assert_same(split, coupled, logprob_abs=logprob_abs, ignore=IGNORED)
