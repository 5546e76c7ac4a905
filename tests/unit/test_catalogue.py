"""The catalogue refuses every fault by name, and finds what is not covered."""

from itertools import pairwise

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.catalogue import CatalogueError, is_reference, lint_coverage, load_catalogue

WHOLE = {
    "text": "A generate request without max_tokens MUST fill the context.",
    "level": "must",
    "roles": ["generate"],
    "since": "0.22.1",
    "references": ["vllm-project/vllm#42329", "CASES 1", "GEN-10"],
    "needs": [],
}


def without(*keys):
    return {key: value for key, value in WHOLE.items() if key not in keys}


def write(folder, **chapters):
    for chapter, tables in chapters.items():
        text = tables if isinstance(tables, str) else tomli_w.dumps(tables)
        (folder / f"{chapter}.toml").write_text(text, encoding="utf-8")
    return folder


def problems(folder, **chapters):
    with pytest.raises(CatalogueError) as raised:
        load_catalogue(write(folder, **chapters))
    assert str(raised.value) == "\n".join(raised.value.problems)
    return list(raised.value.problems)


def test_whole_catalogue_is_read_as_written(tmp_path):
    needing = {**WHOLE, "level": "should", "text": "It SHOULD.", "needs": ["generate.full.answers"]}
    survey = {**WHOLE, "level": "survey", "text": "It MAY.", "since": "none yet"}
    catalogue = load_catalogue(
        write(
            tmp_path,
            render={"render.chat.asks-first": survey},
            generate={"generate.full.answers": WHOLE, "generate.full.n-2": needing},
        )
    )
    assert list(catalogue) == [
        "generate.full.answers",
        "generate.full.n-2",
        "render.chat.asks-first",
    ]
    requirement = catalogue["generate.full.n-2"]
    assert requirement.chapter == "generate"
    assert requirement.roles == ("generate",)
    assert requirement.references == ("vllm-project/vllm#42329", "CASES 1", "GEN-10")
    assert requirement.needs == ("generate.full.answers",)
    assert catalogue.described()["render.chat.asks-first"] == {
        "text": "It MAY.",
        "level": "survey",
        "roles": ["generate"],
        "since": "none yet",
        "references": ["vllm-project/vllm#42329", "CASES 1", "GEN-10"],
        "needs": [],
    }


ID_RULE = (
    "an id is two or more dotted parts of lower-case words joined by hyphens, "
    "quoted as one TOML key"
)


@pytest.mark.parametrize(
    "id", ["generate", "generate.Full", "generate.a_b", "generate..a", "generate.-a", "generate.a "]
)
def test_id_of_another_form_is_refused(tmp_path, id):
    assert problems(tmp_path, generate={id: WHOLE}) == [f"generate.toml: {id}: {ID_RULE}."]


def test_unquoted_id_is_refused_once(tmp_path):
    text = "[generate.full.answers]\ntext = 'x'\n"
    assert problems(tmp_path, generate=text) == [f"generate.toml: generate: {ID_RULE}."]


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ({**WHOLE, "txt": 1}, "unknown key txt"),
        (without("since"), "since missing"),
        (without("since", "needs"), "since and needs missing"),
        ("a sentence", "a requirement is a table"),
        ({**WHOLE, "text": " "}, "text must be a sentence"),
        ({**WHOLE, "text": 3}, "text must be a sentence"),
        ({**WHOLE, "text": "It must."}, "text must hold one of MUST, MUST NOT, SHOULD, MAY"),
        (
            {**WHOLE, "text": "It MAY."},
            "a must text must hold MUST as its strongest key word, not MAY",
        ),
        (
            {**WHOLE, "level": "should", "text": "It SHOULD, and MUST."},
            "a should text must hold SHOULD as its strongest key word, not MUST",
        ),
        ({**WHOLE, "level": "can"}, "unknown level 'can': one of must, should, survey"),
        ({**WHOLE, "level": ["must"]}, "unknown level ['must']: one of must, should, survey"),
        (
            {**WHOLE, "roles": ["generate", "router"]},
            "unknown role 'router': one of render, generate, derender, coupled",
        ),
        ({**WHOLE, "roles": []}, "roles must not be empty"),
        ({**WHOLE, "roles": "generate"}, "roles must be a list of strings"),
        ({**WHOLE, "roles": ["render", "render"]}, "roles names 'render' twice"),
        ({**WHOLE, "references": []}, "references must not be empty"),
        ({**WHOLE, "references": [1]}, "references must be a list of strings"),
        ({**WHOLE, "references": ["hearsay"]}, "reference 'hearsay' is of no known form"),
        (
            {**WHOLE, "since": "0.22+"},
            'since must be a release such as "0.22.1", or "none yet", not \'0.22+\'',
        ),
        ({**WHOLE, "since": 1}, 'since must be a release such as "0.22.1", or "none yet", not 1'),
        ({**WHOLE, "needs": "generate.b"}, "needs must be a list of strings"),
    ],
)
def test_faulty_table_is_refused_by_name(tmp_path, table, fault):
    assert problems(tmp_path, generate={"generate.a": table}) == [
        f"generate.toml: generate.a: {fault}."
    ]


