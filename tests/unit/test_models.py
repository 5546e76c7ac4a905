"""The tiny models: the same bytes every time, fixed token ids, a template that renders."""

import hashlib
import json
import shutil
import threading

import numpy
import pytest
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment
from safetensors import safe_open
from tokenizers import Tokenizer, pre_tokenizers

from fixtures import models
from fixtures.models import ensure, recipes, render_only, tokenizer, vocabulary, weights

# Change these only with the recipe, and know that every recorded exchange changes with them.
DIGESTS = {
    "tiny": {
        "config.json": ("7f5c44dc1c7ccf1c0715be2a8c50372f723eb9d6f1df70b39fd5bee1e147200b"),
        "model.safetensors": ("8e891e9fe94b484590548c99b975b111aa3b9ea30b78b262a73f32c3886124fe"),
        "tokenizer.json": ("6b88ddeaca6802843046cde51f08ca2053be631a35172bf9e13a308c1bd9b57b"),
        "tokenizer_config.json": (
            "b5dcd8ef12d0a63462ef3823a353293c55d98f642f20a63785aa65fbd2a32b0b"
        ),
    },
    "tiny-moe": {
        "config.json": ("84e18180ef19a92a6b2c39f7c79aa3974fd88bdffe3ff1d61d5a5ddf24fcc4a0"),
        "model.safetensors": ("80274495b146fa7f066745d09c5e9d2567b091f321e823a4ba5d2d736cc18aa4"),
        "tokenizer.json": ("6b88ddeaca6802843046cde51f08ca2053be631a35172bf9e13a308c1bd9b57b"),
        "tokenizer_config.json": (
            "b5dcd8ef12d0a63462ef3823a353293c55d98f642f20a63785aa65fbd2a32b0b"
        ),
    },
    "tiny-lora": {
        "adapter_config.json": ("c0a3d2e8886eabd6d3105600bbede9cfcd45fc08eb24318f35777651b52e1e15"),
        "adapter_model.safetensors": (
            "8d144946310f7b9cab0ee0b9c1abb8e467bbe85f1f323ba41aa8a0072df22a84"
        ),
    },
    "metaspace": {
        "config.json": ("9f79604c5beb69cfc6cca934ce844507681f56497d949fda9338e937ff9a02b6"),
        "tokenizer.json": ("627660a402b9054d8b644258f3cea4449c2b710c0ea95697dc12c8990362871f"),
        "tokenizer_config.json": (
            "8215cc32205ca9a6512f0b90523d41212591c941a30c2b952ef8c45067172902"
        ),
    },
    "harmony": {
        "config.json": ("1890f14a480384123302f29c821b214cc8d52f611ac4705048260826e022d8a9"),
        "tokenizer.json": ("c932ce9f8de584326de275e5b1e997e2821872429b89a864eef8171211c6751c"),
        "tokenizer_config.json": (
            "69410296def3d918c1125824b358e4befd8b8354a98d5a85a5c643428044164d"
        ),
    },
    "tiny-vision": {
        "config.json": ("92d355fdcd16d925642b3c3d675b8e31e378bd2f0612ca49eea46e61a50fde7e"),
        "model.safetensors": ("44c3ac27afe0e988b057db9e8f7353ec1e143f31eefaa9dca77860dcc7848b0b"),
        "preprocessor_config.json": (
            "96d026b8d035c3c74d4cf93a136571c0d2664172ab5e211cb73730b29db06a7c"
        ),
        "processor_config.json": (
            "cc057d6b6a3b0002f09375fae46a00bf3734717b2793ca78b36b5184315f91e1"
        ),
        "tokenizer.json": ("15a339101a025d8969af3cac418a9157223ca289d224a10c22f93f3d19d5cb24"),
        "tokenizer_config.json": (
            "ece7165bdc1acfe5364eed722afed89c61052425be6dfd8483c2764613a8d979"
        ),
    },
}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TOKENWIRE_CACHE", str(tmp_path))
    return tmp_path / "models"


@pytest.mark.parametrize("name", DIGESTS)
def test_a_model_is_the_same_bytes_every_time(name):
    written = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in ensure(name).iterdir()
    }
    assert written == DIGESTS[name]


