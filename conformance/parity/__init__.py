"""One request, coupled and by render, generate, derender: the answers must be the same."""
