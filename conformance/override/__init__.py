"""return_tokens_as_token_ids (true, false, null) through render, generate and derender."""
