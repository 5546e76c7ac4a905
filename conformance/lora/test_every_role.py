"""Render, generate and derender know the same models: an adapter's name is taken by all or by none.

Catches a render that refuses a loaded adapter, and a role that serves a name nobody loaded.
"""

import pytest

from conformance.lora import ADAPTER, BASE, UNKNOWN, WITH_ADAPTER
from conformance.routes import ROUTES
from fixtures.case import Node, requirement

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
    one = ROUTES[route]
    await wire.needs(one.capability)
    one.served(await wire.post(one.path, one.body, model=model))


@WITH_ADAPTER
@requirement("lora.models.unknown-is-404")
@EACH_ROUTE
async def test_an_unknown_adapter_is_not_found(wire, route):
    """404, before anything is streamed, with an error that names the model it did not find."""
    one = ROUTES[route]
    await wire.needs(one.capability)
    error = (await wire.post(one.path, one.body, model=UNKNOWN)).expect(404).json["error"]
    assert (error["code"], error["type"]) == (404, "NotFoundError")
    assert UNKNOWN in error["message"]


@WITH_ADAPTER
@requirement("lora.models.rendered")
@pytest.mark.parametrize("route", [name for name in ROUTES if name.startswith("render-")])
async def test_the_rendered_request_names_the_adapter(wire, route):
    """What render hands to generate is for the model that the caller named."""
    one = ROUTES[route]
    await wire.needs(one.capability)
    rendered = (await wire.post(one.path, one.body, model=ADAPTER)).expect(200).json
    rendered = rendered[0] if isinstance(rendered, list) else rendered
    assert rendered["model"] == ADAPTER


@RENDER_NODE
@requirement("lora.render-node.knows-its-adapters")
@pytest.mark.parametrize("route", ["render-chat", "render-completions", "derender-chat"])
async def test_a_render_node_takes_the_adapters_it_was_given(wire, route):
    """A node of `launch render` with --lora-modules serves the adapter's name as the base's."""
    one = ROUTES[route]
    await wire.needs(one.capability)
    for model in (BASE, ADAPTER):
        one.served(await wire.post(one.path, one.body, model=model))
