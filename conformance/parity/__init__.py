"""The same request by the coupled route and by render, generate, derender: the answers must be the same."""
