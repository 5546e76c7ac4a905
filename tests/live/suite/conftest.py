"""A small suite on the harness, run by the tests beside it in processes of its own."""

pytest_plugins = ("fixtures.plugin",)
