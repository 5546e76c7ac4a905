"""Lies about images, in render and in generate."""

from tests.mutants.tools import CHAT_RENDER, GENERATE, answers, asked, replace, requests


def _features(app, change) -> None:
    """Pass the features of every rendered chat that has some through `change`, in place."""

    def changed(body: dict) -> dict:
        if body["features"]:
            change(body["features"])
        return body

    answers(app, CHAT_RENDER, changed)


def _sent(app, change) -> None:
    """Pass every generate request with features through `change`, which may return others or None."""

    def changed(body: dict) -> dict:
        if isinstance(body.get("features"), dict):
            body["features"] = change(body["features"])
        return body

    requests(app, GENERATE, changed)


# Render


def hash_of_the_first_image(app) -> None:
    """Every image of a chat has the first one's hash."""

    def change(features: dict) -> None:
        hashes = features["mm_hashes"]["image"]
        features["mm_hashes"]["image"] = [hashes[0]] * len(hashes)

    _features(app, change)


def range_one_token_early(app) -> None:
    """A range begins at the token before its image."""

    def change(features: dict) -> None:
        for own in features["mm_placeholders"]["image"]:
            own["offset"] -= 1

    _features(app, change)


def last_item_lost(app) -> None:
    """kwargs_data is one short of the hashes."""
    _features(app, lambda features: features["kwargs_data"]["image"].pop())


def tokenize_counts_an_image_once(app) -> None:
    """/tokenize has one token for an image, as its text says."""

    def change(body: dict) -> dict:
        tokens = body["tokens"]
        kept = [own for at, own in enumerate(tokens) if own != 497 or tokens[at - 1] != 497]
        return {**body, "tokens": kept, "count": len(kept)}

    answers(app, "/tokenize", change)


def empty_features_for_text(app) -> None:
    """A text prompt has empty features in place of null."""
    empty = {"mm_hashes": {}, "mm_placeholders": {}}
    answers(app, CHAT_RENDER, lambda body: {**body, "features": body["features"] or empty})


def broken_image_left_out(app) -> None:
    """An image that cannot be read is left out of the chat."""

    def change(body: dict) -> dict:
        for message in body["messages"]:
            if isinstance(message["content"], list):
                message["content"] = [
                    own for own in message["content"]
                    if own["type"] == "text" or len(str(own)) > 120
                ] or "hello"  # fmt: skip
        return body

    requests(app, CHAT_RENDER, change)


def pixels_of_half_precision(app) -> None:
    """Pixel values lose the bits that float16 does not have."""
    from vllm.entrypoints.scale_out.token_in_token_out import mm_features

    def encode(honest, item):
        for own in item.values():
            if own.data.is_floating_point():
                own.data = own.data.half().float()
        return honest(item)

    replace(app, mm_features, encode_mm_kwargs_item=encode)


def metadata_with_the_pixels(app) -> None:
    """mm_metadata holds every field."""
    _features(app, lambda features: features.update(mm_metadata=features["kwargs_data"]))


def tensors_on_request_alone(app) -> None:
    """A chat that asks for no payload gets none."""
    requests(app, CHAT_RENDER, lambda body: {"mm_payload": "none", **body})


# Generate


def features_ignored(app) -> None:
    """Features are dropped, and the image's tokens are text."""
    _sent(app, lambda features: None)


def foreign_hashes_ignored(app) -> None:
    """Features count where their hashes are as render makes them, of 64 digits."""

    def change(features: dict) -> dict | None:
        hashes = [own for hashes in features["mm_hashes"].values() for own in hashes]
        return features if all(len(own) == 64 for own in hashes) else None

    _sent(app, change)


def features_without_metadata_ignored(app) -> None:
    """Features count where they have mm_metadata."""
    _sent(app, lambda features: features if features.get("mm_metadata") else None)


def nulls_moved_to_the_end(app) -> None:
    """The items of kwargs_data are read without its nulls, which are put behind them."""

    def change(features: dict) -> dict:
        for items in (features.get("kwargs_data") or {}).values():
            items.sort(key=lambda own: own is None)
        return features

    _sent(app, change)


def features_of_nulls_ignored(app) -> None:
    """Features without any tensors are dropped."""
    _sent(app, lambda features: features if features.get("kwargs_data") else None)


def text_asks_the_cache(app) -> None:
    """A prompt without features is looked up in the multimodal cache."""

    def change(request) -> None:
        cache = app.state.serving_tokens.online_renderer.renderer.mm_processor_cache
        if request.features is None:
            cache._cache.get("text")

    asked(app, change)


def empty_features_refused(app) -> None:
    """Features without an item are a 400."""
    _sent(app, lambda features: features if any(features["mm_hashes"].values()) else 7)


# What generate says of images


def range_of_the_first_image(app) -> None:
    """An answer has the range of the first image alone."""

    def change(body: dict) -> dict:
        for ranges in (body.get("mm_placeholders") or {}).values():
            del ranges[1:]
        return body

    answers(app, GENERATE, change)


def raw_media_not_expanded(app) -> None:
    """With content_parts the prompt comes back as it was sent, with one token for an image."""
    from impl.serving_tokens import ServingTokens

    def fields(honest, handler, request, *arguments):
        built = honest(handler, request, *arguments)
        if request.content_parts and request.return_token_ids:
            built["prompt_token_ids"] = request.token_ids
        return built

    replace(app, ServingTokens, _build_response_fields=fields)


def encoder_names_the_first_place(app) -> None:
    """ec_transfer_params of an image that comes twice name its first place alone."""

    def change(body: dict) -> dict:
        for own in (body.get("ec_transfer_params") or {}).values():
            del own["item_indices"][1:]
        return body

    answers(app, GENERATE, change)
