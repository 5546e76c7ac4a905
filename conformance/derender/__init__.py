"""What a derender node makes of generated ids: text, messages, logprobs, usage."""
