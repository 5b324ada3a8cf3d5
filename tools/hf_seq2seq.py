# SPDX-License-Identifier: Apache-2.0
"""Models that read one sequence and write another, at two sizes or more each."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
import transformers as t
from hf_row import FLASH, HfModel, attention_of, device_of, labels_of, text, tokens

Inputs = dict[str, torch.Tensor]


def written(make: Any, config: Any, batch: int, seq: int, target: int) -> HfModel:
    """Reads `seq` tokens and writes `target`: those of the labels, where it takes them."""
    sizes = ["--batch", str(batch), "--seq", str(seq), *attention_of(config)]
    sizes += [f"--input={name}={batch}x{target}" for name in ("decoder_input_ids", "labels")]

    def inputs(labelled: bool) -> Inputs:
        return {"input_ids": tokens(batch, seq), **target_of(make, labelled, batch, target)}

    return HfModel(make, config, inputs, sizes, device=device_of(config))


def heard(make: Any, config: Any, batch: int, target: int) -> HfModel:
    """Hears sound of the one length that there is and writes `target` tokens."""
    length = 2 * config.max_source_positions

    def inputs(labelled: bool) -> Inputs:
        sound = torch.zeros(batch, config.num_mel_bins, length, dtype=config.dtype)
        return {"input_features": sound, **target_of(make, labelled, batch, target)}

    sizes = ["--batch", str(batch), "--seq", str(target), *attention_of(config)]
    return HfModel(make, config, inputs, sizes, device=device_of(config))


def classified(make: Any, config: Any, batch: int) -> HfModel:
    """Hears sound of the one length that there is and says what it is."""

    def inputs(labelled: bool) -> Inputs:
        length = 2 * config.max_source_positions
        sound = torch.zeros(batch, config.num_mel_bins, length, dtype=config.dtype)
        labels = {"labels": tokens(batch)} if labelled else {}
        return {"input_features": sound, **labels}

    return HfModel(make, config, inputs, ["--batch", str(batch), *attention_of(config)])


def target_of(make: Any, labelled: bool, batch: int, length: int) -> Inputs:
    """Labels, or what the decoder starts with."""
    labels = labels_of(make.__name__, batch, length) if labelled else {}
    return labels or {"decoder_input_ids": tokens(batch, length)}


STARTS_WITH_0: dict[str, Any] = {"decoder_start_token_id": 0}


def small_bart(**changes: Any) -> Any:
    return t.BartConfig(
        d_model=24,
        encoder_layers=1,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=3,
        encoder_ffn_dim=40,
        decoder_ffn_dim=56,
        vocab_size=51,
        max_position_embeddings=32,
        **changes,
    )


SEQ2SEQ: dict[str, Callable[[], HfModel]] = {
    "t5-a": lambda: written(
        t.T5ForConditionalGeneration,
        t.T5Config(
            d_model=48,
            d_kv=8,
            d_ff=112,
            num_layers=2,
            num_decoder_layers=3,
            num_heads=4,
            vocab_size=99,
            **STARTS_WITH_0,
        ),
        2,
        16,
        9,
    ),
    "t5-b": lambda: written(
        t.T5ForConditionalGeneration,
        t.T5Config(
            d_model=40,
            d_kv=12,
            d_ff=96,
            num_layers=3,
            num_heads=5,
            vocab_size=131,
            feed_forward_proj="gated-gelu",
            relative_attention_num_buckets=16,
            relative_attention_max_distance=50,
            dropout_rate=0.0,
            tie_word_embeddings=False,
            **STARTS_WITH_0,
            dtype="bfloat16",
            attn_implementation="eager",
        ),
        3,
        10,
        24,
    ),
    "t5-c": lambda: written(
        t.T5Model,
        t.T5Config(d_model=24, d_kv=8, d_ff=40, num_layers=1, num_heads=2, vocab_size=51),
        2,
        7,
        7,
    ),
    "t5-d": lambda: text(
        t.T5EncoderModel,
        t.T5Config(
            d_model=32,
            d_kv=6,
            d_ff=72,
            num_layers=2,
            num_heads=3,
            vocab_size=63,
            feed_forward_proj="gated-silu",
            dtype="bfloat16",
        ),
        2,
        12,
    ),
    "t5-e": lambda: text(
        t.T5ForQuestionAnswering,
        t.T5Config(
            d_model=24, d_kv=8, d_ff=40, num_layers=2, num_heads=2, vocab_size=47, **STARTS_WITH_0
        ),
        3,
        11,
    ),
    "t5-f": lambda: text(
        t.T5ForTokenClassification,
        t.T5Config(
            d_model=24, d_kv=8, d_ff=40, num_layers=2, num_heads=2, vocab_size=47, num_labels=4
        ),
        2,
        10,
    ),
    "t5-g": lambda: replace(
        text(
            t.T5ForSequenceClassification,
            t.T5Config(
                d_model=24,
                d_kv=8,
                d_ff=40,
                num_layers=2,
                num_heads=2,
                vocab_size=47,
                num_labels=4,
                **STARTS_WITH_0,
            ),
            3,
            11,
        ),
        data_sizes=["--size=u0=1", "--size=u1=3"],
    ),
    "mt5-a": lambda: written(
        t.MT5ForConditionalGeneration,
        t.MT5Config(
            d_model=48, d_kv=8, d_ff=112, num_layers=2, num_heads=4, vocab_size=99, **STARTS_WITH_0
        ),
        2,
        16,
        9,
    ),
    "mt5-b": lambda: text(
        t.MT5ForTokenClassification,
        t.MT5Config(
            d_model=40,
            d_kv=12,
            d_ff=96,
            num_layers=3,
            num_heads=5,
            vocab_size=131,
            feed_forward_proj="relu",
            num_labels=4,
            dtype="bfloat16",
            attn_implementation="eager",
        ),
        3,
        10,
    ),
    "umt5-a": lambda: written(
        t.UMT5ForConditionalGeneration,
        t.UMT5Config(
            d_model=48, d_kv=8, d_ff=112, num_layers=2, num_heads=4, vocab_size=99, **STARTS_WITH_0
        ),
        2,
        16,
        9,
    ),
    "umt5-b": lambda: written(
        t.UMT5ForConditionalGeneration,
        t.UMT5Config(
            d_model=40,
            d_kv=12,
            d_ff=96,
            num_layers=3,
            num_decoder_layers=2,
            num_heads=5,
            vocab_size=131,
            relative_attention_num_buckets=16,
            relative_attention_max_distance=50,
            **STARTS_WITH_0,
            dtype="bfloat16",
            attn_implementation="eager",
        ),
        3,
        10,
        24,
    ),
    "bart-a": lambda: written(
        t.BartForConditionalGeneration,
        t.BartConfig(
            d_model=48,
            encoder_layers=2,
            decoder_layers=3,
            encoder_attention_heads=4,
            decoder_attention_heads=3,
            encoder_ffn_dim=96,
            decoder_ffn_dim=112,
            vocab_size=99,
            max_position_embeddings=40,
        ),
        2,
        16,
        9,
    ),
    "bart-b": lambda: written(
        t.BartForConditionalGeneration,
        t.BartConfig(
            d_model=60,
            encoder_layers=3,
            decoder_layers=2,
            encoder_attention_heads=5,
            decoder_attention_heads=6,
            encoder_ffn_dim=144,
            decoder_ffn_dim=80,
            vocab_size=131,
            max_position_embeddings=50,
            activation_function="relu",
            dropout=0.0,
            attention_dropout=0.1,
            activation_dropout=0.2,
            scale_embedding=True,
            tie_word_embeddings=False,
            dtype="bfloat16",
            attn_implementation="eager",
        ),
        3,
        10,
        24,
    ),
    "bart-f": lambda: written(
        t.BartForConditionalGeneration,
        t.BartConfig(
            d_model=48,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=3,
            decoder_attention_heads=6,
            encoder_ffn_dim=96,
            decoder_ffn_dim=112,
            vocab_size=99,
            max_position_embeddings=40,
            attention_dropout=0.1,
            **FLASH,
        ),
        2,
        16,
        9,
    ),
    "bart-c": lambda: written(t.BartModel, small_bart(), 3, 7, 5),
    "bart-d": lambda: text(t.BartForQuestionAnswering, small_bart(), 3, 11),
    "bart-e": lambda: replace(
        text(t.BartForSequenceClassification, small_bart(num_labels=4), 3, 11),
        data_sizes=["--size=u0=1", "--size=u1=3"],
    ),
    "whisper-d": lambda: classified(
        t.WhisperForAudioClassification,
        t.WhisperConfig(
            d_model=36,
            encoder_layers=2,
            encoder_attention_heads=3,
            encoder_ffn_dim=56,
            vocab_size=51,
            num_mel_bins=14,
            max_source_positions=19,
            classifier_proj_size=22,
            num_labels=7,
        ),
        3,
    ),
    "whisper-e": lambda: classified(
        t.WhisperForAudioClassification,
        t.WhisperConfig(
            d_model=40,
            encoder_layers=3,
            encoder_attention_heads=5,
            decoder_attention_heads=5,
            encoder_ffn_dim=64,
            vocab_size=51,
            num_mel_bins=10,
            max_source_positions=12,
            dropout=0.1,
            dtype="bfloat16",
            attn_implementation="eager",
        ),
        2,
    ),
    "whisper-a": lambda: heard(
        t.WhisperForConditionalGeneration,
        t.WhisperConfig(
            d_model=48,
            encoder_layers=2,
            decoder_layers=3,
            encoder_attention_heads=4,
            decoder_attention_heads=3,
            encoder_ffn_dim=96,
            decoder_ffn_dim=112,
            vocab_size=99,
            num_mel_bins=20,
            max_source_positions=30,
            max_target_positions=24,
            pad_token_id=3,
        ),
        2,
        9,
    ),
    "whisper-f": lambda: heard(
        t.WhisperForConditionalGeneration,
        t.WhisperConfig(
            d_model=48,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=3,
            decoder_attention_heads=3,
            encoder_ffn_dim=96,
            decoder_ffn_dim=112,
            vocab_size=99,
            num_mel_bins=20,
            max_source_positions=30,
            max_target_positions=24,
            pad_token_id=3,
            **FLASH,
        ),
        2,
        9,
    ),
    "whisper-b": lambda: heard(
        t.WhisperForConditionalGeneration,
        t.WhisperConfig(
            d_model=60,
            encoder_layers=3,
            decoder_layers=2,
            encoder_attention_heads=5,
            decoder_attention_heads=6,
            encoder_ffn_dim=144,
            decoder_ffn_dim=80,
            vocab_size=131,
            num_mel_bins=12,
            max_source_positions=17,
            max_target_positions=40,
            activation_function="relu",
            dropout=0.1,
            attention_dropout=0.1,
            activation_dropout=0.2,
            tie_word_embeddings=False,
            pad_token_id=5,
            dtype="bfloat16",
            attn_implementation="eager",
        ),
        3,
        11,
    ),
    "whisper-c": lambda: heard(
        t.WhisperModel,
        t.WhisperConfig(
            d_model=24,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=40,
            decoder_ffn_dim=40,
            vocab_size=51,
            num_mel_bins=8,
            max_source_positions=10,
            max_target_positions=12,
            pad_token_id=5,
            dtype="float16",
        ),
        2,
        7,
    ),
}
