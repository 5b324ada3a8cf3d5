# SPDX-License-Identifier: Apache-2.0
"""A GGUF file is the model of the config that it was made of: by metadata, and by names of tensors.

Files are written with the `gguf` package, whose names of keys and tensors are llama.cpp's, of the
configs in tests/data/hf: matrices whose rows are of whole blocks as Q8_0, all others as float16.
"""

import csv
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy
import pytest

gguf = pytest.importorskip("gguf")

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests/data/hf"
BLOCK = 32  # of Q8_0

Config = dict[str, Any]


def llama_keys(writer: Any, c: Config) -> None:
    writer.add_context_length(c["max_position_embeddings"])
    writer.add_embedding_length(c["hidden_size"])
    writer.add_block_count(c["num_hidden_layers"])
    writer.add_feed_forward_length(c["intermediate_size"])
    writer.add_head_count(c["num_attention_heads"])
    writer.add_head_count_kv(c["num_key_value_heads"])
    if c.get("head_dim") and "kv_lora_rank" not in c:
        writer.add_key_length(c["head_dim"])
    if "rms_norm_eps" in c:
        writer.add_layer_norm_rms_eps(c["rms_norm_eps"])
    if c.get("sliding_window"):
        writer.add_sliding_window(c["sliding_window"])
    epsilon = c.get("norm_epsilon", c.get("layer_norm_eps"))
    if epsilon is not None:
        writer.add_layer_norm_eps(epsilon)
    share = c["rope_parameters"].get("partial_rotary_factor", 1.0)
    width = c.get("head_dim") or c["hidden_size"] // c["num_attention_heads"]
    writer.add_rope_dimension_count(int(share * width))
    if "use_parallel_residual" in c:
        writer.add_parallel_residual(c["use_parallel_residual"])
    if "logit_scale" in c:
        writer.add_logit_scale(c["logit_scale"])


def granite_keys(writer: Any, c: Config) -> None:
    llama_keys(writer, c)
    writer.add_attention_scale(c["attention_multiplier"])
    writer.add_embedding_scale(c["embedding_multiplier"])
    writer.add_residual_scale(c["residual_multiplier"])
    writer.add_logit_scale(c["logits_scaling"])


def deepseek_keys(writer: Any, c: Config) -> None:
    latent = {"num_key_value_heads": 1, "head_dim": c["qk_rope_head_dim"]}
    llama_keys(writer, {**c, **latent})
    writer.add_q_lora_rank(c["q_lora_rank"])
    writer.add_kv_lora_rank(c["kv_lora_rank"])
    writer.add_key_length_mla(c["qk_nope_head_dim"] + c["qk_rope_head_dim"])
    writer.add_value_length(c["kv_lora_rank"])
    writer.add_value_length_mla(c["v_head_dim"])
    writer.add_leading_dense_block_count(c["first_k_dense_replace"])
    writer.add_expert_count(c["n_routed_experts"])
    writer.add_expert_used_count(c["num_experts_per_tok"])
    writer.add_expert_shared_count(c["n_shared_experts"])
    writer.add_expert_feed_forward_length(c["moe_intermediate_size"])
    writer.add_expert_weights_scale(c["routed_scaling_factor"])
    writer.add_expert_weights_norm(c["norm_topk_prob"])
    writer.add_expert_group_count(c["n_group"])
    writer.add_expert_group_used_count(c["topk_group"])
    writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)


def mamba_keys(writer: Any, c: Config) -> None:
    writer.add_context_length(2**20)
    writer.add_embedding_length(c["hidden_size"])
    writer.add_feed_forward_length(0)
    writer.add_head_count(0)
    writer.add_block_count(c["num_hidden_layers"])
    writer.add_ssm_conv_kernel(c["conv_kernel"])
    writer.add_ssm_inner_size(c["expand"] * c["hidden_size"])
    writer.add_ssm_state_size(c["state_size"])
    writer.add_ssm_time_step_rank(c["num_heads"])
    writer.add_ssm_group_count(c["n_groups"])
    writer.add_layer_norm_rms_eps(c["layer_norm_epsilon"])


def bert_keys(writer: Any, c: Config) -> None:
    writer.add_context_length(c["max_position_embeddings"])
    writer.add_embedding_length(c["hidden_size"])
    writer.add_block_count(c["num_hidden_layers"])
    writer.add_feed_forward_length(c["intermediate_size"])
    writer.add_head_count(c["num_attention_heads"])
    writer.add_layer_norm_eps(c["layer_norm_eps"])
    writer.add_causal_attention(False)


def t5_keys(writer: Any, c: Config) -> None:
    writer.add_context_length(512)
    writer.add_embedding_length(c["d_model"])
    writer.add_feed_forward_length(c["d_ff"])
    writer.add_block_count(c["num_layers"])
    writer.add_decoder_block_count(c["num_decoder_layers"])
    writer.add_head_count(c["num_heads"])
    writer.add_key_length(c["d_kv"])
    writer.add_value_length(c["d_kv"])
    writer.add_relative_attn_buckets_count(c["relative_attention_num_buckets"])
    writer.add_layer_norm_rms_eps(c["layer_norm_epsilon"])
    writer.add_decoder_start_token_id(c["decoder_start_token_id"])


