# SPDX-License-Identifier: Apache-2.0
"""The lines of DeepSpeed's profiler, beside those of DeepSpeed 0.19.8 where it is installed."""

import re
from collections.abc import Callable
from typing import Any

import pytest

steelyard = pytest.importorskip("steelyard")

import torch  # noqa: E402
from torch import nn  # noqa: E402


class Named(nn.Module):
    """Modules that have two names, lists and dictionaries of them, and names without a module."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.again = self.first
        self.within = nn.Sequential(self.first, nn.ReLU())
        self.named = nn.ModuleDict({"norm": nn.LayerNorm(8)})
        self.weight = nn.Parameter(torch.ones(8, 8))
        self.register_module("absent", None)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.named["norm"](self.within(self.again(self.first(x))))
        return torch.addmm(x, y, self.weight)

    def extra_repr(self) -> str:
        return "two\nlines"


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], tuple[type, ...]]] = {
    "names": (Named, (8, 8), ()),
    "ignored": (Named, (8, 8), (nn.LayerNorm, nn.Sequential)),
    "convolutions": (
        lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)),
        (2, 3, 9, 9),
        (),
    ),
    "recurrent": (lambda: nn.Sequential(nn.LSTM(8, 4, 2, batch_first=True)), (2, 5, 8), ()),
    "encoder": (
        lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation=nn.GELU()),
        (2, 5, 8),
        (),
    ),
    "one": (lambda: nn.Linear(3, 4), (2, 3), ()),
}


def tree_of(text: str) -> list[str]:
    """The lines of modules, without times, and without what DeepSpeed does not tell."""
    lines = text.split("Detailed Profile")[1].split("\n\n")[-1].splitlines()
    lines = [re.sub(r"[\d.]+ m?u?s = [\d.]+% latency, [\d.]+ ?\w*FLOPS", "T", x) for x in lines]
    return [re.sub(r", [\d.]+( [KM])? fp32, [\d.]+ [KM]?B = [\d.]+% Memory", "", x) for x in lines]


def printed(profile: Any, name: str, capsys: pytest.CaptureFixture[str]) -> tuple[str, Any]:
    make, shape, ignored = MODELS[name]
    torch.manual_seed(0)
    figures = profile(make(), shape, ignore_modules=list(ignored), top_modules=2)
    return capsys.readouterr().out, figures


def test_modules_are_printed_as_deepspeed_prints_them(capsys: pytest.CaptureFixture[str]) -> None:
    """As DeepSpeed 0.19.8 did."""
    assert tree_of(printed(steelyard.get_model_profile, "ignored", capsys)[0]) == [
        "Named(",
        "  152 = 100% Params, 2.05 KMACs = 100% MACs, T, two",
        "  lines",
        *[
            f"  ({name}): Linear(72 = 47.37% Params, 1.54 KMACs = 75% MACs, T, "
            "in_features=8, out_features=8, bias=True)"
            for name in ("first", "again")
        ],
        "  (within): Sequential(",
        "    72 = 47.37% Params, 1.54 KMACs = 75% MACs, T",
        "    (0): Linear(72 = 47.37% Params, 1.54 KMACs = 75% MACs, T, "
        "in_features=8, out_features=8, bias=True)",
        "    (1): ReLU(0 = 0% Params, 0 MACs = 0% MACs, T)",
        "  )",
        "  (named): ModuleDict(",
        "    16 = 10.53% Params, 0 MACs = 0% MACs, T",
        "    (norm): LayerNorm(16 = 10.53% Params, 0 MACs = 0% MACs, T, "
        "(8,), eps=1e-05, elementwise_affine=True, bias=True)",
        "  )",
        "  (absent): None",
        ")",
        "-" * 78,
    ]


@pytest.mark.parametrize("name", MODELS)
def test_lines_are_those_of_deepspeed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    theirs = pytest.importorskip("deepspeed.profiling.flops_profiler")
    (ours, figures), (text, expected) = (
        printed(which, name, capsys)
        for which in (steelyard.get_model_profile, theirs.get_model_profile)
    )
    assert figures == expected
    assert tree_of(ours) == tree_of(text)

    def keys(text: str) -> list[str]:
        summary = text.split("\n\n")[1].splitlines()
        return [line.partition(": ")[0] for line in summary]

    assert keys(ours) == keys(text)
    # DeepSpeed leaves the deepest out.
    assert ours.split("depth ")[1:2] if name == "one" else "depth 0" in text
