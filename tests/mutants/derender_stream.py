"""Lies of derender called chunk by chunk."""

from tests.mutants.tools import (
    CHAT_DERENDER,
    answers,
    derender_asked,
    derendered,
    each_choice,
    replace,
)


def role_on_every_chunk(app) -> None:
    """Each delta has the role."""

    def change(choice: dict) -> None:
        if "delta" in choice:
            choice["delta"]["role"] = "assistant"

    derendered(app, each_choice(change))


def text_offset_restarts(app) -> None:
    """text_offset begins at 0 in each chunk."""

    def change(choice: dict) -> None:
        if offsets := (choice.get("logprobs") or {}).get("text_offset"):
            choice["logprobs"]["text_offset"] = [offset - offsets[0] for offset in offsets]

    derendered(app, each_choice(change))


def finish_reason_of_an_empty_chunk_lost(app) -> None:
    """A chunk without ids is forwarded without its finish reason."""

    def change(choice: dict) -> None:
        if "delta" in choice and not choice["delta"].get("content"):
            choice["finish_reason"] = None

    derendered(app, each_choice(change))


def logprobs_of_chunks_lost(app) -> None:
    """Streamed chunks have no logprobs."""

    def change(choice: dict) -> None:
        if "delta" in choice:
            choice["logprobs"] = None

    derendered(app, each_choice(change))


def usage_chunk_swallowed(app) -> None:
    """A usage chunk is forwarded without its counts."""
    derendered(app, lambda body: {**body, "usage": None} if not body["choices"] else body)


def state_kept_on_the_node(app) -> None:
    """The node goes on from the stream that it saw last, whatever state the client carries."""
    from impl.derender import ServingDerender

    seen: list = [None]

    async def respond(honest, handler, request):
        if request.stream_state is not None:
            request.stream_state = seen[0]
        response = await honest(handler, request)
        if isinstance(response, tuple):
            seen[0] = response[1]
        return response

    replace(app, ServingDerender, derender_chat_stream_response=respond)


def first_choice_of_a_chunk(app) -> None:
    """Of a chunk with several choices the first is answered."""

    def change(body: dict) -> dict:
        if body.get("generate_chunk"):
            body["generate_chunk"]["choices"] = body["generate_chunk"]["choices"][:1]
        return body

    derender_asked(app, change)


def role_used_up_by_a_usage_chunk(app) -> None:
    """A usage chunk before all others uses up the role."""

    def change(body: dict) -> dict:
        if "chunk" in body and not body["chunk"]["choices"]:
            body["stream_state"]["role_sent"] = True
        return body

    answers(app, CHAT_DERENDER, change)


def state_keeps_every_token(app) -> None:
    """The state of a chat stream holds the tokens of all chunks, also those that no later one reads."""
    from impl.derender import ServingDerender

    async def respond(honest, handler, request):
        before = request.stream_state.prev_tokens if request.stream_state else []
        response = await honest(handler, request)
        if isinstance(response, tuple):
            state = response[1]
            state.prev_tokens = [*before, *state.prev_tokens]
            state.prefix_offset += len(before)
            state.read_offset += len(before)
        return response

    replace(app, ServingDerender, derender_chat_stream_response=respond)


def bounds_of_the_state_off_by_one(app) -> None:
    """An offset of -1 is taken for 0, and a window of 1,024 tokens is refused."""

    def change(body: dict) -> dict:
        state = body.get("stream_state")
        if isinstance(state, dict):
            for name in ("prefix_offset", "read_offset"):
                state[name] = 0 if state[name] == -1 else state[name]
            if len(state["prev_tokens"]) == 1024:
                state["prev_tokens"].append("a")
        return body

    derender_asked(app, change)
