# SPDX-License-Identifier: Apache-2.0
"""Models that see images, at two sizes each."""

from collections.abc import Callable
from typing import Any

import torch
import transformers as t
from hf_row import FLASH, HfModel, attention_of, device_of, text, tokens


def image(make: Any, config: Any, batch: int, seq: int | None = None) -> HfModel:
    """Images as large as the config says, and texts; labels where the head takes them."""
    vision = getattr(config, "vision_config", config)
    size = vision.image_size
    height, width = size if isinstance(size, (list, tuple)) else (size, size)

    def inputs(labelled: bool) -> dict[str, Any]:
        out: dict[str, Any] = {} if seq is None else {"input_ids": tokens(batch, seq)}
        out["pixel_values"] = torch.zeros(
            batch, vision.num_channels, height, width, dtype=config.dtype
        )
        if labelled and seq is not None:
            out["return_loss"] = True
        elif labelled and make.__name__.endswith("ForImageClassification"):
            out["labels"] = tokens(batch)
        return out

    sizes = ["--batch", str(batch)]
    sizes += [] if seq is None else ["--seq", str(seq)]
    sizes += attention_of(config)
    return HfModel(make, config, inputs, sizes, device=device_of(config))


VISION: dict[str, Callable[[], HfModel]] = {
    "deit-a": lambda: image(
        t.DeiTForImageClassification,
        t.DeiTConfig(
            hidden_size=48,
            intermediate_size=112,
            num_hidden_layers=2,
            num_attention_heads=4,
            image_size=32,
            patch_size=8,
            num_labels=10,
        ),
        2,
    ),
    "deit-b": lambda: image(
        t.DeiTForImageClassificationWithTeacher,
        t.DeiTConfig(
            hidden_size=60,
            intermediate_size=80,
            num_hidden_layers=3,
            num_attention_heads=5,
            image_size=24,
            patch_size=6,
            qkv_bias=False,
            num_labels=7,
            attn_implementation="eager",
            dtype="bfloat16",
        ),
        3,
    ),
    "deit-c": lambda: image(
        t.DeiTModel,
        t.DeiTConfig(
            hidden_size=24,
            intermediate_size=56,
            num_hidden_layers=1,
            num_attention_heads=2,
            image_size=22,
            patch_size=5,
            pooler_output_size=20,
        ),
        4,
    ),
    "dinov2-a": lambda: image(
        t.Dinov2ForImageClassification,
        t.Dinov2Config(
            hidden_size=48,
            num_hidden_layers=2,
            num_attention_heads=4,
            image_size=28,
            patch_size=7,
            num_labels=10,
        ),
        2,
    ),
    "dinov2-b": lambda: image(
        t.Dinov2ForImageClassification,
        t.Dinov2Config(
            hidden_size=60,
            mlp_ratio=3,
            num_hidden_layers=3,
            num_attention_heads=5,
            image_size=24,
            patch_size=6,
            num_channels=1,
            qkv_bias=False,
            use_swiglu_ffn=True,
            use_mask_token=False,
            drop_path_rate=0.1,
            hidden_dropout_prob=0.1,
            attention_probs_dropout_prob=0.2,
            num_labels=5,
            attn_implementation="eager",
            dtype="bfloat16",
        ),
        3,
    ),
    "dinov2-c": lambda: image(
        t.Dinov2Model,
        t.Dinov2Config(
            hidden_size=24,
            num_hidden_layers=1,
            num_attention_heads=2,
            image_size=22,
            patch_size=5,
            hidden_act="gelu_new",
        ),
        4,
    ),
    "vit-f": lambda: image(
        t.ViTForImageClassification,
        t.ViTConfig(
            hidden_size=64,
            intermediate_size=112,
            num_hidden_layers=2,
            num_attention_heads=4,
            image_size=32,
            patch_size=8,
            **FLASH,
        ),
        2,
    ),
    "deit-f": lambda: image(
        t.DeiTForImageClassification,
        t.DeiTConfig(
            hidden_size=64,
            intermediate_size=112,
            num_hidden_layers=2,
            num_attention_heads=4,
            image_size=32,
            patch_size=8,
            **FLASH,
        ),
        2,
    ),
    "dinov2-f": lambda: image(
        t.Dinov2ForImageClassification,
        t.Dinov2Config(
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            image_size=28,
            patch_size=7,
            num_labels=10,
            **FLASH,
        ),
        2,
    ),
    "vit-a": lambda: image(
        t.ViTForImageClassification,
        t.ViTConfig(
            hidden_size=48,
            intermediate_size=112,
            num_hidden_layers=2,
            num_attention_heads=4,
            image_size=32,
            patch_size=8,
            num_labels=10,
        ),
        2,
    ),
    "vit-b": lambda: image(
        t.ViTForImageClassification,
        t.ViTConfig(
            hidden_size=60,
            intermediate_size=80,
            num_hidden_layers=3,
            num_attention_heads=5,
            image_size=[24, 36],
            patch_size=[6, 4],
            num_channels=1,
            qkv_bias=False,
            hidden_act="gelu_new",
            hidden_dropout_prob=0.1,
            attention_probs_dropout_prob=0.2,
            attn_implementation="eager",
        ),
        3,
    ),
    "vit-c": lambda: image(
        t.ViTModel,
        t.ViTConfig(
            hidden_size=24,
            intermediate_size=56,
            num_hidden_layers=1,
            num_attention_heads=2,
            image_size=22,
            patch_size=5,
            pooler_output_size=20,
            pooler_act="relu",
            dtype="bfloat16",
        ),
        4,
    ),
    "clip-a": lambda: image(
        t.CLIPModel,
        t.CLIPConfig(
            text_config={
                "hidden_size": 48,
                "intermediate_size": 72,
                "num_hidden_layers": 2,
                "num_attention_heads": 4,
                "vocab_size": 99,
                "max_position_embeddings": 30,
                "eos_token_id": 98,
            },
            vision_config={
                "hidden_size": 60,
                "intermediate_size": 112,
                "num_hidden_layers": 3,
                "num_attention_heads": 3,
                "image_size": 24,
                "patch_size": 6,
            },
            projection_dim=40,
        ),
        2,
        9,
    ),
    "clip-b": lambda: image(
        t.CLIPModel,
        t.CLIPConfig(
            text_config={
                "hidden_size": 30,
                "intermediate_size": 44,
                "num_hidden_layers": 3,
                "num_attention_heads": 5,
                "vocab_size": 111,
                "max_position_embeddings": 40,
                "eos_token_id": 2,
                "attention_dropout": 0.1,
                "hidden_act": "gelu",
            },
            vision_config={
                "hidden_size": 28,
                "intermediate_size": 50,
                "num_hidden_layers": 2,
                "num_attention_heads": 2,
                "image_size": 20,
                "patch_size": 4,
                "num_channels": 1,
                "attention_dropout": 0.2,
            },
            projection_dim=24,
            attn_implementation="eager",
        ),
        3,
        13,
    ),
    "clip-c": lambda: image(
        t.CLIPForImageClassification,
        t.CLIPConfig(
            text_config={"num_hidden_layers": 1},
            vision_config={
                "hidden_size": 20,
                "intermediate_size": 36,
                "num_hidden_layers": 2,
                "num_attention_heads": 2,
                "image_size": 18,
                "patch_size": 6,
            },
            num_labels=7,
        ),
        4,
    ),
    "clip-f": lambda: image(
        t.CLIPModel,
        t.CLIPConfig(
            text_config={
                "hidden_size": 64,
                "intermediate_size": 72,
                "num_hidden_layers": 2,
                "num_attention_heads": 4,
                "vocab_size": 99,
                "max_position_embeddings": 30,
                "eos_token_id": 98,
            },
            vision_config={
                "hidden_size": 48,
                "intermediate_size": 112,
                "num_hidden_layers": 2,
                "num_attention_heads": 2,
                "image_size": 24,
                "patch_size": 6,
                "attention_dropout": 0.1,
            },
            projection_dim=40,
            **FLASH,
        ),
        2,
        9,
    ),
    "clip-d": lambda: text(
        t.CLIPTextModelWithProjection,
        t.CLIPTextConfig(
            hidden_size=36,
            intermediate_size=60,
            num_hidden_layers=2,
            num_attention_heads=3,
            vocab_size=77,
            max_position_embeddings=20,
            projection_dim=28,
        ),
        3,
        11,
    ),
    "clip-e": lambda: image(
        t.CLIPVisionModel,
        t.CLIPVisionConfig(
            hidden_size=18,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            image_size=16,
            patch_size=5,
        ),
        2,
    ),
    "convnext-a": lambda: image(
        t.ConvNextForImageClassification,
        t.ConvNextConfig(
            hidden_sizes=[8, 16, 24],
            depths=[1, 2, 1],
            num_stages=3,
            image_size=32,
            num_labels=10,
        ),
        2,
    ),
    "convnext-b": lambda: image(
        t.ConvNextForImageClassification,
        t.ConvNextConfig(
            hidden_sizes=[12, 12, 20, 36],
            depths=[2, 1, 3, 1],
            num_channels=1,
            patch_size=2,
            image_size=48,
            hidden_act="relu",
            layer_scale_init_value=0.0,
            drop_path_rate=0.2,
        ),
        3,
    ),
    "convnext-c": lambda: image(
        t.ConvNextModel,
        t.ConvNextConfig(hidden_sizes=[4, 6], depths=[1, 1], num_stages=2, image_size=24),
        1,
    ),
    "swin-a": lambda: image(
        t.SwinForImageClassification,
        t.SwinConfig(
            embed_dim=12,
            depths=[2, 2],
            num_heads=[2, 3],
            window_size=4,
            image_size=32,
            patch_size=4,
            num_labels=10,
            drop_path_rate=0.0,
        ),
        2,
    ),
    "swin-b": lambda: image(
        t.SwinForImageClassification,
        t.SwinConfig(
            embed_dim=10,
            depths=[1, 2, 2],
            num_heads=[1, 2, 4],
            window_size=3,
            image_size=[45, 54],
            patch_size=3,
            num_channels=1,
            mlp_ratio=2.5,
            qkv_bias=False,
            hidden_dropout_prob=0.1,
            attention_probs_dropout_prob=0.1,
            use_absolute_embeddings=True,
            drop_path_rate=0.3,
            attn_implementation="eager",
        ),
        3,
    ),
    "swin-c": lambda: image(
        t.SwinModel,
        t.SwinConfig(
            embed_dim=6,
            depths=[2, 1],
            num_heads=[2, 2],
            window_size=4,
            image_size=30,
            patch_size=4,
        ),
        1,
    ),
}
