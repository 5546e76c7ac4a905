"""Which releases the tests of releases run on, and what they ask."""

import os

from fixtures.nodes.lease import Lease
from fixtures.releases import catalogue
from fixtures.wire import Wire

# One release of each layout of vLLM's server code: 10 to 15 seconds each, most of it the import.
LAYOUTS = "0.20.2,0.24.0,0.27.1,0.33.0"
# `A`, `A..B`, several by commas, or "all".
CHOSEN = os.environ.get("TOKENWIRE_RELEASES") or LAYOUTS
RELEASES = catalogue.load().releases if CHOSEN == "all" else catalogue.load().select(CHOSEN)

DERENDERING = [release for release in RELEASES if release.can("derender")]

PROMPT = list(range(40, 60))
MESSAGES = [{"role": "user", "content": "hello world"}]


def wire_of(lease: Lease) -> Wire:
    """Calls to a leased node."""
    return Wire(lease.url, lease.name)
