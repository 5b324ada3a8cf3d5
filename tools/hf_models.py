# SPDX-License-Identifier: Apache-2.0
"""Architectures of transformers at two small sizes each: the oracle of src/models.

A row says which class is made of which config, and what it is called with. The sizes differ in all
that a formula could confuse: heads, groups of heads, widths, depth, vocabulary, batch, sequence.
"""

from collections.abc import Callable

import transformers as t
from hf_decoders import DECODERS
from hf_encoders import ENCODERS
from hf_later import LATER
from hf_llama_like import LLAMA_LIKE
from hf_recent import RECENT
from hf_row import HfModel, text
from hf_seq2seq import SEQ2SEQ
from hf_vision import VISION

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
    **DECODERS,
    **ENCODERS,
    **SEQ2SEQ,
    **LATER,
    **LLAMA_LIKE,
    **RECENT,
    **VISION,
}
