"""Lies of generate's text and derender modes about what they share with tokens mode."""

from tests.mutants.tools import GENERATE, answers


def text_mode_encodes_again(app) -> None:
    """In text mode the ids are those of the text, tokenized anew."""
    tokenizer = app.state.serving_tokens.renderer.get_tokenizer()

    def change(body: dict) -> dict:
        if body.get("output_mode") == "text":
            for choice in body["choices"]:
                choice["token_ids"] = tokenizer.encode(choice["text"], add_special_tokens=False)
        return body

    answers(app, GENERATE, change)


def derender_mode_renames_the_prompt(app) -> None:
    """In derender mode the tokens of prompt_logprobs are named by placeholder."""

    def change(body: dict) -> dict:
        if body.get("output_mode") == "derender":
            for position in body.get("prompt_logprobs") or ():
                for token_id, one in (position or {}).items():
                    one["decoded_token"] = f"token_id:{token_id}"
        return body

    answers(app, GENERATE, change)
