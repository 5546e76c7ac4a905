"""What an OpenAPI document declares has a shape, and a document can be anything."""

import json

import pytest

from fixtures.wire.declared import MOST_PATHS, declared_shapes
from reports.shapes import ROUTES

PATH = "/inference/v1/generate"


def document(request=None, answer=None, path=PATH, **components):
    operation = {"requestBody": {"content": {"application/json": {"schema": request or {}}}}}
    if answer:
        operation["responses"] = {"200": {"content": {"application/json": {"schema": answer}}}}
    return {"paths": {path: {"post": operation}}, "components": {"schemas": components}}


def shapes(document):
    return dict(declared_shapes(json.dumps(document).encode()))


def of_object(**properties):
    return {"type": "object", "properties": properties, "required": ["a"]}


REQUESTS = {
    "types": (
        of_object(a={"type": "integer"}, b={"type": ["string", "null"]}),
        {"(body)": ["object"], "a": ["integer"], "b": ["absent", "null", "string"]},
    ),
    "alternatives": (
        of_object(a={"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        {"(body)": ["object"], "a": ["integer", "null"]},
    ),
    "words": (
        of_object(a={"enum": ["stop", "length"]}, b={"const": "x"}),
        {"(body)": ["object"], "a": ['"length"', '"stop"'], "b": ['"x"', "absent"]},
    ),
    "default-and-bound": (
        of_object(b={"type": "integer", "default": 16, "minimum": 1}),
        {
            "(body)": ["object"],
            "b": ["absent", "integer"],
            "b default": ["16"],
            "b minimum": ["1"],
        },
    ),
    "items": (
        of_object(a={"type": "array", "items": of_object(a={"type": "boolean"})}),
        {"(body)": ["object"], "a": ["array"], "a[]": ["object"], "a[].a": ["boolean"]},
    ),
    "keys-that-are-data": (
        of_object(a={"type": "object", "additionalProperties": {"type": "number"}}),
        {"(body)": ["object"], "a": ["object"], "a.{}": ["number"]},
    ),
    "no-other-key": (
        of_object(a={}) | {"additionalProperties": False},
        {"(body)": ["object"], "(other keys)": ["refused"], "a": ["any"]},
    ),
}


@pytest.mark.parametrize(("schema", "expected"), REQUESTS.values(), ids=REQUESTS)
def test_a_request_is_told(schema, expected):
    assert shapes(document(schema))[f"declared request of POST {PATH}"] == expected


def test_a_component_within_itself_ends():
    tree = of_object(a={"type": "array", "items": {"$ref": "#/components/schemas/Tree"}})
    found = shapes(document({"$ref": "#/components/schemas/Tree"}, Tree=tree))
    assert found[f"declared request of POST {PATH}"] == {
        "(body)": ["object"],
        "a": ["array"],
        "a[]": ["object"],
    }


def test_an_answer_is_told_by_status_and_type():
    found = shapes(document(answer=of_object(a={"type": "string"})))
    name = f"declared answer of POST {PATH} 200 application/json"
    assert found[name] == {"(body)": ["object"], "a": ["string"]}


def test_the_routes_of_the_api_alone_are_told():
    other = document(path="/v1/audio/speech")
    assert shapes(document())[ROUTES] == {"(body)": ["object"], f"POST {PATH}": ["declared"]}
    assert shapes(other) == {ROUTES: {"(body)": ["object"]}}


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{}", b'{"paths": 3}', b"\xff", b"[" * 100_000]
    + [json.dumps({"paths": {PATH: {"post": odd}}}).encode() for odd in (3, {"requestBody": 3})],
)
def test_what_cannot_be_read_declares_nothing(body):
    assert declared_shapes(body) == ()


def test_a_server_cannot_make_it_large():
    wide = of_object(**{f"k{n}": {} for n in range(MOST_PATHS * 2)})
    assert len(shapes(document(wide))[f"declared request of POST {PATH}"]) == MOST_PATHS
    # each of them twice the other, forty deep
    parts = {
        f"C{n}": {"anyOf": [{"$ref": f"#/components/schemas/C{n + 1}"}] * 2} for n in range(40)
    }
    assert shapes(document({"$ref": "#/components/schemas/C0"}, **parts, C40={}))
