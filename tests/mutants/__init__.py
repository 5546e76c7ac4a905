"""Small lying implementations on top of the reference; each docstring is the lie.

A mutant is a callable for `--impl tests.mutants.MODULE:CALLABLE`: it runs inside a node, so these
modules import only the standard library, vLLM and impl. `caught.toml` names the case that catches
each; tests/mutants/test_mutants.py proves it.
"""
