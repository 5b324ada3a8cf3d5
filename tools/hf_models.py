# SPDX-License-Identifier: Apache-2.0
"""Architectures of transformers at two small sizes each: the oracle of src/models.

A row says which class is made of which config, and what it is called with. The sizes differ in all
that a formula could confuse: heads, groups of heads, widths, depth, vocabulary, batch, sequence.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import transformers as t


def tokens(batch: int, seq: int) -> torch.Tensor:
    return torch.zeros(batch, seq, dtype=torch.long)


@dataclass
class HfModel:
    """A model: `inputs(labelled)` are its arguments; `sizes` are what steelyard is told of them."""

    make: Callable[[Any], torch.nn.Module]
    config: Any
    inputs: Callable[[bool], dict[str, torch.Tensor]]
    sizes: list[str]


def text(make: Callable[[Any], torch.nn.Module], config: Any, batch: int, seq: int) -> HfModel:
    """Token numbers, and labels of the same shape."""

    def inputs(labelled: bool) -> dict[str, torch.Tensor]:
        out = {"input_ids": tokens(batch, seq)}
        return {**out, "labels": tokens(batch, seq)} if labelled else out

    return HfModel(make, config, inputs, ["--batch", str(batch), "--seq", str(seq)])


MODELS: dict[str, Callable[[], HfModel]] = {
    "llama-a": lambda: text(
        t.LlamaForCausalLM,
        t.LlamaConfig(
            hidden_size=64,
            intermediate_size=144,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            vocab_size=100,
        ),
        2,
        16,
    ),
    "llama-b": lambda: text(
        t.LlamaForCausalLM,
        t.LlamaConfig(
            hidden_size=48,
            intermediate_size=80,
            num_hidden_layers=3,
            num_attention_heads=3,
            head_dim=24,
            vocab_size=321,
            attention_bias=True,
            mlp_bias=True,
            tie_word_embeddings=True,
            attention_dropout=0.1,
        ),
        3,
        40,
    ),
}
