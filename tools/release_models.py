# SPDX-License-Identifier: Apache-2.0
"""Small models of what releases of PyTorch do differently on CUDA.

usage: measure_cuda_truth.py --models release_models.py OUT NAME..., with a PyTorch of the release
"""

from __future__ import annotations

from collections.abc import Callable

import measure_truth
import torch
from torch import nn
from torch.nn import functional

WIDTH, HEADS, WORDS, BATCH, LENGTH = 256, 8, 1000, 4, 128


class Attention(nn.Module):
    def __init__(self, shared: int = HEADS, causal: bool = False, masked: bool = False) -> None:
        super().__init__()
        self.shared, self.causal, self.masked = shared, causal, masked
        self.query = nn.Linear(WIDTH, WIDTH, bias=not causal)
        self.both = nn.Linear(WIDTH, 2 * WIDTH * shared // HEADS, bias=not causal)
        self.out = nn.Linear(WIDTH, WIDTH, bias=not causal)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q = self.query(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        k, v = (
            t.unflatten(-1, (self.shared, -1)).transpose(1, 2) for t in self.both(x).chunk(2, -1)
        )
        given = {"enable_gqa": True} if self.shared != HEADS else {}
        mask = None
        if self.masked:
            mask = torch.ones(LENGTH, LENGTH, dtype=torch.bool, device=x.device).tril()
        y = functional.scaled_dot_product_attention(q, k, v, mask, is_causal=self.causal, **given)
        return self.out(y.transpose(1, 2).flatten(-2))


class EncoderLayer(nn.Module):
    def __init__(self, masked: bool) -> None:
        super().__init__()
        self.attention = Attention(masked=masked)
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x + functional.dropout(self.attention(x), 0.1, self.training))
        return self.second(x + self.down(functional.gelu(self.up(x))))


class Root(nn.Module):
    """A norm as torch.nn.RMSNorm is one, of releases that lack it, too."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.rms_norm(x, (WIDTH,), self.weight, 1e-6)


class DecoderLayer(nn.Module):
    def __init__(self, shared: int) -> None:
        super().__init__()
        self.attention = Attention(shared, causal=True)
        self.first, self.second = Root(), Root()
        self.gate, self.up = (nn.Linear(WIDTH, 3 * WIDTH, bias=False) for _ in range(2))
        self.down = nn.Linear(3 * WIDTH, WIDTH, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.first(x))
        y = self.second(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Writer(nn.Module):
    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.Sequential(*layers)
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(self.words(words))).flatten(0, 1)


class Groups(nn.Module):
    """Convolutions of images whose channels are adjacent, with group norms between them."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = (nn.Conv2d(n, 32, 3, padding=1) for n in (8, 32))
        self.norms = nn.ModuleList(nn.GroupNorm(8, 32) for _ in range(2))
        self.head = nn.Linear(32, 100)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = image.contiguous(memory_format=torch.channels_last)
        x = functional.silu(self.norms[0](self.first(x)))
        x = x + functional.silu(self.norms[1](self.second(x)))
        return self.head(x.mean((2, 3)))


def words() -> tuple[torch.Tensor]:
    return (torch.zeros(BATCH, LENGTH, dtype=torch.long),)


def image() -> tuple[torch.Tensor]:
    return (torch.zeros(BATCH, 8, 64, 64),)


MAKERS = {
    "encoder": lambda: Writer(EncoderLayer(False), EncoderLayer(False)),
    "masked": lambda: Writer(EncoderLayer(True), EncoderLayer(True)),
    "normed": lambda: Writer(DecoderLayer(HEADS), DecoderLayer(HEADS)),
    "grouped": lambda: Writer(DecoderLayer(2), DecoderLayer(2)),
}


def in_bf16(make: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
    return lambda: make().to(torch.bfloat16)


measure_truth.MODELS.update({name: (make, words) for name, make in MAKERS.items()})
measure_truth.MODELS.update(
    {f"{name}-bf16": (in_bf16(make), words) for name, make in MAKERS.items()}
)
measure_truth.MODELS["groups"] = (Groups, image)
