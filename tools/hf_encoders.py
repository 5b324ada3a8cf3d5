# SPDX-License-Identifier: Apache-2.0
"""Models that read a text from both sides, at two sizes or more each."""

from collections.abc import Callable
from typing import Any

import transformers as t
from hf_row import FLASH, HfModel, text


def small(config: Any, **changes: Any) -> Any:
    """A config of the names that BERT's has, first size."""
    return config(
        **{
            "hidden_size": 48,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "intermediate_size": 112,
            "vocab_size": 99,
            "max_position_embeddings": 40,
            **changes,
        }
    )


def other(config: Any, **changes: Any) -> Any:
    """The second size, with eager attention."""
    return config(
        **{
            "hidden_size": 60,
            "num_hidden_layers": 3,
            "num_attention_heads": 5,
            "intermediate_size": 144,
            "vocab_size": 131,
            "max_position_embeddings": 50,
            "num_labels": 5,
            "attn_implementation": "eager",
            **changes,
        }
    )


ENCODERS: dict[str, Callable[[], HfModel]] = {
    "mpnet-a": lambda: text(t.MPNetModel, small(t.MPNetConfig), 2, 16),
    "mpnet-b": lambda: text(
        t.MPNetForMaskedLM, other(t.MPNetConfig, dtype="bfloat16", hidden_act="gelu_new"), 3, 24
    ),
    "mpnet-c": lambda: text(t.MPNetForSequenceClassification, other(t.MPNetConfig), 2, 11),
    "mpnet-d": lambda: text(t.MPNetForTokenClassification, other(t.MPNetConfig), 3, 9),
    "mpnet-e": lambda: text(t.MPNetForQuestionAnswering, small(t.MPNetConfig), 2, 12),
    "bert-a": lambda: text(t.BertForMaskedLM, small(t.BertConfig), 2, 16),
    "bert-b": lambda: text(
        t.BertForSequenceClassification,
        other(t.BertConfig, hidden_act="relu", type_vocab_size=3, attention_probs_dropout_prob=0.0),
        3,
        24,
    ),
    "bert-c": lambda: text(
        t.BertForMaskedLM,
        other(t.BertConfig, hidden_dropout_prob=0.0),
        2,
        20,
    ),
    "bert-d": lambda: text(
        t.BertForTokenClassification,
        small(t.BertConfig, classifier_dropout=0.3, num_labels=7),
        1,
        9,
    ),
    "bert-e": lambda: text(t.BertForQuestionAnswering, small(t.BertConfig), 4, 11),
    "bert-f": lambda: text(t.BertModel, small(t.BertConfig, pad_token_id=None), 2, 12),
    "bert-g": lambda: text(t.BertLMHeadModel, small(t.BertConfig, is_decoder=True), 2, 12),
    "bert-h": lambda: text(t.BertForPreTraining, other(t.BertConfig), 2, 10),
    "bert-i": lambda: text(
        t.BertForMaskedLM,
        small(t.BertConfig, hidden_size=64, num_attention_heads=4, **FLASH),
        2,
        16,
    ),
    "bert-j": lambda: text(
        t.BertLMHeadModel,
        small(t.BertConfig, hidden_size=64, num_attention_heads=4, is_decoder=True, **FLASH),
        3,
        12,
    ),
    "roberta-a": lambda: text(t.RobertaForMaskedLM, small(t.RobertaConfig), 2, 16),
    "roberta-b": lambda: text(
        t.RobertaForSequenceClassification,
        other(t.RobertaConfig, type_vocab_size=1, classifier_dropout=0.2, pad_token_id=3),
        3,
        24,
    ),
    "roberta-c": lambda: text(t.RobertaForTokenClassification, other(t.RobertaConfig), 2, 20),
    "roberta-d": lambda: text(t.RobertaForQuestionAnswering, small(t.RobertaConfig), 4, 11),
    "roberta-e": lambda: text(t.RobertaModel, other(t.RobertaConfig), 2, 12),
    "roberta-f": lambda: text(
        t.RobertaForSequenceClassification,
        small(t.RobertaConfig, hidden_size=64, num_attention_heads=4, **FLASH),
        2,
        12,
    ),
    "xlm_roberta-a": lambda: text(t.XLMRobertaForMaskedLM, small(t.XLMRobertaConfig), 2, 14),
    "xlm_roberta-b": lambda: text(
        t.XLMRobertaForSequenceClassification, other(t.XLMRobertaConfig, dtype="bfloat16"), 3, 22
    ),
    "xlm_roberta-c": lambda: text(
        t.XLMRobertaForMaskedLM,
        small(t.XLMRobertaConfig, hidden_size=64, num_attention_heads=4, **FLASH),
        3,
        12,
    ),
    "camembert-c": lambda: text(
        t.CamembertForMaskedLM,
        small(t.CamembertConfig, hidden_size=64, num_attention_heads=4, **FLASH),
        2,
        12,
    ),
    "electra-h": lambda: text(
        t.ElectraForMaskedLM,
        small(t.ElectraConfig, hidden_size=64, embedding_size=24, **FLASH),
        2,
        16,
    ),
    "distilbert-f": lambda: text(
        t.DistilBertForMaskedLM,
        t.DistilBertConfig(dim=64, n_layers=2, n_heads=4, hidden_dim=112, vocab_size=99, **FLASH),
        2,
        16,
    ),
    "albert-f": lambda: text(
        t.AlbertForMaskedLM,
        small(t.AlbertConfig, hidden_size=64, embedding_size=24, **FLASH),
        2,
        16,
    ),
    "camembert-a": lambda: text(t.CamembertForTokenClassification, small(t.CamembertConfig), 3, 13),
    "camembert-b": lambda: text(
        t.CamembertForMaskedLM, other(t.CamembertConfig, type_vocab_size=1), 2, 18
    ),
    "electra-a": lambda: text(
        t.ElectraForMaskedLM,
        small(t.ElectraConfig, embedding_size=24, tie_word_embeddings=False),
        2,
        16,
    ),
    "electra-b": lambda: text(
        t.ElectraForSequenceClassification,
        other(t.ElectraConfig, embedding_size=60, hidden_act="gelu_new"),
        3,
        24,
    ),
    "electra-c": lambda: text(
        t.ElectraForPreTraining, other(t.ElectraConfig, embedding_size=36), 2, 20
    ),
    "electra-d": lambda: text(
        t.ElectraForTokenClassification, small(t.ElectraConfig, embedding_size=24), 2, 10
    ),
    "electra-e": lambda: text(
        t.ElectraForQuestionAnswering, small(t.ElectraConfig, embedding_size=16), 4, 11
    ),
    "electra-f": lambda: text(t.ElectraModel, small(t.ElectraConfig, embedding_size=16), 2, 12),
    "electra-g": lambda: text(
        t.ElectraForCausalLM, small(t.ElectraConfig, embedding_size=16, is_decoder=True), 2, 12
    ),
    "distilbert-a": lambda: text(
        t.DistilBertForMaskedLM,
        t.DistilBertConfig(
            dim=48, n_layers=2, n_heads=4, hidden_dim=112, vocab_size=99, max_position_embeddings=40
        ),
        2,
        16,
    ),
    "distilbert-b": lambda: text(
        t.DistilBertForSequenceClassification,
        t.DistilBertConfig(
            dim=60,
            n_layers=3,
            n_heads=5,
            hidden_dim=144,
            vocab_size=131,
            max_position_embeddings=50,
            activation="relu",
            sinusoidal_pos_embds=True,
            num_labels=5,
            attention_dropout=0.0,
            attn_implementation="eager",
        ),
        3,
        24,
    ),
    "distilbert-c": lambda: text(
        t.DistilBertForTokenClassification,
        t.DistilBertConfig(
            dim=36, n_layers=2, n_heads=3, hidden_dim=80, vocab_size=77, num_labels=4
        ),
        2,
        20,
    ),
    "distilbert-d": lambda: text(
        t.DistilBertForQuestionAnswering,
        t.DistilBertConfig(dim=24, n_layers=1, n_heads=2, hidden_dim=64, vocab_size=59),
        4,
        11,
    ),
    "distilbert-e": lambda: text(
        t.DistilBertModel,
        t.DistilBertConfig(dim=24, n_layers=3, n_heads=4, hidden_dim=40, vocab_size=61),
        2,
        12,
    ),
    "albert-a": lambda: text(
        t.AlbertForMaskedLM, small(t.AlbertConfig, embedding_size=24, num_hidden_layers=3), 2, 16
    ),
    "albert-b": lambda: text(
        t.AlbertForSequenceClassification,
        other(
            t.AlbertConfig,
            embedding_size=36,
            num_hidden_layers=4,
            num_hidden_groups=2,
            inner_group_num=2,
            hidden_act="gelu",
            classifier_dropout_prob=0.2,
        ),
        3,
        24,
    ),
    "albert-c": lambda: text(
        t.AlbertForTokenClassification, small(t.AlbertConfig, embedding_size=24), 2, 20
    ),
    "albert-d": lambda: text(
        t.AlbertForQuestionAnswering, small(t.AlbertConfig, embedding_size=48), 4, 11
    ),
    "albert-e": lambda: text(t.AlbertModel, small(t.AlbertConfig, embedding_size=16), 2, 12),
}
