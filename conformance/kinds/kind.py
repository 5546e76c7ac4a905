"""What a kind of request is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from conformance.support import PARSERS
from fixtures.nodes.lease import Lease
from fixtures.wire import Exchange, Wire
from fixtures.wire.wire import CHAT, COMPLETIONS, GENERATE

MESSAGES, RESPONSES = "/v1/messages", "/v1/responses"
ABORT = "/inference/v1/abort_requests"
ROUTES = {
    "generate": GENERATE,
    "abort": ABORT,
    "chat": CHAT,
    "completions": COMPLETIONS,
    "chat-render": CHAT + "/render",
    "completions-render": COMPLETIONS + "/render",
    "messages-render": MESSAGES + "/render",
    "responses-render": RESPONSES + "/render",
    "chat-derender": CHAT + "/derender",
    "completions-derender": COMPLETIONS + "/derender",
}

# The flags of the nodes a kind may wish for, by their name.
FLAGS = {"plain": (), "parsers": PARSERS, "any-logprobs": ("--max-logprobs", "-1")}
OTHER_NODES = ("parsers", "any-logprobs")

Body = Mapping[str, Any] | Callable[[Lease], Mapping[str, Any]]


@dataclass(frozen=True)
class Kind:
    """One kind of request and the status it is answered with.

    `route` is a key of ROUTES. `body` may depend on the node's release. `needs` are names of
    `fixtures.capabilities`. `node` is a key of FLAGS. `error_event`: the refusal comes as an event of
    a stream of status 200. `name` is its key in KINDS.
    """

    route: str
    body: Body
    needs: tuple[str, ...] = ()
    status: int = 200
    node: Literal["plain", "parsers", "any-logprobs"] = "plain"
    error_event: bool = False
    name: str = ""

    @property
    def path(self) -> str:
        return ROUTES[self.route]

    @property
    def refused(self) -> bool:
        return self.status != 200 or self.error_event

    @property
    def samples(self) -> bool:
        """Whether the engine generates for it."""
        return self.route in ("generate", "chat", "completions") and not self.refused

    def body_for(self, node: Lease) -> dict[str, Any]:
        """The body to send to `node`."""
        return dict(self.body(node) if callable(self.body) else self.body)

    def streams(self, node: Lease) -> bool:
        """Whether the answer is an event stream."""
        sampled = self.samples or self.error_event
        return sampled and self.body_for(node).get("stream") is True

    async def send(self, wire: Wire, node: Lease, **options: Any) -> Exchange:
        """Send it; `options` are those of `Wire.post`."""
        return await wire.post(self.path, self.body_for(node), **options)
