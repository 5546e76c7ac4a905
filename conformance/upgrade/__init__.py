"""Mixes of releases: what an operator meets who upgrades one role, or one node, after another."""
