"""A pytest plugin: the catalogue of releases says that the newest one cannot derender."""

from fixtures.releases import catalogue

_newest = catalogue.load().newest
object.__setattr__(_newest, "capabilities", _newest.capabilities - {"derender"})
