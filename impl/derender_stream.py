"""Streamed `output_mode="derender"`: text mode's chunks with a chat delta in place of the text.

No release up to 0.33.0 serves it. Each choice keeps one parser for the request's life, the one
coupled chat streaming uses, so that the deltas of a choice, joined, are the message of the full
derender mode. Known exception: vLLM's streaming parsers name a tool call before it is complete, so
a call that is cut off stays a tool call here, and is plain content in the full mode.
"""

from collections.abc import AsyncGenerator
from typing import Any

from impl import compat, protocol
from impl.routed_experts import encode_routed_experts, routed_experts_start

logger = compat.init_logger(f"vllm.{__name__}")


async def derender_stream(
    serving: Any,
    request: Any,
    result_generator: AsyncGenerator[Any, None],
    request_id: str,
    request_metadata: Any,
    chat_request: Any,
) -> AsyncGenerator[str, None]:
    """SSE events: a chunk per choice and engine step, a usage chunk if asked for, `[DONE]`.

    `chat_request` is what the parse context became, None on a server without a parser. An error of
    the engine or of a parser ends the stream with vLLM's error event and `[DONE]`, as it ends a
    text-mode stream.
    """
    try:
        stream = _DerenderStream(serving, request, request_id, chat_request)
        async for result in result_generator:
            stream.see(result)
            for output in result.outputs:
                serving._raise_if_error(output.finish_reason, request_id)
                if (chunk := stream.chunk(output, result.prompt_token_ids)) is not None:
                    yield chunk
        request_metadata.final_usage_info = stream.final_usage()
        if stream.include_usage:
            yield stream.usage_chunk()
    except compat.GenerationError as error:
        yield f"data: {serving._convert_generation_error_to_streaming_response(error)}\n\n"
    except Exception as error:
        logger.exception("Error in the derender stream of request %s.", request_id)
        yield f"data: {serving.create_streaming_error_response(error)}\n\n"
    yield "data: [DONE]\n\n"


