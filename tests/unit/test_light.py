"""The suite, its reports and its clients need no vLLM and no torch beside them."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What runs inside a node, in the environment of its release.
IN_THE_NODE = {
    *("host", "ordinary", "rust", "scripted", "scripted_core", "scripted_player"),
    *("engine_outputs", "shim", "small_model", "script_store"),
}
LIGHT = ("conformance", "fixtures", "reports", "tests/unit")
CLIENTS = ("impl.teacher_logprobs",)
PROBE = """
import importlib, sys
for heavy in ("vllm", "torch", "transformers"):
    sys.modules[heavy] = None  # an import of it is an ImportError
for name in sys.argv[1:]:
    importlib.import_module(name)
"""


def modules() -> list[str]:
    """The dotted names of everything that pytest, its workers or a client import."""
    found = []
    for folder in LIGHT:
        for file in sorted((ROOT / folder).rglob("*.py")):
            parts = file.relative_to(ROOT).with_suffix("").parts
            inside = parts[:2] == ("fixtures", "nodes") and parts[-1] in IN_THE_NODE
            if not inside and parts[-1] not in ("__main__", "conftest", "test_light"):
                found.append(".".join(parts).removesuffix(".__init__"))
    return [*found, *CLIENTS]


def test_every_light_module_is_imported_without_vllm():
    names = modules()
    assert len(names) > 200
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *names], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_module_of_the_node_is_not_light():
    done = subprocess.run(
        [sys.executable, "-c", PROBE, "fixtures.nodes.engine_outputs"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "import of" in done.stderr
