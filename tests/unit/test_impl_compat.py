"""The lookup of a release's names, tried on modules that are always there."""

import pytest

from impl import compat


@pytest.fixture
def places(monkeypatch):
    table: dict[str, tuple[str, ...]] = {}
    monkeypatch.setattr(compat, "_PLACES", table)
    yield table
    compat._find.cache_clear()
    for name in table:
        vars(compat).pop(name, None)


def test_the_first_place_that_has_the_name_wins(places):
    places["Thing"] = (
        "no_such_module.inner:Thing",
        "json:no_such_name",
        "json:loads",
        "json:dumps",
    )
    import json

    assert compat.has("Thing")
    assert compat.Thing is json.loads


def test_a_name_the_release_has_nowhere_says_where_it_was_sought(places):
    places["Thing"] = ("no_such_module:Thing", "json:no_such_name")
    assert not compat.has("Thing")
    with pytest.raises(
        ImportError, match="has no Thing; looked in no_such_module:Thing, json:no_such_name"
    ):
        _ = compat.Thing


def test_a_name_nobody_listed_is_an_attribute_error(places):
    with pytest.raises(AttributeError, match="no attribute 'Thing'"):
        _ = compat.Thing


def test_a_missing_dependency_of_a_place_is_not_taken_for_a_missing_place(
    places, tmp_path, monkeypatch
):
    (tmp_path / "place_with_a_missing_dependency.py").write_text(
        "import no_such_dependency\nThing = 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    places["Thing"] = ("place_with_a_missing_dependency:Thing", "json:loads")
    with pytest.raises(ModuleNotFoundError, match="no_such_dependency"):
        compat.has("Thing")
