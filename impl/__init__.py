"""The reference implementation of the token-in token-out protocol: subclasses of vLLM's own.

Importing this package never imports vLLM: `impl.teacher_logprobs` is used where vLLM is not
installed.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["install"]


def install(app: "FastAPI") -> None:
    """Make an app whose state vLLM has filled serve the reference; see `impl.app.install`."""
    from impl.app import install as install_in_app

    install_in_app(app)
