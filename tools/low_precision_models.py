# SPDX-License-Identifier: Apache-2.0
"""Small models that are trained in low precisions, of torch alone: each returns its loss first.

MODELS maps a name to a Training: how the module and its inputs are made.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

WORDS, SIZE = 500, 64


@dataclass(frozen=True)
class Training:
    make: Callable[[], nn.Module]
    inputs: Callable[[], tuple[Any, ...]]


class Regression(nn.Module):
    """Linear layers with activations that autocast leaves alone, and a loss that it widens."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Linear(40, 128), nn.LayerNorm(128)
        self.second, self.last = nn.Linear(128, 128, bias=False), nn.Linear(128, 8)

    def forward(self, x: torch.Tensor, wanted: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.norm(F.relu(self.first(x)))
        result = self.last(hidden + F.silu(self.second(hidden)))
        return F.mse_loss(result, wanted), result


class Encoder(nn.Module):
    """Embeddings, a layer of attention and one of GELU, and scores by the tied table."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, SIZE), nn.Embedding(32, SIZE)
        self.projection, self.output = nn.Linear(SIZE, 3 * SIZE), nn.Linear(SIZE, SIZE)
        self.inner, self.outer = nn.Linear(SIZE, 4 * SIZE), nn.Linear(4 * SIZE, SIZE)
        self.norms = nn.ModuleList([nn.LayerNorm(SIZE), nn.LayerNorm(SIZE)])

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, size = x.shape
        q, k, v = self.projection(x).view(batch, length, 3, 4, size // 4).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / 4.0
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).reshape(x.shape))

    def forward(self, ids: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        x = x + self.attend(self.norms[0](x))
        x = x + self.outer(F.gelu(self.inner(self.norms[1](x))))
        scores = x @ self.words.weight.t()
        return F.cross_entropy(scores.view(-1, WORDS), labels.view(-1)), scores


class Gated(nn.Module):
    """A language model's gated layer with a root mean square norm, written out."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.scale = nn.Embedding(WORDS, SIZE), nn.Parameter(torch.ones(SIZE))
        self.gate, self.up = (nn.Linear(SIZE, 160, bias=False) for _ in range(2))
        self.down, self.head = (
            nn.Linear(n, m, bias=False) for n, m in ((160, SIZE), (SIZE, WORDS))
        )

    def forward(self, ids: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.words(ids)
        square = x.float().pow(2).mean(-1, keepdim=True)
        normed = (x.float() * torch.rsqrt(square + 1e-6)).type_as(x) * self.scale
        x = x + self.down(F.silu(self.gate(normed)) * self.up(normed))
        scores = self.head(x)
        return F.cross_entropy(scores.view(-1, WORDS), labels.view(-1)), scores


class Experts(nn.Module):
    """Two linear experts that a softmax mixes: sums and products of several dtypes."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(SIZE, 2)
        self.experts = nn.ModuleList([nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE)])
        self.head = nn.Linear(SIZE, 10)

    def forward(self, x: torch.Tensor, wanted: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        weights = self.router(x).softmax(-1)
        each = torch.stack([torch.tanh(expert(x)) for expert in self.experts], dim=-1)
        scores = self.head((each * weights.unsqueeze(-2)).sum(-1))
        return F.nll_loss(F.log_softmax(scores, -1), wanted), scores


class Pixels(nn.Module):
    """Patches of an image as rows, group norm, and a pooled head."""

    def __init__(self) -> None:
        super().__init__()
        self.patch, self.norm = nn.Linear(3 * 16, SIZE), nn.GroupNorm(4, SIZE)
        self.mix, self.head = nn.Linear(16, 16), nn.Linear(SIZE, 10)

    def forward(self, x: torch.Tensor, wanted: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        rows = x.unfold(2, 4, 4).unfold(3, 4, 4).permute(0, 2, 3, 1, 4, 5).reshape(len(x), 16, 48)
        channels = self.norm(self.patch(rows).transpose(1, 2))
        mixed = channels + F.hardswish(self.mix(channels))
        scores = self.head(mixed.mean(-1))
        return F.cross_entropy(scores, wanted, label_smoothing=0.1), scores


def ids(*sizes: int) -> torch.Tensor:
    return torch.zeros(sizes, dtype=torch.long)


MODELS = {
    "encoder": Training(Encoder, lambda: (ids(3, 20), ids(3, 20))),
    "experts": Training(Experts, lambda: (torch.zeros(24, SIZE), ids(24))),
    "gated": Training(Gated, lambda: (ids(2, 16), ids(2, 16))),
    "pixels": Training(Pixels, lambda: (torch.zeros(4, 3, 16, 16), ids(4))),
    "regression": Training(Regression, lambda: (torch.zeros(32, 40), torch.zeros(32, 8))),
}
