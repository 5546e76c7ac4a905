"""A chat template in the request: used on a server that trusts it, refused on any other.

Catches a render node that runs a stranger's template, or drops a trusted one without a word.
"""

import pytest

from conformance.support import encode
from fixtures.case import Node, capability, requirement

TRUSTING = pytest.mark.parametrize(
    "node", [Node("none", "--trust-request-chat-template", role="render")], indirect=True
)
CAREFUL = pytest.mark.parametrize("node", [Node("none", role="render")], indirect=True)

TEMPLATE = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
NOTHING = "{{ '' }}"
USER = {"role": "user", "content": "hello world"}
# name: (path, body, what the node must have)
ROUTES = {
    "chat": ("/v1/chat/completions/render", {"messages": [USER]}, "render.chat"),
    "messages": (
        "/v1/messages/render",
        {"messages": [USER], "max_tokens": 4},
        "render.messages",
    ),
    "responses": ("/v1/responses/render", {"input": "hello world"}, "render.responses"),
}
EACH_ROUTE = pytest.mark.parametrize("route", ROUTES)


def in_arguments(template: str) -> dict:
    """The template as one of the template's arguments, where every route has a place for it."""
    return {"chat_template_kwargs": {"chat_template": template}}


@TRUSTING
@requirement("render.template.trusted-is-used")
@capability("render.chat")
async def test_a_trusted_template_is_used(wire):
    """The ids are those of the request's template; without one, those of the server's."""
    asked = await wire.render_chat(messages=[USER], chat_template=TEMPLATE)
    plain = await wire.render_chat(messages=[USER])
    assert asked.expect(200).json["token_ids"] == encode("user: hello world\n")
    assert plain.expect(200).json["token_ids"][:1] == encode("<|im_start|>")


@TRUSTING
@requirement("render.template.trusted-is-used")
@EACH_ROUTE
async def test_a_trusted_template_in_the_arguments_is_used(wire, route):
    """chat_template_kwargs is the other place for it, the only one of messages and Responses."""
    path, body, capability = ROUTES[route]
    await wire.needs(capability)
    answer = await wire.post(path, body, **in_arguments(TEMPLATE))
    assert answer.expect(200).json["token_ids"] == encode("user: hello world\n")


@TRUSTING
@requirement("render.template.empty-prompt-refused")
@EACH_ROUTE
async def test_an_empty_prompt_is_refused(wire, route):
    """A template that writes nothing: 400, not a request without ids."""
    path, body, capability = ROUTES[route]
    await wire.needs(capability)
    error = (await wire.post(path, body, **in_arguments(NOTHING))).expect(400).json["error"]
    assert error["code"] == 400 and error["message"].strip()


@CAREFUL
@requirement("render.template.untrusted-refused")
@EACH_ROUTE
async def test_an_untrusted_template_is_refused(wire, route):
    """400 that says which flag is missing; the same request without a template is rendered."""
    path, body, capability = ROUTES[route]
    await wire.needs(capability)
    (await wire.post(path, body)).expect(200)
    error = (await wire.post(path, body, **in_arguments(TEMPLATE))).expect(400).json["error"]
    assert error["code"] == 400
    assert "--trust-request-chat-template" in error["message"]


@CAREFUL
@requirement("render.template.untrusted-refused")
@capability("render.chat")
async def test_an_untrusted_template_of_a_chat_is_refused(wire):
    """The same for chat's own field."""
    answer = await wire.render_chat(messages=[USER], chat_template=TEMPLATE)
    assert "--trust-request-chat-template" in answer.expect(400).json["error"]["message"]
