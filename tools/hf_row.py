# SPDX-License-Identifier: Apache-2.0
"""What a row of hf_models.py is, and rows of models of text."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch


def tokens(*sizes: int) -> torch.Tensor:
    return torch.zeros(*sizes, dtype=torch.long)


@dataclass
class HfModel:
    """A model: `inputs(labelled)` are its arguments; `sizes` are what steelyard is told of them.

    Of the export alone it is told `data_sizes`, which only the data decide; of both, `device`.
    `events` says why not each event is that of the export, only every figure.
    """

    make: Any  # the class
    config: Any
    inputs: Callable[[bool], dict[str, torch.Tensor]]
    sizes: list[str]
    data_sizes: list[str] = field(default_factory=list)
    events: str = ""
    device: list[str] = field(default_factory=list)


def labels_of(head: str, batch: int, seq: int) -> dict[str, torch.Tensor]:
    """What a model of text with that class name is trained with."""
    each = ("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForConditionalGeneration")
    if head.endswith((*each, "ForTokenClassification")):
        return {"labels": tokens(batch, seq)}
    if head == "BertForPreTraining":
        return {"labels": tokens(batch, seq), "next_sentence_label": tokens(batch)}
    if head == "ElectraForPreTraining":
        return {"labels": tokens(batch, seq)}
    if head.endswith("ForSequenceClassification"):
        return {"labels": tokens(batch)}
    if head.endswith("ForQuestionAnswering"):
        return {"start_positions": tokens(batch), "end_positions": tokens(batch)}
    return {}


def attention_of(config: Any) -> list[str]:
    """What steelyard is told of a config's attention, which is not saved with it."""
    names = {"eager": "eager", "flash_attention_2": "flash"}
    name = names.get(config._attn_implementation)
    return ["--attention", name] if name else []


# A config of flash attention, which computes in half precision.
FLASH = {"attn_implementation": "flash_attention_2", "dtype": "bfloat16"}


def device_of(config: Any) -> list[str]:
    """Flash attention runs on a device."""
    flash = config._attn_implementation == FLASH["attn_implementation"]
    return ["--device", "h200"] if flash else []


def text(make: Any, config: Any, batch: int, seq: int) -> HfModel:
    """Token numbers, and the labels that the head takes."""

    def inputs(labelled: bool) -> dict[str, torch.Tensor]:
        out = {"input_ids": tokens(batch, seq)}
        return {**out, **(labels_of(make.__name__, batch, seq) if labelled else {})}

    sizes = ["--batch", str(batch), "--seq", str(seq), *attention_of(config)]
    return HfModel(make, config, inputs, sizes, device=device_of(config))
