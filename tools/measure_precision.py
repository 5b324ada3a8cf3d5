#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what eager PyTorch does when it trains low_precision_models.py on the CPU.

For each NAME it writes OUT/NAME.pt2 and OUT/NAME-bf16.pt2, exported on the meta device (structure
only) in float32 and in bfloat16, and OUT/NAME.truth.json. That has for each precision a step with
SGD and one with AdamW: every allocation and free of a steady step as [innermost operator, signed
bytes], the peaks of a first and a steady step, the bytes of the optimizer's state. Precisions are

  fp16   the float32 module under torch.autocast("cpu", torch.float16), with a torch.amp.GradScaler
  bf16   the same under torch.autocast("cpu", torch.bfloat16), without a scaler
  pure   the bfloat16 module: parameters, gradients and the optimizer's state are bfloat16

A step: forward and loss, backward, the optimizer (through the scaler, where there is one),
zero_grad; the caller holds the outputs until it ends.

usage: measure_precision.py OUT [NAME...]
needs: torch
"""

import contextlib
import warnings
from pathlib import Path
from typing import Any

import torch
from low_precision_models import MODELS, Training
from recording import bytes_by_dtype, events_of, measure_named, peak_of, save_structure, save_truth

warnings.filterwarnings("ignore")
torch.set_num_threads(1)

LOW = {"fp16": torch.float16, "bf16": torch.bfloat16}
OPTIMIZERS = {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}


class Trainer:
    """Steps of an exported module in a precision."""

    def __init__(self, training: Training, precision: str) -> None:
        module, self.inputs = training.make().train(), training.inputs()
        if precision == "pure":
            module = module.bfloat16()
            self.inputs = tuple(t.bfloat16() if t.is_floating_point() else t for t in self.inputs)
        self.program = torch.export.export(module, self.inputs, strict=False)
        self.module = self.program.module()
        self.low = LOW.get(precision)

    def under(self) -> Any:
        return torch.autocast("cpu", self.low) if self.low else contextlib.nullcontext()

    def step(self, optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler) -> None:
        with self.under():
            output = self.module(*self.inputs)
            loss = output[0]
        if scaler.is_enabled():
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            optimizer.step()
        optimizer.zero_grad()

    def measure(self, name: str) -> dict[str, Any]:
        optimizer = OPTIMIZERS[name](self.module.parameters(), lr=1e-3)
        # From its usual scale of 65536 the first gradients overflow, and their step is passed over.
        scaler = torch.amp.GradScaler("cpu", init_scale=1.0, enabled=self.low == torch.float16)
        first = events_of(lambda: self.step(optimizer, scaler))
        steady = events_of(lambda: self.step(optimizer, scaler))
        state = [v for s in optimizer.state.values() for v in s.values() if torch.is_tensor(v)]
        return {
            "step1_peak": peak_of(first),
            "step2_peak": peak_of(steady),
            "state_bytes": sum(bytes_by_dtype(state).values()),
            "step2_events": steady,
        }


def measure(name: str, folder: Path) -> None:
    training = MODELS[name]
    torch.manual_seed(0)
    with torch.device("meta"):
        save_structure(Trainer(training, "fp32").program, folder / f"{name}.pt2")
        save_structure(Trainer(training, "pure").program, folder / f"{name}-bf16.pt2")
    truth: dict[str, Any] = {"name": name, "torch": torch.__version__}
    for precision in ("fp16", "bf16", "pure"):
        trainer = Trainer(training, precision)
        truth[precision] = {
            "param_bytes": bytes_by_dtype(trainer.module.parameters()),
            **{optimizer: trainer.measure(optimizer) for optimizer in OPTIMIZERS},
        }
    save_truth(truth, folder)
    print(name, *(truth[p]["sgd"]["step2_peak"] for p in ("fp16", "bf16", "pure")), flush=True)


if __name__ == "__main__":
    measure_named(measure, MODELS, __doc__)
