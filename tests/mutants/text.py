"""Lies of generate's text mode: what is decoded, and what is held back for a stop string."""

from tests.mutants.tools import GENERATE, answers, each_choice, replace


def last_character_lost(app) -> None:
    """The text of an answer, whole or streamed, lacks its last character."""

    def change(choice: dict) -> None:
        if "text" in choice and choice["finish_reason"]:
            choice["text"] = choice["text"][:-1]

    answers(app, GENERATE, each_choice(change))


def logprobs_not_decoded(app) -> None:
    """Logprobs of text and derender mode name tokens by placeholder, as --return-tokens-as-token-ids
    does.
    """
    from impl.serving_tokens import ServingTokens

    replace(app, ServingTokens, _logprobs_tokenizer=lambda honest, handler, text_mode: None)


def nothing_held_back(app) -> None:
    """A stream sends text at once, also what may begin a stop string."""
    from vllm.v1.engine.detokenizer import BaseIncrementalDetokenizer

    def begin(honest, detokenizer, request):
        honest(detokenizer, request)
        detokenizer.stop_buffer_length = 0

    replace(app, BaseIncrementalDetokenizer, __init__=begin)


def held_back_text_lost(app) -> None:
    """Text that a stream holds back for a stop string is not sent when another end comes."""
    from vllm.v1.engine.detokenizer import BaseIncrementalDetokenizer

    def text(honest, detokenizer, finished, delta):
        return honest(detokenizer, finished and not delta, delta)

    replace(app, BaseIncrementalDetokenizer, get_next_output_text=text)
