"""Where a release keeps the parts of its server start, tried on modules of our own."""

import sys
import types

import pytest

from fixtures.nodes import launch


@pytest.fixture
def modules(monkeypatch):
    """Stand-ins for vLLM's serve and render modules, by name."""

    def add(name: str, **names: object) -> types.ModuleType:
        module = types.ModuleType(name)
        vars(module).update(names)
        monkeypatch.setitem(sys.modules, name, module)
        return module

    monkeypatch.setattr(launch, "SERVE_MODULES", ("no_such_serve", "older_serve"))
    monkeypatch.setattr(launch, "RENDER_MODULES", ("no_such_render", "older_render"))
    return add


def test_the_first_module_that_is_there_is_taken(modules):
    older = modules("older_serve")
    assert launch.first_module("no_such_module.entry", "older_serve") is older


def test_no_module_at_all_names_them(modules):
    with pytest.raises(ImportError, match="none of the modules no_such_module, no_such_other"):
        launch.first_module("no_such_module", "no_such_other")


def test_a_missing_dependency_is_not_taken_for_a_missing_module(tmp_path, monkeypatch):
    (tmp_path / "entry_with_a_missing_dependency.py").write_text("import no_such_dependency\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_dependency"):
        launch.first_module("entry_with_a_missing_dependency", "json")


def test_a_name_is_replaced_wherever_the_start_looks_it_up(modules):
    """0.28.0 binds the socket of a render node in one module and serves it in the other."""
    serve = modules("older_serve", setup_server=1, serve_http=1)
    render = modules("older_render", setup_server=1)
    launch.replace("setup_server", 2)
    launch.replace("serve_http", 2)
    assert (serve.setup_server, render.setup_server, serve.serve_http) == (2, 2, 2)
    assert not hasattr(render, "serve_http")


def test_a_name_the_release_does_not_have_is_an_error(modules):
    modules("older_serve")
    modules("older_render")
    with pytest.raises(AttributeError, match="starts its servers without setup_server"):
        launch.replace("setup_server", 2)