def test_every_fault_is_told_at_once(tmp_path):
    found = problems(tmp_path, generate={"generate.a": without("text"), "generate.B": WHOLE})
    assert found == [
        "generate.toml: generate.a: text missing.",
        f"generate.toml: generate.B: {ID_RULE}.",
    ]


def test_id_stands_in_the_file_of_its_chapter(tmp_path):
    assert problems(tmp_path, render={"generate.a": WHOLE}) == [
        "render.toml: generate.a: the id's first part must be the file's name, render."
    ]


def test_no_id_stands_twice(tmp_path):
    (fault,) = problems(tmp_path, generate='["generate.a"]\n["generate.a"]\n')
    assert fault.startswith("generate.toml: not valid TOML: Cannot declare ('generate.a',) twice")
    found = problems(tmp_path, generate={"generate.a": WHOLE}, render={"generate.a": WHOLE})
    assert "render.toml: generate.a: the id already stands in generate.toml." in found


def test_need_that_does_not_exist_is_refused(tmp_path):
    assert problems(tmp_path, generate={"generate.a": {**WHOLE, "needs": ["generate.b"]}}) == [
        "generate.toml: generate.a: needs generate.b, which is not a requirement."
    ]


@pytest.mark.parametrize("length", [1, 2, 3])
def test_needs_in_a_circle_are_refused(tmp_path, length):
    ids = [f"generate.r{number}" for number in range(length)]
    chapter = {
        id: {**WHOLE, "needs": [need]} for id, need in zip(ids, [*ids[1:], ids[0]], strict=True)
    }
    (fault,) = problems(tmp_path, generate=chapter)
    circle = fault.removesuffix(".").partition(" in a circle: ")[2].split(" needs ")
    assert fault.startswith(f"generate.toml: {circle[0]}: needs go round")
    assert circle[0] == circle[-1] and set(circle) == set(ids)
    assert all(chapter[a]["needs"] == [b] for a, b in pairwise(circle))


def test_unreadable_files_are_told_by_name(tmp_path):
    assert problems(tmp_path) == [f"{tmp_path}: no requirement file (CHAPTER.toml) stands here."]
    (tmp_path / "render.toml").write_bytes(b"\xff")
    (tmp_path / "generate.toml").write_text("text =")
    broken_toml, broken_text = problems(tmp_path)
    assert broken_toml.startswith("generate.toml: not valid TOML: ")
    assert broken_text.startswith("render.toml: the file cannot be read: ")


@pytest.mark.parametrize(
    "reference",
    [
        "vllm-project/vllm#1",
        "PrimeIntellect-ai/prime-rl PR#2878",
        "RFC vllm-project/vllm#22817",
        "CASES 12",
        "CASES N1",
        "GEN-10",
        "EVOLUTION 6",
        "EVOLUTION 3.1",
        "tokenwire",
        "found by tokenwire",
    ],
)
def test_reference_of_a_known_form(reference):
    assert is_reference(reference)
    assert not is_reference(f"{reference} or so") and not is_reference(f"see {reference}")


@pytest.mark.parametrize(
    "text", ["", "vllm#1", "vllm-project/vllm", "CASES", "CASES X1", "GEN-1", "gen-10", "RFC 9110"]
)
def test_reference_of_no_known_form(text):
    assert not is_reference(text)


def test_coverage_is_looked_at_from_both_sides(tmp_path):
    catalogue = load_catalogue(
        write(tmp_path, generate={"generate.a": WHOLE, "generate.b": WHOLE, "generate.c": WHOLE})
    )
    cases = {"t::a": ["generate.a", "generate.b"], "t::none": [], "t::typo": ["generate.aa"]}
    by_case = [
        "t::none: the case names no requirement.",
        "t::typo: generate.aa is not a requirement of the catalogue.",
    ]
    by_rule = "generate.toml: generate.c: no case judges this requirement."
    assert lint_coverage(catalogue, cases, {"generate"}) == [*by_case, by_rule]
    assert lint_coverage(catalogue, cases, {"render"}) == by_case
    assert lint_coverage(catalogue, {"t::all": list(catalogue)}, {"generate"}) == []


@settings(deadline=None)
@given(st.data())
def test_needed_is_the_closure_of_needs(tmp_path_factory, data):
    size = data.draw(st.integers(1, 8))
    ids = [f"generate.r{number}" for number in range(size)]
    needs = {
        id: data.draw(st.lists(st.sampled_from(ids[:at]), unique=True)) if at else []
        for at, id in enumerate(ids)
    }
    folder = tmp_path_factory.mktemp("catalogue")
    chapter = {id: {**WHOLE, "needs": needs[id]} for id in data.draw(st.permutations(ids))}
    catalogue = load_catalogue(write(folder, generate=chapter))
    for id in ids:
        expected = set(needs[id])
        while more := {need for known in expected for need in needs[known]} - expected:
            expected |= more
        assert catalogue.needed(id) == expected
    assert catalogue.needed("generate.unknown") == set()
