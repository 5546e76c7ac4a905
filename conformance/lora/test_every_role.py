"""Render, generate and derender know the same models: an adapter's name is taken by all or by none.

Catches a render that refuses a loaded adapter, and a role that serves a name nobody loaded.
"""

import pytest

from conformance.lora import ADAPTER, BASE, MESSAGES, PROMPT, UNKNOWN, WITH_ADAPTER
from conformance.support import chunk, response
from fixtures.case import Node, requirement

GENERATE = {"token_ids": PROMPT, "sampling_params": {"max_tokens": 1, "temperature": 0.0}}
CHUNK = {"stream": True, "generate_chunk": chunk([20]), "prompt_token_ids": PROMPT}
CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"

# name: (path, body, what the node must have)
ROUTES = {
    "generate": ("/inference/v1/generate", GENERATE, "generate"),
    "generate-stream": ("/inference/v1/generate", {**GENERATE, "stream": True}, "generate-stream"),
    "render-chat": (f"{CHAT}/render", {"messages": MESSAGES}, "render.chat"),
    "render-completions": (f"{COMPLETIONS}/render", {"prompt": "hello"}, "render.completions"),
    "render-messages": (
        "/v1/messages/render",
        {"messages": MESSAGES, "max_tokens": 4},
        "render.messages",
    ),
    "render-responses": ("/v1/responses/render", {"input": "hello"}, "render.responses"),
    "derender-chat": (
        f"{CHAT}/derender",
        {"generate_response": response([20, 21])},
        "derender.chat",
    ),
    "derender-chat-stream": (f"{CHAT}/derender", CHUNK, "derender.chat.stream"),
    "derender-completions": (
        f"{COMPLETIONS}/derender",
        {"generate_responses": [response([20, 21])]},
        "derender.completions",
    ),
    "derender-completions-stream": (
        f"{COMPLETIONS}/derender",
        CHUNK,
        "derender.completions.stream",
    ),
}
EACH_ROUTE = pytest.mark.parametrize("route", ROUTES)
# started with the adapters of the generate nodes it renders for
RENDER_NODE = pytest.mark.parametrize(
    "node",
    [
        pytest.param(
            Node(
                "none", "--enable-lora", "--lora-modules", f"{ADAPTER}={{tiny-lora}}", role="render"
            ),
            id="none-lora-render",
        )
    ],
    indirect=True,
)


@WITH_ADAPTER
@requirement("lora.models.every-role")
@EACH_ROUTE
@pytest.mark.parametrize("model", [BASE, ADAPTER])
async def test_a_served_model_is_taken(wire, route, model):
    """200 for the base and for the adapter."""
    path, body, capability = ROUTES[route]
    await wire.needs(capability)
    (await wire.post(path, body, model=model)).expect(200)


@WITH_ADAPTER
@requirement("lora.models.unknown-is-404")
@EACH_ROUTE
async def test_an_unknown_adapter_is_not_found(wire, route):
    """404, before anything is streamed, with an error that names the model it did not find."""
    path, body, capability = ROUTES[route]
    await wire.needs(capability)
    error = (await wire.post(path, body, model=UNKNOWN)).expect(404).json["error"]
    assert (error["code"], error["type"]) == (404, "NotFoundError")
    assert UNKNOWN in error["message"]


@WITH_ADAPTER
@requirement("lora.models.rendered")
@pytest.mark.parametrize("route", [name for name in ROUTES if name.startswith("render-")])
async def test_the_rendered_request_names_the_adapter(wire, route):
    """What render hands to generate is for the model that the caller named."""
    path, body, capability = ROUTES[route]
    await wire.needs(capability)
    rendered = (await wire.post(path, body, model=ADAPTER)).expect(200).json
    rendered = rendered[0] if isinstance(rendered, list) else rendered
    assert rendered["model"] == ADAPTER


@RENDER_NODE
@requirement("lora.render-node.knows-its-adapters")
@pytest.mark.parametrize("route", ["render-chat", "render-completions", "derender-chat"])
async def test_a_render_node_takes_the_adapters_it_was_given(wire, route):
    """A node of `launch render` with --lora-modules serves the adapter's name as the base's."""
    path, body, capability = ROUTES[route]
    await wire.needs(capability)
    (await wire.post(path, body, model=BASE)).expect(200)
    (await wire.post(path, body, model=ADAPTER)).expect(200)
