#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports the models of train_models.py and measures what eager PyTorch does when it trains them.

For each NAME it writes OUT/NAME.pt2, exported on the meta device (structure only), and
OUT/NAME.truth.json: every allocation and free of a steady step with SGD as [innermost operator,
signed bytes], the peaks of a first and a steady step with SGD and with AdamW, the bytes of the
optimizer's state, and the flops torch counts forward and backward. A step: forward, backward,
clipping, the optimizer, zero_grad; the caller holds the outputs until it ends.

usage: measure_train.py OUT [NAME...]
needs: torch, torchvision, transformers
"""

import warnings
from pathlib import Path
from typing import Any

import torch
import transformers
from recording import (
    Events,
    bytes_by_dtype,
    counter,
    events_of,
    measure_named,
    peak_of,
    save_structure,
    save_truth,
)
from train_models import MODELS, Training

warnings.filterwarnings("ignore")
torch.set_num_threads(1)

OPTIMIZERS = {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}


class Trainer:
    """Runs an exported module as its Training says."""

    def __init__(self, training: Training) -> None:
        self.training = training
        inputs = training.inputs()
        self.inputs = ((), inputs) if isinstance(inputs, dict) else (inputs, {})
        self.program = torch.export.export(training.make().train(), *self.inputs, strict=False)
        self.module = self.program.module()

    def forward(self) -> tuple[Any, torch.Tensor]:
        positional, named = self.inputs
        output = self.module(*positional, **named)
        if isinstance(output, tuple):
            return output, output[0]
        return output, output["loss"] if isinstance(output, dict) else output.loss

    def step(self, optimizer: torch.optim.Optimizer) -> None:
        for micro_step in range(self.training.accumulate):
            output, loss = self.forward()
            if self.training.accumulate > 1:
                loss = loss / self.training.accumulate
            loss.backward()
            if micro_step + 1 < self.training.accumulate:
                del output, loss
        if self.training.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(self.module.parameters(), self.training.clip_norm)
        optimizer.step()
        optimizer.zero_grad()

    def trained(self) -> list[torch.nn.Parameter]:
        return [p for p in self.module.parameters() if p.requires_grad]

    def measure_steps(self, name: str) -> tuple[dict[str, Any], Events]:
        optimizer = OPTIMIZERS[name](self.trained(), lr=1e-3, foreach=self.training.foreach)
        first = events_of(lambda: self.step(optimizer))
        steady = events_of(lambda: self.step(optimizer))
        state = [v for s in optimizer.state.values() for v in s.values() if torch.is_tensor(v)]
        peaks = {
            "step1_peak": peak_of(first),
            "step2_peak": peak_of(steady),
            "state_bytes": sum(bytes_by_dtype(state).values()),
        }
        return peaks, steady

    def flops(self) -> tuple[int, int]:
        """Forward, and forward and backward."""
        with counter() as counting:
            _, loss = self.forward()
        forward = counting.get_total_flops()
        with counter() as counting:
            loss.backward()
        self.module.zero_grad()
        return forward, forward + counting.get_total_flops()


def measure(name: str, folder: Path) -> None:
    training = MODELS[name]
    with torch.device("meta"):
        save_structure(Trainer(training).program, folder / f"{name}.pt2")
    trainer = Trainer(training)
    parameters = list(trainer.module.parameters())
    trainer.forward()
    truth: dict[str, Any] = {
        "name": name,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "options": training.options,
        "params": sum(p.numel() for p in parameters),
        "trained": sum(p.numel() for p in trainer.trained()),
        "param_bytes": bytes_by_dtype(parameters),
    }
    if training.counted:
        truth["flops_forward"], truth["flops_forward_backward"] = trainer.flops()
    for optimizer in training.optimizers:
        truth[optimizer], events = trainer.measure_steps(optimizer)
        if optimizer == "sgd":
            truth["sgd"]["step2_events"] = events
    save_truth(truth, folder)
    print(name, truth["params"], *(truth[o]["step2_peak"] for o in training.optimizers), flush=True)


if __name__ == "__main__":
    measure_named(measure, MODELS, __doc__)