# The config's folder: llama.cpp's architecture, and who writes its keys.
MODELS = {
    "bert-f": ("BERT", bert_keys),
    "cohere-a": ("COMMAND_R", llama_keys),
    "cohere2-a": ("COHERE2", llama_keys),
    "deepseek_v3-a": ("DEEPSEEK2", deepseek_keys),
    "glm4-a": ("GLM4", llama_keys),
    "granite-a": ("GRANITE", granite_keys),
    "llama-a": ("LLAMA", llama_keys),
    "mamba2-a": ("MAMBA2", mamba_keys),
    "olmo2-a": ("OLMO2", llama_keys),
    "olmo3-a": ("OLMO2", llama_keys),
    "phi-a": ("PHI2", llama_keys),
    "qwen3-a": ("QWEN3", llama_keys),
    "smollm3-a": ("SMOLLM3", llama_keys),
    "stablelm-a": ("STABLELM", llama_keys),
    "starcoder2-a": ("STARCODER2", llama_keys),
    "t5-a": ("T5", t5_keys),
    "t5-b": ("T5", t5_keys),
}


def parameters(steelyard: str, folder: Path) -> list[tuple[str, list[int]]]:
    """Of the model that is built of a config, without those that are another's."""
    words = [steelyard, "weigh", str(folder), "--format", "csv", "--table", "tensors"]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return [
        (row["name"], [int(size) for size in row["shape"].split("\u00d7")])
        for row in csv.DictReader(text.splitlines())
        if row["role"] == "parameter" and not row["tied_to"]
    ]


def stored(name: str, shape: list[int], c: Config) -> list[tuple[str, list[int]]]:
    """The tensors that llama.cpp's converter makes of one."""
    if name.endswith("experts.gate_up_proj"):
        halves = [shape[0], shape[1] // 2, shape[2]]
        base = name.removesuffix("gate_up_proj")
        return [(base + "gate_proj.weight", halves), (base + "up_proj.weight", halves)]
    if name.endswith("experts.down_proj"):
        return [(name + ".weight", shape)]
    if name.endswith("kv_b_proj.weight"):
        heads, latent = c["num_attention_heads"], c["kv_lora_rank"]
        return [
            (name.replace("kv_b_proj", "k_b_proj"), [heads, latent, c["qk_nope_head_dim"]]),
            (name.replace("kv_b_proj", "v_b_proj"), [heads, c["v_head_dim"], latent]),
        ]
    return [(name.replace(".dt_bias", ".dt_proj.bias"), shape)]


def write(steelyard: str, folder: Path, arch: str, keys: Any, path: Path) -> None:
    c = json.loads((folder / "config.json").read_text())
    kind = gguf.MODEL_ARCH[arch]
    writer = gguf.GGUFWriter(path, gguf.MODEL_ARCH_NAMES[kind])
    keys(writer, c)
    layers = [c.get(key) or 0 for key in ("num_hidden_layers", "num_layers", "num_decoder_layers")]
    names = gguf.get_tensor_name_map(kind, max(layers))
    for parameter, whole in parameters(steelyard, folder):
        for name, shape in stored(parameter, whole, c):
            called = names.get_name(name, try_suffixes=(".weight", ".bias"))
            assert called is not None, name
            if name.endswith("mlp.gate.weight"):  # routers stay as they are
                writer.add_tensor(called, numpy.zeros(shape, dtype=numpy.float32))
            elif len(shape) > 1 and shape[-1] % BLOCK == 0:
                zeros = numpy.zeros(shape, dtype=numpy.float32)
                packed = gguf.quants.quantize(zeros, gguf.GGMLQuantizationType.Q8_0)
                writer.add_tensor(called, packed, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
            else:
                writer.add_tensor(called, numpy.zeros(shape, dtype=numpy.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def report(steelyard: str, path: Path) -> dict[str, Any]:
    words = [steelyard, "weigh", str(path), "--batch", "2", "--seq", "8", "--format", "json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    parsed: dict[str, Any] = json.loads(done.stdout)
    return parsed


@pytest.mark.parametrize("name", MODELS)
def test_a_file_is_the_model_of_its_config(name: str, steelyard: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.gguf"
    config = json.loads((DATA / name / "config.json").read_text())
    config["dtype"] = "float32"  # in which a quantised model is computed
    config.pop("chunk_size", None)  # of how Mamba is computed, which no file says
    if MODELS[name][0] == "BERT":  # whose files have no pooler
        config["add_pooling_layer"] = False
    (tmp_path / "config.json").write_text(json.dumps(config))
    write(steelyard, tmp_path, *MODELS[name], path)
    found, wanted = report(steelyard, path), report(steelyard, tmp_path / "config.json")
    assert found["parameters"]["count"] == wanted["parameters"]["count"]
    assert found["flops"] == wanted["flops"]
    assert found["parameters"]["bytes"] < wanted["parameters"]["bytes"] / 1.5