class _DerenderStream:
    """What a streamed derender-mode request keeps between engine steps."""

    def __init__(self, serving: Any, request: Any, request_id: str, chat_request: Any) -> None:
        self.serving = serving
        self.request = request
        self.request_id = request_id
        self.sampling_params = request.sampling_params
        self.processors = [self._processor(chat_request) for _ in range(self.sampling_params.n)]
        self.role_sent = [False] * self.sampling_params.n
        # Leading whitespace of each choice's content not yet sent; None once content has begun.
        self.held_blank: list[str | None] = [""] * self.sampling_params.n
        self.tokenizer = serving._logprobs_tokenizer(True)
        self.top_limit = compat.chat_top_logprobs_limit(
            self.sampling_params.logprobs, bool(self.sampling_params.logprob_token_ids)
        )
        self.include_usage, self.include_continuous_usage = compat.should_include_usage(
            request.stream_options, False
        )
        self.num_prompt_tokens = 0
        self.metadata_pending = bool(request.return_token_ids)
        self.last_result: Any = None

    def _processor(self, chat_request: Any) -> Any:
        derenderer = self.serving.online_derenderer
        if chat_request is None:
            plain = protocol.ParseContext().to_chat_request()
            return compat.ChatStreamProcessor(plain, None, enable_auto_tools=False, parser_cls=None)
        parser = derenderer.parser(
            derenderer.renderer.get_tokenizer(),
            chat_request.tools,
            chat_template_kwargs=chat_request.chat_template_kwargs or {},
            model_config=derenderer.model_config,
        )
        parser.set_history_tool_call_count(self.request.parse_context.history_tool_call_cnt)
        return compat.ChatStreamProcessor(
            chat_request,
            parser,
            enable_auto_tools=derenderer.enable_auto_tools,
            parser_cls=derenderer.parser,
        )

    def see(self, result: Any) -> None:
        """Take note of an engine step; the first one says how long the prompt is."""
        if self.last_result is None:
            self.num_prompt_tokens = len(result.prompt_token_ids or ()) + len(
                result.encoder_prompt_token_ids or ()
            )
        self.last_result = result

    def chunk(self, output: Any, prompt_token_ids: list[int] | None) -> str | None:
        """The event for one choice's step, None when the step has nothing to say."""
        token_ids = list(output.token_ids)
        if not (token_ids or output.text or output.finish_reason is not None):
            return None
        processor = self.processors[output.index]
        delta, finish_reason = processor.step(
            output.text, token_ids, output.finish_reason, prompt_token_ids
        )
        delta = delta if delta is not None else compat.DeltaMessage()
        self._hold_blank_content(output.index, delta, finished=finish_reason is not None)
        hidden = processor.hide_metadata
        # Like coupled chat: while the parser withholds everything and nothing else may be shown,
        # there is no chunk.
        if (
            hidden
            and finish_reason is None
            and not (delta.content or delta.reasoning or delta.tool_calls)
        ):
            return None
        if not self.role_sent[output.index]:
            delta.role = "assistant"
            self.role_sent[output.index] = True
        mask = output.sampling_mask
        choice = protocol.GenerateDerenderStreamChoice(
            index=output.index,
            delta=delta,
            # The three that would give hidden reasoning away, as in the full mode.
            logprobs=None if hidden else self._logprobs(output, token_ids),
            token_ids=None if hidden else token_ids,
            sampling_mask=None if hidden or mask is None else mask.token_ids,
            finish_reason=finish_reason,
            stop_reason=output.stop_reason,
            routed_experts=self._routed_experts(output),
            weight_versions=output.weight_versions,
        )
        return self._event(choice, prompt_token_ids)

    def _hold_blank_content(self, index: int, delta: Any, *, finished: bool) -> None:
        """Send whitespace that leads a choice's content only when it is part of the full message.

        The full parse drops content that is nothing but whitespace beside tool calls
        (`Parser.parse`); a delta once sent cannot be dropped, so such whitespace waits for other
        content or for the end.
        """
        processor = self.processors[index]
        held = self.held_blank[index]
        if held is None or not processor.keep_tool_calls:
            return
        content = held + (delta.content or "")
        if content.strip() or (finished and not processor.tools_streamed):
            self.held_blank[index] = None
            delta.content = content or None
        else:
            self.held_blank[index] = content
            delta.content = None

    def _event(self, choice: Any, prompt_token_ids: list[int] | None) -> str:
        chunk = protocol.GenerateDerenderStreamResponse(
            request_id=self.request_id, choices=[choice]
        )
        if self.metadata_pending and prompt_token_ids is not None:
            self.metadata_pending = False
            chunk.prompt_token_ids = prompt_token_ids
            chunk.mm_placeholders = self.request._response_mm_placeholders
        if self.include_continuous_usage:
            chunk.usage = self._usage(self.processors[choice.index].num_output_tokens)
        optional = ("prompt_token_ids", "mm_placeholders", "metrics")
        absent = {name for name in optional if getattr(chunk, name) is None}
        return f"data: {chunk.model_dump_json(exclude=absent)}\n\n"

    def _logprobs(self, output: Any, token_ids: list[int]) -> Any:
        if self.sampling_params.num_logprobs is None:
            return None
        # Placeholders have null bytes here, as in text mode; coupled chat gives the bytes of the
        # decoded token for the sampled token, and those of the placeholder string itself for the
        # candidates.
        return self.serving._create_text_logprobs(
            token_ids=token_ids,
            top_logprobs=output.logprobs,
            tokenizer=self.tokenizer,
            top_limit=self.top_limit,
        )

    def _routed_experts(self, output: Any) -> Any:
        if output.routed_experts is None:
            return None
        start = routed_experts_start(self.sampling_params)
        return encode_routed_experts(
            output.routed_experts, self.serving.routed_experts_encoding, start
        )

    def _usage(self, completion_tokens: int) -> Any:
        total = self.num_prompt_tokens + completion_tokens
        return compat.UsageInfo(
            prompt_tokens=self.num_prompt_tokens,
            completion_tokens=completion_tokens,
            total_tokens=total,
        )

    def final_usage(self) -> Any:
        """Token counts over all choices; cached prompt tokens where the server reports them."""
        usage = self._usage(sum(processor.num_output_tokens for processor in self.processors))
        cached = getattr(self.last_result, "num_cached_tokens", None)
        if self.serving.enable_prompt_tokens_details and cached is not None:
            usage.prompt_tokens_details = compat.PromptTokenUsageInfo(cached_tokens=cached)
        return usage

    def usage_chunk(self) -> str:
        """The event without choices that closes a stream with `stream_options.include_usage`."""
        metrics = None
        if self.sampling_params.n == 1 and self.last_result is not None:
            speculative = compat.build_spec_decoding_metrics(self.last_result)
            metrics = (
                compat.PerRequestMetrics(speculative_decoding=speculative)
                if speculative is not None
                else None
            )
        chunk = protocol.GenerateDerenderStreamResponse(
            request_id=self.request_id, choices=[], usage=self.final_usage(), metrics=metrics
        )
        return f"data: {chunk.model_dump_json(exclude_none=True)}\n\n"
