#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/weights: small files of weights as the libraries write them that people use.

Needs transformers, safetensors, gguf, bitsandbytes and compressed-tensors. The weights are random.
"""

import sys
import tempfile
from pathlib import Path

import gguf
import numpy as np
import torch
from safetensors.torch import load_file, save_file
from transformers import BitsAndBytesConfig, LlamaConfig, LlamaForCausalLM

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "tests/data/weights"

# Sizes that blocks and groups of 32 divide.
CONFIG = LlamaConfig(
    vocab_size=64,
    hidden_size=32,
    intermediate_size=96,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=256,
)


def model() -> LlamaForCausalLM:
    torch.manual_seed(0)
    return LlamaForCausalLM(CONFIG).to(torch.bfloat16)


def write_shards() -> None:
    """As save_pretrained writes a large model: parts and an index."""
    with tempfile.TemporaryDirectory() as folder:
        model().save_pretrained(folder, max_shard_size="30KB")
        keep(Path(folder), OUT / "tiny-llama")


def write_bitsandbytes() -> None:
    """Linear layers in four bits, their scales quantised again."""
    with tempfile.TemporaryDirectory() as folder:
        model().save_pretrained(folder)
        config = BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True
        )
        quantised = LlamaForCausalLM.from_pretrained(
            folder, quantization_config=config, device_map="cpu"
        )
        quantised.save_pretrained(Path(folder, "out"))
        keep(Path(folder, "out"), OUT / "tiny-llama-nf4")


def write_compressed() -> None:
    """Linear layers in four bits, groups of 64, as compressed-tensors packs them."""
    from compressed_tensors.compressors import PackedQuantizationCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme

    packed = {}
    arguments = QuantizationArgs(num_bits=4, strategy="group", group_size=32, symmetric=True)
    scheme = QuantizationScheme(targets=["Linear"], weights=arguments)
    for name, weight in model().state_dict().items():
        if weight.dim() < 2 or "embed" in name or "lm_head" in name:
            packed[name] = weight
            continue
        scale = weight.reshape(weight.shape[0], -1, 32).abs().amax(-1) / 7
        parts = PackedQuantizationCompressor.compress(
            {"weight": weight, "weight_scale": scale}, scheme
        )
        stem = name.removesuffix(".weight")
        packed.update({f"{stem}.{part}": value for part, value in parts.items()})
    path = OUT / "tiny-llama-w4/model.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(packed, path, metadata={"format": "pt"})
    # What of its configuration says how wide the numbers are.
    (path.parent / "config.json").write_text(
        '{"quantization_config": {"config_groups": {"group_0": {"weights": {"num_bits": 4, '
        '"group_size": 32}}}, "quant_method": "compressed-tensors"}}\n'
    )


def write_gguf() -> None:
    """As llama.cpp's converter writes it, quantised by the package gguf."""
    writer = gguf.GGUFWriter(OUT / "tiny-llama-Q4_0.gguf", "llama")
    writer.add_name("Tiny Llama")
    writer.add_context_length(CONFIG.max_position_embeddings)
    writer.add_embedding_length(CONFIG.hidden_size)
    writer.add_block_count(CONFIG.num_hidden_layers)
    writer.add_feed_forward_length(CONFIG.intermediate_size)
    writer.add_head_count(CONFIG.num_attention_heads)
    writer.add_head_count_kv(CONFIG.num_key_value_heads)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)
    writer.add_token_list([f"t{i}" for i in range(CONFIG.vocab_size)])
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, CONFIG.num_hidden_layers)
    for name, weight in model().state_dict().items():
        array = weight.float().numpy()
        kind = gguf.GGMLQuantizationType.F32
        if array.ndim == 2:
            head = "lm_head" in name
            kind = gguf.GGMLQuantizationType.Q8_0 if head else gguf.GGMLQuantizationType.Q4_0
            array = gguf.quants.quantize(array, kind)
        mapped = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert mapped is not None, name
        writer.add_tensor(mapped, np.ascontiguousarray(array), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def keep(source: Path, target: Path) -> None:
    """Copies the files of weights and their index, without what a graph could be made of."""
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.iterdir()):
        if "safetensors" in path.name:
            (target / path.name).write_bytes(path.read_bytes())
    for path in target.glob("*.safetensors"):
        load_file(path)  # as a check that it is one


def main() -> int:
    write_shards()
    write_gguf()
    write_compressed()
    write_bitsandbytes()
    return 0


if __name__ == "__main__":
    sys.exit(main())
