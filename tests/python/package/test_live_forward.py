# SPDX-License-Identifier: Apache-2.0
"""Forward passes of live modules hold what the variables of their functions hold."""

from __future__ import annotations

from typing import Any

import pytest
import steelyard
import torch
from recording import events_of, peak_of
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(64, 192), nn.Linear(64, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        qkv = self.qkv(x).reshape(batch, length, 3, 4, 16).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        scores = (q @ k.transpose(-2, -1)) * 0.25
        scores = scores.softmax(dim=-1)
        x = (scores @ v).transpose(1, 2).reshape(batch, length, width)
        y: torch.Tensor = self.out(x)
        return y


class Masked(Attention):
    """With a mask of its own, which stays."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        qkv = self.qkv(x).reshape(batch, length, 3, 4, 16).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        x = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x.transpose(1, 2).reshape(batch, length, width)
        y: torch.Tensor = self.out(x)
        return y


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(64), Attention()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm(x))
        return x


class Stack(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(64, 64)
        self.blocks = nn.ModuleList([Block() for _ in range(3)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return x


def encoder() -> nn.Module:
    return nn.TransformerEncoderLayer(64, 4, 256, batch_first=True)


def weighed(model: nn.Module, x: torch.Tensor, **keywords: Any) -> int:
    memory = steelyard.weigh(model, x, **keywords).data["memory"]
    peak: int = memory["peak"] - memory["resident"]
    return peak


@pytest.mark.parametrize("make", [Attention, Masked, Stack, encoder])
def test_the_peak_is_that_of_the_live_module(make: Any) -> None:
    model, x = make().eval(), torch.randn(2, 64, 64)

    def run() -> None:
        with torch.no_grad():
            model(x)

    enabled = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        run()
        assert weighed(model, x) == peak_of(events_of(run))
    finally:
        torch.backends.mha.set_fastpath_enabled(enabled)


def test_an_export_frees_earlier() -> None:
    model, x = Stack().eval(), torch.randn(2, 64, 64)
    assert weighed(model, x, as_="exported") < weighed(model, x)


def test_fused_layers_are_told() -> None:
    def notes(model: nn.Module, **keywords: Any) -> str:
        data = steelyard.weigh(model, torch.randn(2, 8, 64), **keywords).data
        return " ".join(note["message"] for note in data["notes"])

    assert "torch.backends.mha" in notes(encoder().eval())
    assert "torch.backends.mha" not in notes(encoder().train())
    assert "torch.backends.mha" not in notes(encoder().eval(), as_="exported")
    assert "torch.backends.mha" not in notes(Attention().eval())
