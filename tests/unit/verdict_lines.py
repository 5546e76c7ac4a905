"""A small catalogue and one entry of known failures, for the tests of verdicts."""

import datetime

from fixtures.catalogue import Catalogue, Requirement

TARGET = "stock@0.33.0"
ENTRY = {
    "target": TARGET,
    "requirement": "g.control",
    "cases": "t::*",
    "reason": "it drops the field",
    "reference": "vllm-project/vllm#1",
    "since": "0.24.0",
    "review_by": datetime.date(2027, 3, 1),
}


def catalogue_of(**needs):
    """A catalogue of `g.NAME` with these needs."""
    return Catalogue(
        {
            f"g.{name}": Requirement(
                f"g.{name}", "MUST", "must", ("generate",), "0.30.0", ("tokenwire",), needed, "g"
            )
            for name, needed in needs.items()
        }
    )
