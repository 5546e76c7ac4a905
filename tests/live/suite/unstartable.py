"""An implementation that keeps one release's nodes from starting."""

import vllm

RELEASE = "0.27.1"


def install(app) -> None:
    """Raise in that release, as a package that does not fit it would."""
    if vllm.__version__.startswith(RELEASE):
        raise RuntimeError(f"not for {RELEASE}")
