"""What a client of the protocol makes of a real node's answers."""
