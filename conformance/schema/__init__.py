"""What a node says is what its own OpenAPI document says."""
