"""The numbers: logprobs of sampled tokens and of the prompt, their shape, order, count and values."""
