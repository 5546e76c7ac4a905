"""Each kind of fault an answer can have against a node's OpenAPI document is found, and no other."""

import http.server
import threading

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


def with_answer(schema, **components) -> dict:
    """A document whose only route answers by `schema`."""
    operation = {"responses": {"200": content("application/json", schema)}}
    return {"paths": {ROUTE: {"post": operation}}, "components": {"schemas": components}}


LOOP = {"$ref": "#/components/schemas/Loop"}
DEEP: dict = {}
for _ in range(5000):
    DEEP = {"items": DEEP}


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"paths": []},
        {"paths": {ROUTE: None}},
        {"paths": {ROUTE: {"post": {}}}},
        {"paths": {ROUTE: {"post": None}}},
        {"paths": {ROUTE: {"post": {"responses": {"200": {"content": []}}}}}},
        {"paths": {}, "components": {"schemas": []}},
        with_answer(LOOP, Loop=LOOP),
        with_answer({"$ref": "#/nowhere"}),
        with_answer({"allOf": 7}),
        with_answer({"type": "no-such-type"}),
        with_answer({"pattern": "("}),
        with_answer({"properties": []}),
        with_answer([1]),
        with_answer(DEEP),
    ],
    ids=[
        *("null", "list", "empty", "paths-a-list", "path-null", "no-responses", "operation-null"),
        *("content-a-list", "schemas-a-list", "refers-to-itself", "refers-to-nothing"),
        *("all-of-a-number", "unknown-type", "broken-pattern", "properties-a-list"),
        *("schema-a-list", "too-deep"),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_a_document_that_cannot_be_read_is_a_fault_of_the_node(document, strict):
    with pytest.raises(Undeclared):
        read = Document(document)
        for value in ("text", {"a": 1}):
            read.faults(value, read.answer(ROUTE, 200, "application/json"), strict=strict)


def test_what_stands_below_itself_is_read():
    tree = {"type": "object", "properties": {"below": {"$ref": "#/components/schemas/Tree"}}}
    read = Document(with_answer({"$ref": "#/components/schemas/Tree"}, Tree=tree))
    assert faults(read, {"below": {"below": {}}}) == []
    assert faults(read, {"below": {"other": {}}})


def test_nothing_outside_the_document_is_fetched():
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        remote = {"$ref": f"http://127.0.0.1:{server.server_address[1]}/schema.json"}
        read = Document(with_answer({"type": "object", "properties": {"a": remote}}))
        with pytest.raises(Undeclared, match="cannot be read"):
            faults(read, {"a": 1})
        server.shutdown()
    assert asked == []
