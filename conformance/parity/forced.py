"""One forced output by both routes: the scripted engine says the same ids to each."""

from typing import Any

from conformance.support import derender_each
from fixtures.nodes.script import output
from fixtures.wire import Wire

REQUEST = {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 100}


async def whole(
    wire: Wire, token_ids: list[int], finish_reason: str, **fields: Any
) -> tuple[dict, dict]:
    """(split, coupled) full answers to a request with `fields`, the output forced."""
    request = {**REQUEST, **fields}
    script = await wire.engine.script([output(token_ids, finish_reason=finish_reason)])
    coupled = (await wire.chat(request, script=script)).expect(200).json
    rendered = (await wire.render_chat(request)).expect(200).json
    script = await wire.engine.script([output(token_ids, finish_reason=finish_reason)])
    generated = (await wire.generate(rendered, script=script)).expect(200).json
    assert generated["choices"][0]["token_ids"] == token_ids
    split = await wire.derender_chat(
        generate_response=generated,
        chat_request={"model": "tiny", **request},
        prompt_tokens=len(rendered["token_ids"]),
        prompt_token_ids=rendered["token_ids"],
    )
    return split.expect(200).json, coupled


async def streamed(
    wire: Wire, token_ids: list[int], finish_reason: str, **fields: Any
) -> tuple[list[dict], list[dict]]:
    """(split, coupled) chat chunks to a request with `fields`, forced one token a chunk."""
    request, last = {**REQUEST, **fields}, len(token_ids) - 1
    steps = [
        output([token_id], finish_reason=finish_reason if at == last else None)
        for at, token_id in enumerate(token_ids)
    ]
    coupled = await wire.chat_stream(request, script=await wire.engine.script(steps))
    rendered = (await wire.render_chat(request, stream=True)).expect(200).json
    generated = await wire.generate_stream(rendered, script=await wire.engine.script(steps))
    chunks = generated.expect(200).chunks
    assert [own for part in chunks for own in part["choices"][0]["token_ids"]] == token_ids
    answers = await derender_each(
        wire.derender_chat,
        chunks,
        chat_request={"model": "tiny", **request},
        prompt_token_ids=rendered["token_ids"],
    )
    return [answer.json["chunk"] for answer in answers], coupled.expect(200).chunks
