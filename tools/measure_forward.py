#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports the models of forward_models.py and measures what eager PyTorch does when it runs them.

For each NAME it writes OUT/NAME.pt2, exported on the meta device (structure only), and
OUT/NAME.truth.json: parameters and buffers, every allocation and free of a forward pass without
gradients as [innermost operator, signed bytes], their peak, and the flops torch counts.

usage: measure_forward.py OUT [NAME...]
needs: torch, torchvision, transformers
"""

import warnings
from pathlib import Path
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed  # defines quantized_decomposed
import torchvision
import transformers
from forward_models import MODELS
from recording import (
    bytes_by_dtype,
    counter,
    events_of,
    measure_named,
    peak_of,
    save_structure,
    save_truth,
    total_bytes,
)

warnings.filterwarnings("ignore")
torch.set_num_threads(1)


def exported(name: str) -> tuple[Any, Any]:
    """The inputs and the program of a model, on the device that is the default."""
    make, inputs = MODELS[name]
    module, example = make().eval(), inputs()
    positional, named = ((), example) if isinstance(example, dict) else (example, {})
    return (positional, named), torch.export.export(module, positional, named, strict=False)


def measure(name: str, folder: Path) -> None:
    with torch.device("meta"):
        save_structure(exported(name)[1], folder / f"{name}.pt2")
    (positional, named), program = exported(name)
    module = program.module()
    parameters, buffers = list(module.parameters()), list(module.buffers())

    def forward() -> None:
        with torch.no_grad():
            module(*positional, **named)

    forward()
    events = events_of(forward)
    with counter() as counting:
        forward()
    truth = {
        "name": name,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "torchvision": torchvision.__version__,
        "params": sum(p.numel() for p in parameters),
        "param_bytes": bytes_by_dtype(parameters),
        "buffer_bytes": total_bytes(buffers),
        "forward_no_grad": {"peak": peak_of(events), "events": events},
        "flops_forward": counting.get_total_flops(),
        "flops_by_op": {str(k): v for k, v in counting.get_flop_counts()["Global"].items()},
    }
    save_truth(truth, folder)
    print(name, truth["params"], truth["forward_no_grad"]["peak"], len(events), flush=True)


if __name__ == "__main__":
    measure_named(measure, MODELS, __doc__)
