"""Nodes of several releases at work together, as they are while an operator upgrades them."""
