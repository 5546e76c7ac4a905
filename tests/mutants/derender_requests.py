"""Lies of derender about what it takes and what it refuses."""

from tests.mutants.tools import derender_asked


def _generated(body: dict) -> list[dict]:
    """The generate answers of a derender request, or its chunk."""
    found = [body.get("generate_response"), body.get("generate_chunk")]
    found += body.get("generate_responses") or []
    return [own for own in found if isinstance(own, dict)]


def missing_is_filled_in(app) -> None:
    """Answers of generate that a full body lacks are empty ones, and ids that it lacks are one id."""

    def change(body: dict) -> dict:
        if body.get("stream"):
            return body
        body["generate_response"] = body.get("generate_response") or {"choices": []}
        body["generate_responses"] = body.get("generate_responses") or [{"choices": []}]
        for choice in (choice for own in _generated(body) for choice in own["choices"]):
            # The end of text is an id that no text shows.
            choice["token_ids"] = choice.get("token_ids") or [0]
        return body

    derender_asked(app, change)


def null_prompt_logprobs_refused(app) -> None:
    """A generate answer whose prompt_logprobs are null is a 400."""

    def change(body: dict) -> dict:
        for own in _generated(body):
            if own.get("prompt_logprobs", []) is None:
                own["prompt_logprobs"] = 0
        return body

    derender_asked(app, change)


def every_level_taken(app) -> None:
    """output_mode of a generate answer is not read."""

    def change(body: dict) -> dict:
        for own in _generated(body):
            own.pop("output_mode", None)
        return body

    derender_asked(app, change)


def prompt_counts_corrected(app) -> None:
    """A prompt count that is a fraction is cut, and a list of another length is filled up or cut."""

    def change(body: dict) -> dict:
        counts = body.get("prompt_tokens")
        if isinstance(counts, float):
            body["prompt_tokens"] = int(counts)
        if isinstance(counts, list):
            none = [0] * len(body["generate_responses"])
            body["prompt_tokens"] = [*counts, *none][: len(none)]
        return body

    derender_asked(app, change)
