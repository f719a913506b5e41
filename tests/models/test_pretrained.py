"""Pretrained models: GGUF files, batches of prompts, windows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from textassay.errors import InputError, UsageError
from textassay.models.decoding import Decoding
from textassay.models.loading import is_model, load_model
from textassay.models.pretrained import PretrainedModel

pytestmark = pytest.mark.published
TEXTS = ["Once upon a time there was a dog.", "", "The cat sat. " * 9]


@pytest.fixture(scope="module")
def folder() -> Path:
    from tests.conftest import PUBLISHED

    return PUBLISHED / "stories260K"


@pytest.fixture(scope="module")
def model(folder: Path) -> PretrainedModel:
    return PretrainedModel(folder)


def permuted(weights: np.ndarray, heads: int) -> np.ndarray:
    """Rotary halves side by side, as llama.cpp keeps them."""
    rows = weights.shape[0]
    return weights.reshape(heads, 2, rows // heads // 2, -1).swapaxes(1, 2).reshape(weights.shape)


def write_gguf(folder: Path, path: Path) -> None:
    """The model of a folder as GGUF."""
    import gguf

    config = json.loads((folder / "config.json").read_text())
    tokenizer = json.loads((folder / "tokenizer.json").read_text())["model"]
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    writer: Any = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_rope_dimension_count(config["head_dim"])
    writer.add_vocab_size(config["vocab_size"])
    tokens = sorted(tokenizer["vocab"], key=tokenizer["vocab"].get)
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in tokenizer["merges"]]
    kinds = [2 if k == 0 else 3 if k < 3 else 6 if k < 259 else 1 for k in range(len(tokens))]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    scores = {"".join(merge.split(" ")): -float(k) for k, merge in enumerate(merges)}
    writer.add_token_scores([scores.get(token, -1e6) for token in tokens])
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    names = {
        "model.embed_tokens": "token_embd",
        "model.norm": "output_norm",
        "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output",
        "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down",
        "post_attention_layernorm": "ffn_norm",
        "input_layernorm": "attn_norm",
        "model.layers": "blk",
    }
    for name, weights in load_file(folder / "model.safetensors").items():
        if name == "lm_head.weight":
            continue
        if "q_proj" in name or "k_proj" in name:
            weights = permuted(weights, heads if "q_proj" in name else kv_heads)
        for theirs, own in names.items():
            name = name.replace(theirs, own)
        writer.add_tensor(name, weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_gguf_is_the_same_model(folder: Path, model: PretrainedModel, tmp_path: Path) -> None:
    path = tmp_path / "stories.gguf"
    write_gguf(folder, path)
    assert is_model(path)
    read = load_model(path)
    for one, other in zip(
        model.log_probabilities(TEXTS), read.log_probabilities(TEXTS), strict=True
    ):
        assert np.allclose(one, other, atol=1e-4)
    (tmp_path / "broken.gguf").write_bytes(path.read_bytes()[:1000])
    with pytest.raises(InputError, match="holds no causal language model that can be read"):
        load_model(tmp_path / "broken.gguf")


def test_a_text_does_not_depend_on_what_is_beside_it(model: PretrainedModel) -> None:
    prompts = ["Once upon a time", "", "The", "Lily and Tom went to the park and"]
    for decoding in (Decoding(temperature=0), Decoding(beams=3)):
        batch = model.sample(4, decoding, prompts=prompts, max_length=12)
        alone = [model.sample(1, decoding, prompts=[p], max_length=12)[0] for p in prompts]
        assert batch == alone
    drawn = model.sample(4, prompts=prompts, max_length=12, rng=1)
    assert drawn == model.sample(4, prompts=prompts, max_length=12, rng=1)
    wide = Decoding(top_k=10_000, top_p=1.0)
    assert drawn == model.sample(4, wide, prompts=prompts, max_length=12, rng=1)
    greedy, beam = (
        model.sample(1, d, max_length=12)[0] for d in (Decoding(temperature=0), Decoding(beams=8))
    )
    logs = [row[:12].sum() for row in model.log_probabilities([greedy, beam])]
    assert logs[1] >= logs[0] - 1e-3


def test_a_prompt_that_fills_the_window_is_refused(model: PretrainedModel) -> None:
    with pytest.raises(UsageError, match="leaves no room in the model's window of 512"):
        model.sample(1, prompts=["a dog and a cat " * 200], max_length=5)


def test_batches_change_nothing(model: PretrainedModel) -> None:
    one = model.log_probabilities(TEXTS, batch_size=1)
    for other in (model.log_probabilities(TEXTS), model.log_probabilities(TEXTS[::-1])[::-1]):
        assert all(np.allclose(a, b, atol=1e-5) for a, b in zip(one, other, strict=True))


def test_stretches_as_asked_for_where_the_window_holds_them(
    model: PretrainedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Lily went to the park with a big red ball. " * 40
    monkeypatch.setattr(model, "context", 256)
    monkeypatch.setattr(model, "scored", 200)
    (logs,) = model.log_probabilities([text])
    ids, first = model._encoded("", text)
    with torch.inference_mode():
        exact = [model._score([ids[:456]])[0]]
        at = 456
        while at < len(ids):
            exact.append(model._score([ids[at - 256 : at + 200]])[0][255:])
            at += 200
    assert first == 1
    assert np.allclose(logs, np.concatenate(exact), atol=1e-4)


def test_what_looks_like_markup_is_text(model: PretrainedModel) -> None:
    plain, marked = model.log_probabilities(["a b", "a</s>b"])
    assert marked.size > plain.size + 3
    assert not model.closed
    drawn = model.sample(40, Decoding(temperature=5.0), max_length=30, rng=2)
    assert not any("<s>" in text or "<unk>" in text for text in drawn)


def test_a_vocabulary_of_words_is_closed(tmp_path: Path) -> None:
    import tokenizers
    import transformers

    words = {"<unk>": 0, "</s>": 1, "a": 2, "cat": 3}
    tokenizer: Any = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    fast: Any = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", eos_token="</s>", model_max_length=32
    )
    fast.save_pretrained(tmp_path)
    config = transformers.GPT2Config(
        vocab_size=4, n_positions=32, n_embd=8, n_layer=1, n_head=1, eos_token_id=1, bos_token_id=1
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    found = load_model(tmp_path)
    assert found.closed
    assert not any("<unk>" in text for text in found.sample(20, max_length=9, rng=1))
