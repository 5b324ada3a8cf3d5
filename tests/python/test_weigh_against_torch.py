# SPDX-License-Identifier: Apache-2.0
"""What `steelyard weigh` says of models that PyTorch exports here, against PyTorch itself."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode


class Attention(nn.Module):
    """One causal self-attention layer with its projections."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        split = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


Maker = Callable[[], Any]

# How to make each model, and an input for it.
MODELS: dict[str, tuple[Maker, Maker]] = {
    "perceptron": (
        lambda: nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 10)),
        lambda: torch.randn(8, 64),
    ),
    "convolutions": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, stride=2),
        ),
        lambda: torch.randn(2, 3, 32, 32),
    ),
    "attention": (
        lambda: nn.Sequential(nn.LayerNorm(64), Attention(64, 4)),
        lambda: torch.randn(2, 16, 64),
    ),
}


@pytest.fixture(params=MODELS, scope="module")
def exported(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Any, torch.Tensor]:
    """A model in a file, as the user would export it, with the program and its input."""
    make_model, make_input = MODELS[request.param]
    torch.manual_seed(0)
    model, sample = make_model().eval(), make_input()
    program = torch.export.export(model, (sample,))
    path = tmp_path_factory.mktemp("exported") / f"{request.param}.pt2"
    torch.export.save(program, path)
    return path, program.module(), sample


def weigh(steelyard: str, path: Path, *options: str) -> dict[str, Any]:
    command = [steelyard, "weigh", str(path), "--format", "json", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_parameters(steelyard: str, exported: tuple[Path, Any, torch.Tensor]) -> None:
    path, module, _ = exported
    parameters = list(module.parameters())
    report = weigh(steelyard, path)["parameters"]
    assert report["count"] == sum(p.numel() for p in parameters)
    assert report["bytes"] == sum(p.nbytes for p in parameters)


def test_forward_flops(steelyard: str, exported: tuple[Path, Any, torch.Tensor]) -> None:
    path, module, sample = exported
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        module(sample)
    assert weigh(steelyard, path)["flops"]["forward"] == counter.get_total_flops()


def test_every_operator_is_modelled(
    steelyard: str, exported: tuple[Path, Any, torch.Tensor]
) -> None:
    assert weigh(steelyard, exported[0])["unmodelled"] == []