def test_a_model_is_written_once_and_found_again():
    first = ensure()
    moment = (first / "config.json").stat().st_mtime_ns
    assert ensure() == first
    assert (first / "config.json").stat().st_mtime_ns == moment


@pytest.mark.parametrize("name", models.MODELS)
def test_a_model_with_a_missing_file_is_written_anew(name, cache):
    place = ensure(name)
    whole = sorted(file.name for file in place.iterdir())
    (place / whole[0]).unlink()
    shutil.copytree(place, cache / f"{place.name}.writing-dead")
    assert ensure(name) == place
    assert sorted(file.name for file in place.iterdir()) == whole
    assert sorted(entry.name for entry in cache.iterdir()) == [place.name, f"{name}.lock"]


def test_many_may_ask_at_once(cache):
    found = []
    askers = [threading.Thread(target=lambda: found.append(ensure())) for _ in range(4)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert len(found) == 4 and len(set(found)) == 1
    assert len(list(cache.iterdir())) == 2


def test_an_unknown_model_names_the_known_ones():
    with pytest.raises(KeyError, match="tiny, tiny-moe, tiny-lora, metaspace, harmony"):
        ensure("large")


def test_the_vocabulary_is_the_models_vocabulary():
    config = json.loads((ensure() / "config.json").read_text())
    assert config["vocab_size"] == tokenizer().get_vocab_size() == 496
    assert config["eos_token_id"] == tokenizer().token_to_id("<|im_end|>") == 2
    assert sorted(vocabulary.vocabulary().values()) == list(range(496))


def test_the_first_ids_are_fixed():
    assert [tokenizer().id_to_token(number) for number in range(7)] == [
        "<|endoftext|>",
        "<|im_start|>",
        "<|im_end|>",
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
    ]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    assert [tokenizer().id_to_token(number) for number in range(7, 263)] == alphabet


@pytest.mark.parametrize(
    "text",
    [
        "Hello, world",
        "  two  blanks\n\ttab\r\n",
        "h\u00e9llo \u4e16\u754c \U0001f389 e\u0301 \u200d",
        '{"name": "get_weather", "arguments": {"city": "Paris"}}',
        "<|im_start|>user\nhi<|im_end|>\n<think>\n\n</think>\n<tool_call>",
        "".join(map(chr, range(256))),
    ],
)
def test_text_survives_the_tokenizer(text):
    ids = tokenizer().encode(text, add_special_tokens=False).ids
    assert tokenizer().decode(ids, skip_special_tokens=False) == text


def test_common_words_are_few_tokens_and_multi_byte_characters_one_token_a_byte():
    def count(text):
        return len(tokenizer().encode(text, add_special_tokens=False).ids)

    assert count(" the") == count("user") == count("assistant") == count(" world") == 1
    assert count("\u00e9") == 2 and count("\u4e16") == 3 and count("\U0001f389") == 4


def test_only_the_control_tokens_are_skipped_in_text():
    shown = tokenizer().decode(list(range(7)), skip_special_tokens=True)
    assert shown == "<think></think><tool_call></tool_call>"


def test_weights_are_named_and_shaped_as_the_config_says():
    shapes = {}
    with safe_open(ensure() / "model.safetensors", "numpy") as file:
        for name in file.keys():  # noqa: SIM118 (safe_open is no mapping)
            part = file.get_slice(name)
            assert part.get_dtype() == "BF16"
            shapes[name] = part.get_shape()
        assert file.metadata() == {"format": "pt"}
    assert len(shapes) == 3 + 2 * 11
    assert shapes["model.embed_tokens.weight"] == shapes["lm_head.weight"] == [496, 128]
    assert shapes["model.layers.1.self_attn.k_proj.weight"] == [64, 128]
    assert shapes["model.layers.0.mlp.down_proj.weight"] == [128, 256]
    assert shapes["model.layers.0.self_attn.q_norm.weight"] == [32]


def test_every_expert_and_every_adapter_part_is_there():
    with safe_open(ensure("tiny-moe") / "model.safetensors", "numpy") as file:
        experts = [name for name in file.keys() if ".experts." in name]  # noqa: SIM118
    assert len(experts) == recipes.LAYERS * recipes.EXPERTS * 3
    with safe_open(ensure("tiny-lora") / "adapter_model.safetensors", "numpy") as file:
        assert len(list(file.keys())) == recipes.LAYERS * 2 * 2


def test_drawn_numbers_are_nearly_normal_and_depend_on_the_name_alone():
    drawn = weights.normal("a", (100, 1000))
    assert abs(drawn.mean()) < 0.002
    assert drawn.std() == pytest.approx(weights.INITIAL_DEVIATION, rel=0.01)
    assert (weights.normal("a", (100, 1000)) == drawn).all()
    assert (weights.normal("b", (100, 1000)) != drawn).any()


def test_bfloat16_rounds_to_nearest_and_ties_to_even():
    step = 2.0**-7
    values = numpy.array([1, -1, 1 + step / 2, 1 + 3 * step / 2, 1 + step * 0.51, 1 + step * 0.49])
    stored = numpy.frombuffer(weights.bfloat16(values), "<u2").astype("<u4") << 16
    expected = [1, -1, 1, 1 + 2 * step, 1 + step, 1]
    assert stored.view("<f4").tolist() == expected


class _Generation(Extension):
    """Reads the tag by which a template marks what the assistant wrote; it changes no output."""

    tags = frozenset({"generation"})

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def rendered(messages, **settings):
    config = json.loads((ensure() / "tokenizer_config.json").read_text())
    jinja = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation]
    )
    jinja.filters["tojson"] = json.dumps
    return jinja.from_string(config["chat_template"]).render(messages=messages, **settings)


