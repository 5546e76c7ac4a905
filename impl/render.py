"""Render: what the client asked for reaches the rendered request."""

from typing import Any

from impl import compat
from impl.protocol import GenerateRequest


class ServingRender(compat.ServingRender):
    """vLLM's render handler; what it renders carries `max_tokens`, and a given tri-state key.

    The signatures are open because they grow from release to release. Errors are vLLM's, returned
    as they are.
    """

    async def render_chat_request(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        rendered = await super().render_chat_request(request, *args, **kwargs)
        if isinstance(rendered, compat.ErrorResponse):
            return rendered
        return GenerateRequest.rendered(
            rendered,
            return_tokens_as_token_ids=getattr(request, "return_tokens_as_token_ids", None),
        )

    async def render_completion_request(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        rendered = await super().render_completion_request(request, *args, **kwargs)
        if isinstance(rendered, compat.ErrorResponse):
            return rendered
        return [GenerateRequest.rendered(one) for one in rendered]

    async def render_responses_request(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        rendered = await super().render_responses_request(request, *args, **kwargs)
        return (
            rendered
            if isinstance(rendered, compat.ErrorResponse)
            else GenerateRequest.rendered(rendered)
        )
