"""What clients send during a rolling run: kinds of greedy chat, each with its prompts."""

from conformance.support import WEATHER_TOOL

PROMPTS = ("hello world", "the quick brown fox", "日本 🦊", "one two", "a", "é", "3 4 5", "{}")
TOKENS = {"max_tokens": 6}
STREAM = {"stream": True, "stream_options": {"include_usage": True}}
LOGPROBS = {"logprobs": True, "top_logprobs": 2}
# The model would never call a tool by itself; thinking stays off, or the call were part of it.
CALL = {
    "tools": [WEATHER_TOOL],
    "tool_choice": {"type": "function", "function": {"name": "get_weather"}},
    "chat_template_kwargs": {"enable_thinking": False},
    "max_tokens": 64,
}


def traffic(*kinds: tuple[str, dict, int]) -> dict[str, dict]:
    """Kind and prompt -> request; a kind is (name, what it asks for, how many of the prompts)."""
    return {
        f"{name}: {prompt}": {
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
            **asked,
        }
        for name, asked, count in kinds
        for prompt in PROMPTS[:count]
    }


# A streamed call is forty steps, so there is one.
CHAT = traffic(
    ("full", TOKENS, 8),
    ("stream", TOKENS | STREAM, 4),
    ("tools", CALL, 2),
    ("stream of tools", CALL | STREAM, 1),
)
CHAT_WITH_LOGPROBS = traffic(
    ("full", TOKENS, 4),
    ("stream", TOKENS | STREAM, 4),
    ("logprobs", TOKENS | LOGPROBS, 4),
    ("stream of logprobs", TOKENS | LOGPROBS | STREAM, 4),
)
# Long enough that a node which is killed dies with some of them.
LONG_CHAT = traffic(
    ("full", {"max_tokens": 48}, 8),
    ("stream", TOKENS | STREAM, 4),
    ("tools", CALL, 2),
)
