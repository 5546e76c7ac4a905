"""Each kind of fault an answer can have against a node's OpenAPI document is found, and no other."""

import pytest

from fixtures.openapi import Document, Undeclared

ROUTE = "/answers"
ITEM = {
    "type": "object",
    "additionalProperties": True,
    "properties": {
        "id": {"type": "integer"},
        "name": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "score": {"type": "number"},
        "free": {"type": "object", "additionalProperties": True},
    },
    "required": ["id"],
}
SCHEMAS = {
    "Item": ITEM,
    "Named": {
        "allOf": [{"$ref": "#/components/schemas/Item"}],
        "type": "object",
        "properties": {"extra": {"type": "string"}},
    },
    "Answer": {
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": {"$ref": "#/components/schemas/Item"}},
            "one": {
                "anyOf": [
                    {"$ref": "#/components/schemas/Item"},
                    {"$ref": "#/components/schemas/Pair"},
                    {"type": "null"},
                ]
            },
            "named": {"$ref": "#/components/schemas/Named"},
            "by_name": {
                "type": "object",
                "additionalProperties": {"$ref": "#/components/schemas/Item"},
            },
        },
    },
    "Pair": {
        "type": "object",
        "properties": {"left": {"type": "integer"}, "right": {"type": "integer"}},
        "required": ["left", "right"],
    },
    "Error": {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]},
}
EVENT = {
    "type": "object",
    "properties": {
        "data": {
            "type": "string",
            "anyOf": [
                {"const": "[DONE]"},
                {"contentSchema": {"$ref": "#/components/schemas/Item"}},
                {"contentSchema": {"$ref": "#/components/schemas/Error"}},
            ],
        }
    },
}


def content(kind, schema):
    return {"content": {kind: {"schema": schema}}}


DOCUMENT = {
    "openapi": "3.1.0",
    "components": {"schemas": SCHEMAS},
    "paths": {
        ROUTE: {
            "post": {
                "requestBody": content("application/json", {"$ref": "#/components/schemas/Item"}),
                "responses": {
                    "200": {
                        "content": {
                            "application/json": {"schema": {"$ref": "#/components/schemas/Answer"}},
                            "text/event-stream": {"schema": EVENT},
                        }
                    },
                    "201": content("application/json", {}),
                },
            }
        }
    },
}


@pytest.fixture
def document():
    return Document(DOCUMENT)


def faults(document, value, kind="application/json"):
    return document.faults(value, document.answer(ROUTE, 200, kind))


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"items": [{"id": 1}, {"id": 2, "name": None}]},
        {"items": [{"id": 1, "score": 1, "free": {"anything": [1]}}]},
        {"one": None},
        {"one": {"left": 1, "right": 2}},
        {"named": {"id": 1, "extra": "x"}},
        {"by_name": {"any": {"id": 1}}},
    ],
)
def test_a_declared_value_has_no_fault(document, value):
    assert faults(document, value) == []


@pytest.mark.parametrize(
    ("value", "path"),
    [
        pytest.param({"other": 1}, "$", id="undeclared-at-the-top"),
        pytest.param({"items": [{"id": 1, "x": 2}]}, "$.items[0]", id="undeclared-in-a-list"),
        pytest.param({"one": {"id": 1, "x": 2}}, "$.one", id="undeclared-in-an-alternative"),
        pytest.param({"one": {"id": 1, "left": 2}}, "$.one", id="of-two-alternatives"),
        pytest.param({"named": {"id": 1, "x": 2}}, "$.named", id="undeclared-beside-all-of"),
        pytest.param({"by_name": {"a": {"id": 1, "x": 2}}}, "$.by_name.a", id="undeclared-by-name"),
        pytest.param({"items": None}, "$.items", id="null-where-not-nullable"),
        pytest.param({"items": [{"id": None}]}, "$.items[0].id", id="null-in-a-list"),
        pytest.param({"items": [{}]}, "$.items[0]", id="required-is-missing"),
        pytest.param({"items": [{"id": "1"}]}, "$.items[0].id", id="wrong-type"),
        pytest.param({"items": [{"id": 1.0}]}, "$.items[0].id", id="float-for-an-integer"),
        pytest.param({"items": [{"id": True}]}, "$.items[0].id", id="true-for-an-integer"),
        pytest.param({"items": [{"id": 1, "name": 7}]}, "$.items[0].name", id="no-alternative"),
    ],
)
def test_each_fault_is_found_where_it_is(document, value, path):
    (fault,) = faults(document, value)
    assert fault.startswith(f"{path}: ")


def test_an_event_is_judged_by_what_its_data_holds(document):
    stream = "text/event-stream"
    assert faults(document, {"id": 1}, stream) == faults(document, {"error": "e"}, stream) == []
    assert faults(document, {"id": 1, "x": 2}, stream) and faults(document, {}, stream)


def test_as_written_an_open_object_takes_any_key(document):
    schema = document.request(ROUTE)
    assert document.faults({"id": 1, "x": 2}, schema, strict=False) == []
    assert document.faults({"id": 1, "x": 2}, schema)
    assert document.faults({"id": "1"}, schema, strict=False)


@pytest.mark.parametrize(
    ("route", "status", "kind"),
    [
        ("/other", 200, "application/json"),
        (ROUTE, 404, "application/json"),
        (ROUTE, 200, "text/html"),
        (ROUTE, 201, "application/json"),
    ],
    ids=["route", "status", "content-type", "empty-schema"],
)
def test_what_is_not_documented_is_told(document, route, status, kind):
    with pytest.raises(Undeclared):
        document.answer(route, status, kind)


def test_a_component_is_found_by_the_first_of_its_names(document):
    assert document.component("Gone", "Pair") == {"$ref": "#/components/schemas/Pair"}
    with pytest.raises(Undeclared):
        document.component("Gone")


def test_of_alternatives_the_one_without_a_fault_is_meant(document):
    one = document.properties(document.component("Answer"))["one"]
    assert document.meant({"left": 1, "right": 2}, one) == SCHEMAS["Pair"]
    assert document.meant({"id": 1}, one) == ITEM
    assert document.meant(None, one) == {"type": "null"}
    assert document.meant({"id": "1"}, one) == one


def test_properties_are_gathered_from_every_part(document):
    assert set(document.properties(document.component("Named"))) == {
        *("id", "name", "score", "free", "extra"),
    }
