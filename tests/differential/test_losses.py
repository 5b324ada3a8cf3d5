# SPDX-License-Identifier: Apache-2.0
"""Training steps with each loss that `--loss` appends: every allocation and free as PyTorch's."""

import io
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from compare import Events, side_by_side
from recorder import events_of
from table import ROOT
from torch import nn
from torch.nn import functional

Loss = Callable[[torch.Tensor], torch.Tensor]


class Scaled(nn.Module):  # type: ignore[misc]
    """Gives what it is given, times a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = x * self.scale
        return result


def labels(*sizes: int) -> torch.Tensor:
    return torch.zeros(sizes, dtype=torch.int64)


def of_rows(loss: Loss) -> Loss:
    """What a training loop does with a language model's scores."""
    return lambda scores: loss(scores.reshape(-1, scores.shape[-1]))


def by_class_numbers(label_smoothing: float = 0.0) -> Loss:
    def loss(scores: torch.Tensor) -> torch.Tensor:
        target = labels(scores.shape[0], *scores.shape[2:])
        return functional.cross_entropy(scores, target, label_smoothing=label_smoothing)

    return loss


def of_likelihoods(scores: torch.Tensor) -> torch.Tensor:
    return functional.nll_loss(scores, labels(scores.shape[0], *scores.shape[2:]))


@dataclass(frozen=True)
class Case:
    """`--loss name` of scores of this shape, and what it stands for."""

    name: str
    sizes: tuple[int, ...]
    loss: Loss


CASES = (
    Case("cross-entropy", (4, 7), by_class_numbers()),
    Case("cross-entropy", (4, 6, 7), of_rows(by_class_numbers())),
    Case("cross-entropy", (4, 6, 5, 7), by_class_numbers()),
    Case("cross-entropy", (4, 6, 5, 7, 3), by_class_numbers()),
    Case("cross-entropy-dim1", (4, 7), by_class_numbers()),
    Case("cross-entropy-dim1", (4, 6, 7), by_class_numbers()),
    Case("cross-entropy-dim1", (4, 6, 5, 7), by_class_numbers()),
    Case("label-smoothing", (4, 7), by_class_numbers(label_smoothing=0.1)),
    Case("label-smoothing", (4, 6, 5, 7), by_class_numbers(label_smoothing=0.1)),
    Case("nll", (4, 6, 7), of_rows(of_likelihoods)),
    Case("nll-dim1", (4, 6, 7), of_likelihoods),
    Case("nll-dim1", (4, 6, 5, 7, 3), of_likelihoods),
)


def measured(case: Case) -> Events:
    net, x = Scaled(), torch.ones(case.sizes)
    optimizer = torch.optim.SGD(net.parameters())

    def step() -> None:
        output = net(x)
        loss = case.loss(output)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    step()
    return events_of(step)


def predicted(case: Case, folder: Path) -> Events:
    file = io.BytesIO()
    torch.export.save(torch.export.export(Scaled(), (torch.ones(case.sizes),)), file)
    path = folder / "scaled.pt2"
    path.write_bytes(file.getvalue())
    binary = os.environ.get("STEELYARD", str(ROOT / "build/release/steelyard"))
    command = [binary, "weigh", str(path), "--format", "json", "--events"]
    command += ["--train", "sgd", "--loss", case.name]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [event[:2] for event in json.loads(done.stdout)["memory"]["events"]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name} of {len(case.sizes)}")
def test_step(case: Case, tmp_path: Path) -> None:
    theirs, ours = measured(case), predicted(case, tmp_path)
    if ours != theirs:
        shown = side_by_side(*([f"{n:+} {label}" for label, n in seen] for seen in (ours, theirs)))
        pytest.fail(shown, pytrace=False)
