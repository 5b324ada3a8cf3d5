# SPDX-License-Identifier: Apache-2.0
"""Decoders whose code began as a copy of Llama's and went other ways, at two sizes each."""

from collections.abc import Callable
from typing import Any

import transformers as t
from hf_row import FLASH, HfModel, text


def small(make: Any, **changes: Any) -> Any:
    """A small config of that class."""
    return make(
        **{
            "hidden_size": 64,
            "intermediate_size": 112,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "vocab_size": 100,
            "pad_token_id": 0,
            **changes,
        }
    )


def other(make: Any, **changes: Any) -> Any:
    """The second size, in another dtype and with eager attention."""
    return small(
        make,
        **{
            "hidden_size": 48,
            "intermediate_size": 80,
            "num_hidden_layers": 3,
            "num_attention_heads": 3,
            "num_key_value_heads": 1,
            "vocab_size": 130,
            "attention_dropout": 0.1,
            "attn_implementation": "eager",
            "dtype": "bfloat16",
            **changes,
        },
    )


LLAMA_LIKE: dict[str, Callable[[], HfModel]] = {
    "granite-a": lambda: text(
        t.GraniteForCausalLM,
        small(
            t.GraniteConfig,
            embedding_multiplier=12.0,
            residual_multiplier=0.22,
            attention_multiplier=0.0625,
            logits_scaling=8.0,
        ),
        2,
        16,
    ),
    "granite-b": lambda: text(
        t.GraniteForCausalLM,
        other(t.GraniteConfig, attention_bias=True, mlp_bias=True, tie_word_embeddings=True),
        3,
        20,
    ),
    "smollm3-a": lambda: text(t.SmolLM3ForCausalLM, small(t.SmolLM3Config), 2, 16),
    "smollm3-b": lambda: text(
        t.SmolLM3ForQuestionAnswering,
        other(
            t.SmolLM3Config,
            no_rope_layer_interval=2,
            use_sliding_window=True,
            sliding_window=6,
            attention_bias=True,
            mlp_bias=True,
        ),
        3,
        13,
    ),
    "smollm3-c": lambda: text(
        t.SmolLM3ForCausalLM,
        small(t.SmolLM3Config, num_hidden_layers=5, no_rope_layers=[1, 1, 0, 1, 0]),
        3,
        9,
    ),
    "olmo2-a": lambda: text(t.Olmo2ForCausalLM, small(t.Olmo2Config), 2, 16),
    "olmo2-b": lambda: text(
        t.Olmo2ForSequenceClassification,
        other(t.Olmo2Config, attention_bias=True, num_labels=5),
        3,
        12,
    ),
    "llama-e": lambda: text(
        t.LlamaForCausalLM,
        small(t.LlamaConfig, **FLASH),
        2,
        16,
    ),
    "mistral-c": lambda: text(
        t.MistralForSequenceClassification,
        other(
            t.MistralConfig,
            attn_implementation="flash_attention_2",
            sliding_window=6,
            num_labels=3,
        ),
        3,
        12,
    ),
    "arcee-a": lambda: text(t.ArceeForCausalLM, small(t.ArceeConfig), 2, 16),
    "arcee-b": lambda: text(
        t.ArceeForSequenceClassification,
        other(t.ArceeConfig, attention_bias=True, mlp_bias=True, num_labels=5),
        3,
        12,
    ),
    "seed_oss-a": lambda: text(t.SeedOssForCausalLM, small(t.SeedOssConfig), 2, 16),
    "seed_oss-b": lambda: text(
        t.SeedOssForTokenClassification,
        other(t.SeedOssConfig, attention_out_bias=True, residual_dropout=0.0, num_labels=5),
        3,
        12,
    ),
    "starcoder2-a": lambda: text(
        t.Starcoder2ForCausalLM, small(t.Starcoder2Config, sliding_window=8), 2, 16
    ),
    "starcoder2-b": lambda: text(
        t.Starcoder2ForTokenClassification,
        other(
            t.Starcoder2Config,
            use_bias=False,
            residual_dropout=0.1,
            embedding_dropout=0.2,
            num_labels=4,
        ),
        3,
        14,
    ),
    "stablelm-a": lambda: text(t.StableLmForCausalLM, small(t.StableLmConfig), 2, 16),
    "stablelm-b": lambda: text(
        t.StableLmForSequenceClassification,
        other(
            t.StableLmConfig,
            use_parallel_residual=True,
            use_qkv_bias=True,
            qk_layernorm=True,
            hidden_dropout=0.1,
            partial_rotary_factor=0.5,
            num_labels=3,
        ),
        3,
        12,
    ),
    "phi-a": lambda: text(t.PhiForCausalLM, small(t.PhiConfig), 2, 16),
    "phi-b": lambda: text(
        t.PhiForTokenClassification,
        other(
            t.PhiConfig,
            qk_layernorm=True,
            resid_pdrop=0.1,
            embd_pdrop=0.2,
            partial_rotary_factor=0.25,
            num_labels=4,
        ),
        3,
        14,
    ),
    "cohere-a": lambda: text(t.CohereForCausalLM, small(t.CohereConfig), 2, 16),
    "cohere-b": lambda: text(
        t.CohereForCausalLM,
        other(t.CohereConfig, use_qk_norm=True, attention_bias=True, tie_word_embeddings=False),
        3,
        20,
    ),
    "glm4-a": lambda: text(t.Glm4ForCausalLM, small(t.Glm4Config, head_dim=16), 2, 16),
    "glm4-b": lambda: text(
        t.Glm4ForSequenceClassification,
        other(t.Glm4Config, head_dim=24, attention_bias=True, num_labels=3),
        3,
        12,
    ),
    "glm-a": lambda: text(t.GlmForCausalLM, small(t.GlmConfig, head_dim=16), 2, 16),
    "glm-b": lambda: text(
        t.GlmForTokenClassification,
        other(t.GlmConfig, head_dim=24, attention_bias=False, num_labels=3),
        3,
        12,
    ),
    "cohere2-a": lambda: text(
        t.Cohere2ForCausalLM,
        small(t.Cohere2Config, num_hidden_layers=5, sliding_window=6),
        2,
        16,
    ),
    "cohere2-b": lambda: text(
        t.Cohere2Model,
        other(t.Cohere2Config, attention_bias=True, sliding_window_pattern=2),
        3,
        20,
    ),
    "ministral-a": lambda: text(
        t.MinistralForCausalLM,
        small(
            t.MinistralConfig,
            head_dim=16,
            num_hidden_layers=3,
            sliding_window=6,
            layer_types=["sliding_attention", "full_attention", "sliding_attention"],
        ),
        2,
        16,
    ),
    "ministral-b": lambda: text(
        t.MinistralForSequenceClassification,
        other(t.MinistralConfig, head_dim=24, num_labels=3, sliding_window=7),
        3,
        12,
    ),
    "olmo3-a": lambda: text(
        t.Olmo3ForCausalLM, small(t.Olmo3Config, num_hidden_layers=5, sliding_window=6), 2, 16
    ),
    "olmo3-b": lambda: text(
        t.Olmo3ForSequenceClassification,
        other(t.Olmo3Config, attention_bias=True, num_labels=5, sliding_window=7),
        3,
        12,
    ),
}
