"""What a render node makes of chat and completions requests: ids, and a body ready for generate."""
