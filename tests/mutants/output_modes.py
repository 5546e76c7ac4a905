"""Lies of generate about the output mode of a full answer: its keys, its text, its message."""

from tests.mutants.tools import GENERATE, answers, each_choice, replace, requests


def keys_of_every_mode(app) -> None:
    """A choice has text and message in every mode, null where the mode is another."""

    def change(choice: dict) -> None:
        choice.setdefault("text", None)
        choice.setdefault("message", None)

    answers(app, GENERATE, each_choice(change))


# Text


def text_id_by_id(app) -> None:
    """The text is the ids decoded one by one, so a split character is U+FFFD."""
    tokenizer = app.state.serving_tokens.renderer.get_tokenizer()

    def change(choice: dict) -> None:
        if "text" in choice:
            choice["text"] = "".join(tokenizer.decode([one]) for one in choice["token_ids"])

    answers(app, GENERATE, each_choice(change))


def text_of_the_first_choice(app) -> None:
    """Every choice has the first one's text, or its message."""

    def change(body: dict) -> dict:
        choices = body.get("choices", [])
        for choice in choices:
            choice |= {key: choices[0][key] for key in ("text", "message") if key in choice}
        return body

    answers(app, GENERATE, change)


def text_mode_encodes_again(app) -> None:
    """In text mode the ids are those of the text, tokenized anew."""
    tokenizer = app.state.serving_tokens.renderer.get_tokenizer()

    def change(body: dict) -> dict:
        if body.get("output_mode") == "text":
            for choice in body["choices"]:
                choice["token_ids"] = tokenizer.encode(choice["text"], add_special_tokens=False)
        return body

    answers(app, GENERATE, change)


# Message


def parser_not_asked(app) -> None:
    """In derender mode the message is the text, whatever parsers the server has."""
    derenderer = type(app.state.serving_tokens.online_derenderer)

    async def choices(honest, own, outputs, chat_request, *arguments):
        return await honest(own, outputs, None, *arguments)

    replace(app, derenderer, derender_text_choices=choices)


def no_tool_is_any_tool(app) -> None:
    """In derender mode a tool_choice of none is read as auto."""

    def change(body: dict) -> dict:
        context = body.get("parse_context")
        if context and context.get("tool_choice") == "none":
            context["tool_choice"] = "auto"
        return body

    requests(app, GENERATE, change)


def unreadable_context_is_empty(app) -> None:
    """A parse_context with a value that it cannot have is read as an empty one."""
    from impl.protocol import ParseContext

    def change(body: dict) -> dict:
        context = body.get("parse_context")
        try:
            ParseContext.model_validate(context)
        except ValueError:
            return {**body, "parse_context": {}} if isinstance(context, dict) else body
        return body

    requests(app, GENERATE, change)


def hidden_ids_uncounted(app) -> None:
    """usage does not count the ids that are hidden with the reasoning."""

    def change(body: dict) -> dict:
        if body.get("usage") and any(choice["token_ids"] is None for choice in body["choices"]):
            usage = body["usage"]
            usage |= {"completion_tokens": 0, "total_tokens": usage["prompt_tokens"]}
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
