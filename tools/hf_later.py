# SPDX-License-Identifier: Apache-2.0
"""Encoders after BERT that place tokens by rotation or by distance, and state space models."""

from collections.abc import Callable
from typing import Any

import transformers as t
from hf_row import FLASH, HfModel, text


def modern(**changes: Any) -> Any:
    """A small ModernBERT."""
    return t.ModernBertConfig(
        **{
            "hidden_size": 48,
            "intermediate_size": 72,
            "num_hidden_layers": 4,
            "num_attention_heads": 4,
            "vocab_size": 99,
            "max_position_embeddings": 64,
            "local_attention": 8,
            "pad_token_id": 0,
            **changes,
        }
    )


def other_modern(**changes: Any) -> Any:
    """The second size, with all options and eager attention."""
    return modern(
        hidden_size=60,
        intermediate_size=80,
        num_hidden_layers=3,
        num_attention_heads=5,
        vocab_size=131,
        attn_implementation="eager",
        **changes,
    )


def deberta(**changes: Any) -> Any:
    """A small DeBERTa, with the options that version 3 has."""
    return t.DebertaV2Config(
        **{
            "hidden_size": 48,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "intermediate_size": 112,
            "vocab_size": 99,
            "max_position_embeddings": 40,
            "relative_attention": True,
            "position_buckets": 6,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
            "pos_att_type": "p2c|c2p",
            "position_biased_input": False,
            **changes,
        }
    )


def mamba(**changes: Any) -> Any:
    """A small Mamba of version 2."""
    return t.Mamba2Config(
        **{
            "hidden_size": 24,
            "num_heads": 6,
            "head_dim": 8,
            "state_size": 5,
            "n_groups": 2,
            "num_hidden_layers": 2,
            "vocab_size": 51,
            "chunk_size": 4,
            **changes,
        }
    )


LATER: dict[str, Callable[[], HfModel]] = {
    "modernbert-a": lambda: text(t.ModernBertForMaskedLM, modern(), 2, 16),
    "modernbert-b": lambda: text(
        t.ModernBertForSequenceClassification,
        other_modern(
            norm_bias=True,
            attention_bias=True,
            mlp_bias=True,
            classifier_bias=True,
            attention_dropout=0.1,
            mlp_dropout=0.1,
            embedding_dropout=0.1,
            classifier_dropout=0.2,
            classifier_pooling="mean",
            hidden_activation="silu",
            num_labels=5,
            dtype="bfloat16",
        ),
        3,
        24,
    ),
    "modernbert-c": lambda: text(
        t.ModernBertForTokenClassification,
        modern(layer_types=["sliding_attention", "full_attention"], num_hidden_layers=2),
        2,
        11,
    ),
    "modernbert-d": lambda: text(
        t.ModernBertForQuestionAnswering, other_modern(dtype="bfloat16"), 4, 9
    ),
    "modernbert-h": lambda: text(
        t.ModernBertForMaskedLM,
        modern(
            hidden_size=64, num_attention_heads=4, num_hidden_layers=4, local_attention=6, **FLASH
        ),
        2,
        16,
    ),
    "modernbert-e": lambda: text(t.ModernBertModel, modern(), 2, 12),
    "modernbert-f": lambda: text(
        t.ModernBertForMaskedLM,
        other_modern(decoder_bias=False, tie_word_embeddings=False, dtype="bfloat16"),
        2,
        13,
    ),
    "modernbert-g": lambda: text(
        t.ModernBertForSequenceClassification, modern(num_labels=3), 2, 10
    ),
    "deberta_v2-a": lambda: text(t.DebertaV2ForMaskedLM, deberta(), 2, 16),
    "deberta_v2-b": lambda: text(
        t.DebertaV2ForSequenceClassification,
        deberta(
            hidden_size=60,
            num_hidden_layers=3,
            num_attention_heads=5,
            embedding_size=36,
            share_att_key=False,
            position_buckets=-1,
            position_biased_input=True,
            type_vocab_size=2,
            norm_rel_ebd="none",
            conv_kernel_size=3,
            conv_act="gelu",
            pooler_dropout=0.2,
            pooler_hidden_act="tanh",
            num_labels=5,
            problem_type="single_label_classification",
            dtype="bfloat16",
        ),
        3,
        24,
    ),
    "deberta_v2-c": lambda: text(t.DebertaV2Model, deberta(pos_att_type=["c2p"]), 2, 9),
    "deberta_v2-d": lambda: text(
        t.DebertaV2ForTokenClassification,
        deberta(relative_attention=False, num_labels=4, hidden_dropout_prob=0.0),
        2,
        11,
    ),
    "deberta_v2-e": lambda: text(
        t.DebertaV2ForMaskedLM,
        deberta(
            legacy=False,
            share_att_key=False,
            pos_att_type=["p2c"],
            conv_kernel_size=5,
            num_hidden_layers=3,
        ),
        3,
        13,
    ),
    "deberta_v2-f": lambda: text(
        t.DebertaV2ForQuestionAnswering,
        deberta(position_buckets=4, dtype="bfloat16", cls_dropout=0.3),
        4,
        10,
    ),
    "mamba2-a": lambda: text(t.Mamba2ForCausalLM, mamba(), 2, 10),
    "mamba2-b": lambda: text(
        t.Mamba2ForCausalLM,
        mamba(
            hidden_size=36,
            num_heads=9,
            head_dim=12,
            expand=3,
            state_size=7,
            n_groups=3,
            num_hidden_layers=3,
            conv_kernel=3,
            chunk_size=6,
            use_bias=True,
            use_conv_bias=False,
            time_step_limit=[0.0, 1.0],
            tie_word_embeddings=True,
            dtype="bfloat16",
        ),
        3,
        18,
    ),
    "mamba2-c": lambda: text(
        t.Mamba2Model, mamba(n_groups=1, residual_in_fp32=False, dtype="bfloat16"), 2, 7
    ),
}
