"""Exchanges as a report keeps them: bounded in size, and without the secrets a request carried."""

import base64
import codecs
import json
import re
from collections.abc import Iterable, Mapping, Sequence

MAX_BODY = 64 * 1024  # bytes kept of a body, characters kept of a message or a curl line
MAX_EXCHANGES = 20  # kept of a case: the first ones and the last
MAX_HEADER = 8 * 1024  # characters kept of a header's value
HIDDEN = "(hidden)"
SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key"}
)

_SECRET_NAMES = "|".join(sorted(SECRET_HEADERS, key=len, reverse=True))
_IN_TEXT = (
    # A header in a curl line or in the print of a mapping; one that is a shell variable stays.
    (rf"""(?i)\b({_SECRET_NAMES})(['"]?\s*:\s*['"]?)(?![\s$])[^'"\r\n]+""", rf"\1\2{HIDDEN}"),
    (r"""(--api-key(?:=|\s+)['"]?)[^\s'"]+""", rf"\1{HIDDEN}"),
    (r"""(://)[^/@\s'"]+@""", rf"\1{HIDDEN}@"),  # user and password of a URL
)


def evidence(exchanges: Sequence[Mapping], made: int | None = None) -> dict:
    """The part of a case line that holds its exchanges; made in the worker, before it travels.

    `made`: how many exchanges the case made, where `exchanges` is not all of them. Each maps
    method, path, url?, request_headers, request (bytes, text, a JSON value or None), status (0 or
    None where no answer came), headers, body (bytes, text or None), seconds, node, curl, error?;
    other keys are left out. Headers are a mapping or pairs.
    """
    kept = exchanges
    if len(exchanges) > MAX_EXCHANGES:
        kept = [*exchanges[: MAX_EXCHANGES - 1], exchanges[-1]]
    line: dict = {"exchanges": [_exchange(exchange) for exchange in kept]}
    if left_out := max(made or 0, len(exchanges)) - len(kept):
        line["exchanges_left_out"] = left_out
    return line


def hide_in_text(text: str) -> str:
    """`text` without the secrets that can be known by what stands before them."""
    for pattern, replacement in _IN_TEXT:
        text = re.sub(pattern, replacement, text)
    return text


def bounded_text(text: str, limit: int = MAX_BODY) -> str:
    """`text`, cut at `limit` characters with a mark that says how many are gone."""
    if len(text) <= limit:
        return text
    mark = f" … ({len(text)} characters in all)"
    return text[: limit - len(mark)] + mark


def _exchange(exchange: Mapping) -> dict:
    line = {
        "method": exchange["method"],
        "path": _text(exchange["path"]),
        "request_headers": _headers(exchange.get("request_headers")),
        "request": _body(exchange.get("request")),
        "status": exchange["status"] or None,
        "headers": _headers(exchange.get("headers")),
        "body": _body(exchange.get("body")),
        "seconds": exchange["seconds"],
        "node": exchange["node"],
        "curl": _text(exchange["curl"]),
    }
    for key in ("url", "error"):
        if exchange.get(key) is not None:
            line[key] = _text(str(exchange[key]))
    return line


def _headers(headers: Mapping | Iterable[tuple[str, str]] | None) -> dict[str, str]:
    """Lower-case names to values; those of one name are joined as HTTP joins them."""
    kept: dict[str, str] = {}
    for name, value in headers.items() if isinstance(headers, Mapping) else headers or ():
        name = name.lower()
        if name in SECRET_HEADERS:
            kept[name] = HIDDEN
        else:
            kept[name] = f"{kept[name]}, {value}" if name in kept else value
    return {name: bounded_text(value, MAX_HEADER) for name, value in kept.items()}


def _text(text: str) -> str:
    return bounded_text(hide_in_text(text))


def _body(body: object) -> dict | None:
    """{"text" or "base64": the first bytes, "bytes": the size of the whole, "truncated": true where
    the rest is left out}.
    """
    if body is None:
        return None
    if not isinstance(body, (bytes, str)):
        body = json.dumps(body, ensure_ascii=False)
    data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    kept: dict = {"bytes": len(data)}
    if len(data) > MAX_BODY:
        kept["truncated"] = True
    head = data[:MAX_BODY]
    try:
        # final=False lets go of a character that the bound cut in two; nothing else is forgiven.
        kept["text"] = codecs.getincrementaldecoder("utf-8")().decode(head, len(data) <= MAX_BODY)
    except UnicodeDecodeError:
        kept["base64"] = base64.b64encode(head).decode()
    return kept