def test_the_template_renders_turns_as_chatml():
    conversation = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "ho"},
    ]
    assert rendered(conversation) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n"
        "<|im_start|>user\nhi<|im_end|>\n"
        "<|im_start|>assistant\nho<|im_end|>\n"
    )


@pytest.mark.parametrize(
    ("settings", "end"),
    [
        ({}, ""),
        ({"add_generation_prompt": True}, "<|im_start|>assistant\n"),
        ({"add_generation_prompt": True, "enable_thinking": True}, "<|im_start|>assistant\n"),
        (
            {"add_generation_prompt": True, "enable_thinking": False},
            "<|im_start|>assistant\n<think>\n\n</think>\n\n",
        ),
    ],
)
def test_the_template_opens_the_answer(settings, end):
    user = [{"role": "user", "content": "hi"}]
    assert rendered(user, **settings) == f"<|im_start|>user\nhi<|im_end|>\n{end}"


def test_the_template_renders_tools_calls_and_their_answers():
    conversation = [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"function": {"name": "f", "arguments": {"a": 1}}},
                {"function": {"name": "g", "arguments": '{"b": 2}'}},
            ],
        },
        {"role": "tool", "content": "x"},
        {"role": "tool", "content": "y"},
    ]
    tool = {"type": "function", "function": {"name": "f"}}
    assert rendered(conversation, tools=[tool]) == (
        "<|im_start|>system\nAnswer with a <tool_call> to use one of these tools.\n"
        f"<tools>\n{json.dumps(tool)}\n</tools><|im_end|>\n"
        "<|im_start|>user\nq<|im_end|>\n"
        "<|im_start|>assistant\n"
        '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>\n'
        '<tool_call>\n{"name": "g", "arguments": {"b": 2}}\n</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\nx\n</tool_response>\n"
        "<tool_response>\ny\n</tool_response><|im_end|>\n"
    )


def test_the_metaspace_decoder_drops_the_first_space():
    made = Tokenizer.from_file(str(ensure("metaspace") / "tokenizer.json"))
    hello, world = (made.token_to_id(piece) for piece in ("▁hello", "▁world"))
    assert made.decode([hello, world]) == "hello world"
    assert made.decode([world]) == "world"


def test_harmonys_special_tokens_have_o200ks_ids():
    made = Tokenizer.from_file(str(ensure("harmony") / "tokenizer.json"))
    for token, number in render_only.HARMONY_SPECIAL.items():
        assert made.token_to_id(token) == number
    assert made.encode("!<|channel|>é").ids == [0, 200005, 127, 102]


def test_a_command_line_word_may_name_a_models_folder():
    assert models.placed("name={tiny-lora}") == f"name={ensure('tiny-lora')}"
    assert models.placed('{"tiny": {}}') == '{"tiny": {}}'
