"""An ordinary vLLM server loads the reference as an endpoint plugin."""

import os
import tomllib

import httpx
import pytest

from fixtures.nodes.hosts import ROOT
from fixtures.nodes.lease import Lease
from fixtures.nodes.spec import NodeSpec
from fixtures.releases import catalogue
from fixtures.releases.environment import prepare

RELEASE = catalogue.load().newest.version
EXPLICIT = {
    "model": "tiny",
    "token_ids": [20, 21, 22],
    "sampling_params": {"max_tokens": 2, "ignore_eos": True},
    "output_mode": "derender",
    "parse_context": {"return_tokens_as_token_ids": True},
}


@pytest.fixture
def installed(tmp_path):
    """What pip leaves of this package beside its code: the entry points that vLLM looks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    metadata = tmp_path / f"{project['name']}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {place}" for name, place in points.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    return os.pathsep.join([str(ROOT), str(tmp_path)])


@pytest.mark.parametrize(("plugins", "status"), [("tokenwire", 200), ("", 400)])
def test_a_server_that_allows_the_plugin_takes_an_explicit_value(
    pool, monkeypatch, installed, plugins, status
):
    """Stock refuses the key; the same server with the plugin named in VLLM_PLUGINS takes it."""
    monkeypatch.setenv("TOKENWIRE_PYTHON", str(prepare(RELEASE).python))
    env = (("PYTHONPATH", installed), ("VLLM_PLUGINS", plugins))
    lease = Lease(pool.address, NodeSpec(RELEASE, "stock", "cuda", env=env))
    answer = httpx.post(f"{lease.url}/inference/v1/generate", json=EXPLICIT, timeout=60)
    lease.close()
    assert answer.status_code == status, answer.text
