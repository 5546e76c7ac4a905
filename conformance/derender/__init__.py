"""What a derender node makes of generated ids: text, messages, logprobs and usage, whole or chunk by chunk."""
