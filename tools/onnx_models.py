#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/onnx: small models as both of torch's ONNX exporters write them.

usage: onnx_models.py [NAME...]

Needs torch, torchvision, transformers, onnx and onnxscript. Weights are taken out of the files:
what is left is structure and small constants. Weights are random first, because exporters join
those that are equal, as zeros are. truth.json says what torch counts: parameters, buffers, and the
flops of its FlopCounterMode.
"""

import copy
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import torch
import torchvision
import transformers
from torch.utils.flop_counter import FlopCounterMode

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "onnx"
# As many elements as Steelyard reads of a constant.
MOST_KEPT = 64
KEPT_METADATA = ("name_scopes", "class_hierarchy", "graph_signature")
SIZES = {"vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}


class Logits(torch.nn.Module):
    """The first output of a model of transformers."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.model(inputs, return_dict=True, use_cache=False).logits


class Vision(torch.nn.Module):
    """The same for models without a cache."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return self.model(pixels).logits


class Output(torch.nn.Module):
    """A recurrent layer without its last states."""

    def __init__(self, layer: torch.nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, steps: torch.Tensor) -> torch.Tensor:
        return self.layer(steps)[0]


def bert() -> torch.nn.Module:
    config = transformers.BertConfig(**SIZES, intermediate_size=64, tie_word_embeddings=False)
    model = transformers.BertForMaskedLM(config)
    # Otherwise it is a parameter that nothing uses, and exporters leave it out.
    model.cls.predictions.bias = model.cls.predictions.decoder.bias
    return Logits(model)


def gpt2() -> torch.nn.Module:
    config = transformers.GPT2Config(
        vocab_size=100, n_embd=32, n_layer=1, n_head=2, n_positions=64, tie_word_embeddings=False
    )
    return Logits(transformers.GPT2LMHeadModel(config))


def llama() -> torch.nn.Module:
    config = transformers.LlamaConfig(
        **{**SIZES, "num_attention_heads": 4}, num_key_value_heads=2, intermediate_size=64
    )
    return Logits(transformers.LlamaForCausalLM(config))


def vit() -> torch.nn.Module:
    sizes = {key: size for key, size in SIZES.items() if key != "vocab_size"}
    config = transformers.ViTConfig(**sizes, intermediate_size=64, image_size=32, patch_size=8)
    return Vision(transformers.ViTForImageClassification(config))


def words() -> torch.Tensor:
    return torch.zeros(2, 16, dtype=torch.long)


def image(size: int) -> Callable[[], torch.Tensor]:
    return lambda: torch.zeros(2, 3, size, size)


MODELS: dict[str, tuple[Callable[[], torch.nn.Module], Callable[[], torch.Tensor]]] = {
    "resnet18": (lambda: torchvision.models.resnet18(num_classes=10), image(64)),
    "mobilenet": (lambda: torchvision.models.mobilenet_v3_small(num_classes=10), image(64)),
    "bert": (bert, words),
    "gpt2": (gpt2, words),
    "llama": (llama, words),
    "vit": (vit, image(32)),
    "lstm": (
        lambda: Output(torch.nn.LSTM(8, 16, 2, batch_first=True, bidirectional=True)),
        lambda: torch.zeros(2, 5, 8),
    ),
    "gru": (lambda: Output(torch.nn.GRU(8, 16)), lambda: torch.zeros(5, 2, 8)),
}

# Operators of attention masks that the older exporter does not know.
NOT_BY_THE_OLDER = ("gpt2", "llama")


def strip(model: onnx.ModelProto) -> None:
    """Takes weights, texts and what shape inference can find out of a model."""
    for tensor in model.graph.initializer:
        count = 1
        for size in tensor.dims:
            count *= size
        if count > MOST_KEPT:
            for field in ("raw_data", "float_data", "int64_data", "int32_data"):
                tensor.ClearField(field)
    model.graph.ClearField("value_info")
    for node in model.graph.node:
        node.ClearField("doc_string")
        keep(node.metadata_props)
    for value in (*model.graph.input, *model.graph.output, *model.graph.initializer):
        value.ClearField("metadata_props")
    keep(model.graph.metadata_props)


def keep(entries: Any) -> None:
    kept = [copy.copy(entry) for entry in entries if entry.key.endswith(KEPT_METADATA)]
    del entries[:]
    entries.extend(kept)


def export(name: str) -> dict[str, int]:
    make, example = MODELS[name]
    torch.manual_seed(0)
    model = make().eval()
    for tensor in (*model.parameters(), *model.buffers()):
        if tensor.is_floating_point():
            torch.nn.init.uniform_(tensor, 0.5, 1.5)
    inputs = (example(),)
    with torch.no_grad():
        with FlopCounterMode(display=False) as counter:
            model(*inputs)
        truth = {
            "parameters": sum(p.numel() for p in model.parameters()),
            "buffers": sum(b.numel() for b in model.buffers() if b.is_floating_point()),
            "flops": counter.get_total_flops(),
        }
        varied = {0: "batch", 1: "seq"} if inputs[0].dtype == torch.long else {0: "batch"}
        path = FOLDER / f"{name}.dynamo.onnx"
        torch.onnx.export(
            model, inputs, path, dynamo=True, external_data=False, verbose=False, optimize=False
        )
        finish(path)
        if name in NOT_BY_THE_OLDER:
            return truth
        path = FOLDER / f"{name}.torchscript.onnx"
        torch.onnx.export(
            model,
            inputs,
            path,
            dynamo=False,
            opset_version=17,
            input_names=["input"],
            dynamic_axes={"input": varied},
            do_constant_folding=False,
            training=torch.onnx.TrainingMode.PRESERVE,
        )
        finish(path)
    return truth


def finish(path: Path) -> None:
    model = onnx.load(path)
    strip(model)
    onnx.save(model, path)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    truth_file = FOLDER / "truth.json"
    truth = json.loads(truth_file.read_text()) if truth_file.exists() else {}
    for name in sys.argv[1:] or MODELS:
        truth[name] = export(name)
    truth_file.write_text(json.dumps(truth, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
