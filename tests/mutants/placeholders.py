"""Lies about the placeholders themselves: what is renamed, and what text_offset counts."""

from tests.mutants.tools import replace

# Chat


def alternatives_keep_their_text(app) -> None:
    """At chat derender only the sampled token gets a placeholder."""
    _after_renaming(
        app, lambda item, before, sampled: None if sampled else item.__dict__.update(before)
    )


def bytes_kept(app) -> None:
    """At chat derender a placeholder keeps the bytes of the text."""
    _after_renaming(app, lambda item, before, sampled: setattr(item, "bytes", before["bytes"]))


def _after_renaming(app, change) -> None:
    from impl import derender

    def items(choices):
        for choice in choices:
            for entry in (choice.logprobs.content or ()) if choice.logprobs else ():
                yield entry, True
                for candidate in entry.top_logprobs:
                    yield candidate, False

    def rename(honest, choices, sources):
        before = [dict(item.__dict__) for item, _ in items(choices)]
        honest(choices, sources)
        for (item, sampled), old in zip(items(choices), before, strict=True):
            change(item, old, sampled)

    replace(app, derender, _rename_chat_logprobs=rename)


def only_the_first_choice_renamed(app) -> None:
    """At chat derender the first choice alone gets placeholders."""
    from impl import derender

    def rename(honest, choices, sources):
        honest(choices[:1], sources[:1])

    replace(app, derender, _rename_chat_logprobs=rename)


def bytes_of_the_placeholder(app) -> None:
    """In derender mode a placeholder has the bytes of its own string."""
    from impl.serving_tokens import ServingTokens

    def create(honest, *arguments, **keywords):
        logprobs = honest(*arguments, **keywords)
        for entry in logprobs.content or ():
            for item in (entry, *entry.top_logprobs):
                item.bytes = list(item.token.encode())
        return logprobs

    replace(app, ServingTokens, _create_text_logprobs=create)


def content_of_placeholders(app) -> None:
    """At chat derender true makes the content placeholders too."""
    from impl.derender import ServingDerender

    async def respond(honest, handler, request):
        response = await honest(handler, request)
        if handler._wants_placeholders(request.chat_request):
            for choice, source in zip(
                response.choices, request.generate_response.choices, strict=True
            ):
                choice.message.content = "".join(f"token_id:{one}" for one in source.token_ids)
        return response

    replace(app, ServingDerender, derender_chat_response=respond)


def prompt_logprobs_renamed(app) -> None:
    """At chat derender true renames the tokens of prompt_logprobs."""
    from impl.derender import ServingDerender

    async def respond(honest, handler, request):
        response = await honest(handler, request)
        if handler._wants_placeholders(request.chat_request):
            for position in response.prompt_logprobs or ():
                for token_id, logprob in (position or {}).items():
                    logprob.decoded_token = f"token_id:{token_id}"
        return response

    replace(app, ServingDerender, derender_chat_response=respond)


# Completions


def alternatives_collapse(app) -> None:
    """A completion's placeholders are made from top_logprobs keyed by text: those alike are one."""
    _after_completion(app, _collapse)


def _collapse(logprobs, before) -> None:
    logprobs.top_logprobs = [
        dict(list(new.items())[: len(old)]) if new and old else new
        for new, old in zip(logprobs.top_logprobs, before["top_logprobs"], strict=True)
    ]


def text_offset_of_the_text(app) -> None:
    """text_offset counts the decoded text, not the placeholders."""
    _after_completion(
        app, lambda logprobs, before: setattr(logprobs, "text_offset", before["text_offset"])
    )


def _after_completion(app, change) -> None:
    from impl import derender

    def rename(honest, logprobs, *arguments, **keywords):
        before = dict(logprobs.__dict__) if logprobs is not None else {}
        end = honest(logprobs, *arguments, **keywords)
        if end is not None:
            change(logprobs, before)
        return end

    replace(app, derender, _rename_completion_logprobs=rename)


def text_offset_restarts(app) -> None:
    """The placeholders' text_offset begins at 0 in each chunk."""
    from impl import derender

    def rename(honest, logprobs, source, client_request, start):
        return honest(logprobs, source, client_request, 0)

    replace(app, derender, _rename_completion_logprobs=rename)


def carried_offset_of_the_text(app) -> None:
    """stream_state carries the offset of the decoded text, not of the placeholders."""
    from impl import derender

    def rename(honest, *arguments, **keywords):
        honest(*arguments, **keywords)

    replace(app, derender, _rename_completion_logprobs=rename)


def last_alternative_dropped(app) -> None:
    """A completion by placeholder keeps one alternative less."""
    from impl import derender

    def rename(honest, logprobs, *arguments, **keywords):
        end = honest(logprobs, *arguments, **keywords)
        for names in (logprobs.top_logprobs or ()) if logprobs is not None else ():
            if names and len(names) > 1:
                names.popitem()
        return end

    replace(app, derender, _rename_completion_logprobs=rename)
