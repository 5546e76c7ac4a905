"""Lies of render about assistant_tokens_mask, in a release that has it."""

from tests.mutants.tools import CHAT_RENDER, answers

IM_END = 2


def end_of_turn_unmarked(app) -> None:
    """The mask leaves out the token that ends the assistant's turn."""

    def change(body: dict) -> dict:
        if mask := body["assistant_tokens_mask"]:
            pairs = zip(body["token_ids"], mask, strict=True)
            body["assistant_tokens_mask"] = [
                0 if token_id == IM_END else marked for token_id, marked in pairs
            ]
        return body

    answers(app, CHAT_RENDER, change)


def zeros_instead_of_null(app) -> None:
    """Where there is no mask, one of zeros is sent."""

    def change(body: dict) -> dict:
        body["assistant_tokens_mask"] = body["assistant_tokens_mask"] or [0] * len(
            body["token_ids"]
        )
        return body

    answers(app, CHAT_RENDER, change)
