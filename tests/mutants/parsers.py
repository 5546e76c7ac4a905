"""Lies about parsers: what they are given, and what they make of it."""

from tests.mutants.tools import (
    CHAT_DERENDER,
    COMPLETIONS_DERENDER,
    GENERATE,
    answers,
    derendered,
    each_choice,
    replace,
    requests,
)


def state_forgets_the_ids(app) -> None:
    """The state of a stream through parsers does not hold the ids so far."""

    def change(body: dict) -> dict:
        if state := body.get("stream_state"):
            state |= {"output_token_ids": [], "output_chunk_lens": []}
        return body

    answers(app, CHAT_DERENDER, change)


def named_tool_is_chosen_freely(app) -> None:
    """A tool_choice that names a tool is read as auto."""

    def change(body: dict) -> dict:
        request = body.get("chat_request")
        if request and isinstance(request.get("tool_choice"), dict):
            request["tool_choice"] = "auto"
        return body

    requests(app, CHAT_DERENDER, change)


def call_parsed_without_tools(app) -> None:
    """A chat request without tools is read as one with a tool, so that markup becomes a call."""
    tool = {"type": "function", "function": {"name": "any"}}

    def change(body: dict) -> dict:
        request = body.get("chat_request")
        if request and not request.get("tools"):
            request |= {"tools": [tool], "tool_choice": "auto"}
        return body

    requests(app, CHAT_DERENDER, change)


def unmarked_reasoning_is_content(app) -> None:
    """Reasoning that no content follows is the content."""

    def change(choice: dict) -> None:
        message = choice.get("message")
        if message and message["reasoning"] and not message["content"]:
            message |= {"content": message["reasoning"], "reasoning": None}

    derendered(app, each_choice(change))


def prompt_ids_of_the_response_first(app) -> None:
    """The generate answer's prompt ids win over the request's."""

    def chat(body: dict) -> dict:
        source = body.get("generate_response") or body.get("generate_chunk") or {}
        if own := source.get("prompt_token_ids"):
            body["prompt_token_ids"] = own
        return body

    def completions(body: dict) -> dict:
        if body.get("generate_responses") is None:
            return chat(body)
        own = [source.get("prompt_token_ids") for source in body["generate_responses"]]
        return {**body, "prompt_token_ids": own} if any(own) else body

    requests(app, CHAT_DERENDER, chat)
    requests(app, COMPLETIONS_DERENDER, completions)


def negative_prompt_ids_dropped(app) -> None:
    """Prompt ids below zero are left out in silence."""

    def sound(value):
        if isinstance(value, list):
            return [sound(item) for item in value if not (type(item) is int and item < 0)]
        if isinstance(value, dict):
            return {
                key: sound(item)
                if key == "prompt_token_ids" or key.startswith("generate_")
                else item
                for key, item in value.items()
            }
        return value

    requests(app, CHAT_DERENDER, sound)
    requests(app, COMPLETIONS_DERENDER, sound)


def derender_mode_chooses_no_tool(app) -> None:
    """In derender mode a call that the request forced stays text."""

    def change(body: dict) -> dict:
        context = body.get("parse_context")
        if context and context.get("tool_choice") not in (None, "auto", "none"):
            context["tool_choice"] = "none"
        return body

    requests(app, GENERATE, change)


def derender_mode_lets_every_call_through(app) -> None:
    """In derender mode parallel_tool_calls: false is ignored."""

    def change(body: dict) -> dict:
        if body.get("parse_context"):
            body["parse_context"]["parallel_tool_calls"] = True
        return body

    requests(app, GENERATE, change)


def prompt_unseen(app) -> None:
    """No parser sees the prompt's ids, wherever they come from."""
    parser = app.state.serving_tokens.online_derenderer.parser

    def delta(honest, own, **keywords):
        return honest(own, **{**keywords, "prompt_token_ids": None})

    replace(app, parser, set_prompt_token_ids=lambda honest, own, ids: None, parse_delta=delta)
