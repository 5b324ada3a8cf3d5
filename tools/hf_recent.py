# SPDX-License-Identifier: Apache-2.0
"""Decoders of later years, with and without experts, at two sizes each."""

from collections.abc import Callable

import transformers as t
from hf_llama_like import other, small
from hf_row import HfModel, text

RECENT: dict[str, Callable[[], HfModel]] = {
    "ernie4_5-a": lambda: text(t.Ernie4_5ForCausalLM, small(t.Ernie4_5Config, head_dim=16), 2, 16),
    "ernie4_5-b": lambda: text(
        t.Ernie4_5ForCausalLM,
        other(t.Ernie4_5Config, head_dim=24, use_bias=True, tie_word_embeddings=False),
        3,
        12,
    ),
    "glm4_moe-a": lambda: text(
        t.Glm4MoeForCausalLM,
        small(
            t.Glm4MoeConfig,
            moe_intermediate_size=32,
            n_routed_experts=8,
            num_experts_per_tok=3,
            n_group=4,
            topk_group=2,
            use_qk_norm=True,
        ),
        2,
        16,
    ),
    "glm4_moe-b": lambda: text(
        t.Glm4MoeForCausalLM,
        other(
            t.Glm4MoeConfig,
            moe_intermediate_size=24,
            n_routed_experts=6,
            num_experts_per_tok=2,
            n_shared_experts=2,
            attention_bias=True,
            norm_topk_prob=False,
        ),
        3,
        12,
    ),
    "granitemoe-a": lambda: text(
        t.GraniteMoeForCausalLM,
        small(
            t.GraniteMoeConfig,
            num_local_experts=4,
            num_experts_per_tok=2,
            attention_multiplier=0.5,
            embedding_multiplier=12.0,
            residual_multiplier=0.22,
            logits_scaling=6.0,
        ),
        2,
        16,
    ),
    "granitemoe-b": lambda: text(
        t.GraniteMoeForCausalLM,
        other(
            t.GraniteMoeConfig,
            num_local_experts=6,
            num_experts_per_tok=3,
            attention_bias=True,
            output_router_logits=True,
        ),
        3,
        12,
    ),
    "olmo-a": lambda: text(t.OlmoForCausalLM, small(t.OlmoConfig), 2, 16),
    "olmo-b": lambda: text(
        t.OlmoForSequenceClassification,
        other(t.OlmoConfig, clip_qkv=8.0, attention_bias=True, num_labels=3),
        3,
        12,
    ),
    "olmoe-a": lambda: text(
        t.OlmoeForCausalLM,
        small(t.OlmoeConfig, num_experts=4, num_experts_per_tok=2),
        2,
        16,
    ),
    "olmoe-b": lambda: text(
        t.OlmoeForCausalLM,
        other(
            t.OlmoeConfig,
            num_experts=6,
            num_experts_per_tok=3,
            clip_qkv=8.0,
            norm_topk_prob=True,
            attention_bias=True,
            output_router_logits=True,
        ),
        3,
        12,
    ),
    "hunyuan_v1_dense-a": lambda: text(
        t.HunYuanDenseV1ForCausalLM, small(t.HunYuanDenseV1Config, head_dim=16), 2, 16
    ),
    "hunyuan_v1_dense-b": lambda: text(
        t.HunYuanDenseV1ForSequenceClassification,
        other(t.HunYuanDenseV1Config, head_dim=24, attention_bias=True, num_labels=3),
        3,
        12,
    ),
    "gpt_oss-a": lambda: text(
        t.GptOssForCausalLM,
        small(
            t.GptOssConfig,
            head_dim=16,
            num_local_experts=4,
            num_experts_per_tok=2,
            sliding_window=6,
            attn_implementation="eager",
        ),
        2,
        16,
    ),
    "gpt_oss-b": lambda: text(
        t.GptOssForSequenceClassification,
        other(
            t.GptOssConfig,
            head_dim=24,
            num_local_experts=6,
            num_experts_per_tok=3,
            sliding_window=7,
            attention_bias=False,
            num_labels=3,
        ),
        3,
        12,
    ),
    "exaone4-a": lambda: text(
        t.Exaone4ForCausalLM,
        small(t.Exaone4Config, num_hidden_layers=5, sliding_window=6, sliding_window_pattern=4),
        2,
        16,
    ),
    "exaone4-b": lambda: text(
        t.Exaone4ForTokenClassification,
        other(
            t.Exaone4Config, sliding_window=None, layer_types=["full_attention"] * 3, num_labels=3
        ),
        3,
        12,
    ),
}
