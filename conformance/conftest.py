"""The suite runs on the harness; everything pytest knows of it is in fixtures.plugin."""

pytest_plugins = ("fixtures.plugin",)
