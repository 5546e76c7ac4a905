"""Logprobs of sampled tokens and of the prompt: shape, order, count and values."""
