"""What a derender node makes of generated ids: text, messages, logprobs, usage."""

from collections.abc import Awaitable, Callable

from fixtures.wire import Exchange, Wire


def derender_call(wire: Wire, route: str) -> Callable[..., Awaitable[Exchange]]:
    """The derender call of a route, chat or completions."""
    return wire.derender_chat if route == "chat" else wire.derender_completions
