"""Lies of the scripted engine: what it says on its own, where a real one says something else."""

from tests.mutants.tools import replace


def _scripted(app):
    """The scripted engine of a node, None on a real one: only the former lies."""
    engine = getattr(app.state, "engine_client", None)
    return engine if hasattr(engine, "scripts") else None


def scripted_logprobs_lose_bits(app) -> None:
    """A scripted engine's logprobs are float16."""
    import numpy

    from fixtures.nodes import engine_outputs

    def lists(honest, rows, *arguments):
        rounded = [
            [[own[0], float(numpy.float16(own[1])), *own[2:]] for own in row] for row in rows
        ]
        return honest(rounded, *arguments)

    replace(app, engine_outputs, **({"logprobs_lists": lists} if _scripted(app) else {}))


def scripted_end_comes_by_itself(app) -> None:
    """A scripted engine sends the finish reason after the last token, without one."""
    from fixtures.nodes.scripted_player import Player

    async def emit(honest, player, batch):
        ends = {}
        for index, values in batch.items():
            if values.get("finish_reason") and values.get("token_ids"):
                ends[index] = {
                    key: values[key] for key in ("finish_reason", "stop_reason") if key in values
                }
                values = {key: value for key, value in values.items() if key not in ends[index]}
            batch = {**batch, index: values}
        await honest(player, batch)
        if ends:
            await honest(player, ends)

    replace(app, Player, **({"_emit": emit} if _scripted(app) else {}))


def scripted_config_is_not_a_started_engines(app) -> None:
    """A scripted node's fingerprint is that of a config that no engine has started with."""
    if _scripted(app):
        for handler in vars(app.state)["_state"].values():
            if hasattr(handler, "system_fingerprint"):
                handler.system_fingerprint = "vllm-00000000"
    replace(app, app)


def scripted_context_is_longer(app) -> None:
    """A scripted engine takes prompts that a real one of the same node refuses."""
    if engine := _scripted(app):
        engine.model_config.max_model_len *= 4
    replace(app, app)
