"""What was found: the record of a run, and what is made of it. Knows nothing of pytest, of nodes or
of vLLM.
"""
