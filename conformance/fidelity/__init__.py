"""The scripted engine says the same as the real one, so that what it forces can be believed."""
