# SPDX-License-Identifier: Apache-2.0
"""Small models that several processes train: each returns its loss and its output.

Their parameters are larger than the first bucket of DistributedDataParallel, and some have what it
treats apart: buffers of several dtypes, which are sent before each forward pass, parameters that
are used twice, and such as are not trained.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812


@dataclass(frozen=True)
class Model:
    make: Callable[[], nn.Module]
    inputs: Callable[[], tuple[torch.Tensor, ...]]
    units: tuple[str, ...] = ()  # patterns of modules that are sharded apart
    uses_all: bool = True  # of its parameters
    # How processes share its layers: nothing, where each has all of them.
    plan: dict[str, str] = field(default_factory=dict)
    # No variable of its code holds a tensor any longer than its graph does.
    holds_nothing: bool = False


class Perceptron(nn.Module):
    """Layers of several sizes, of which one is larger than a first bucket."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(96, 640)
        self.blocks = nn.ModuleList(nn.Linear(640, 640) for _ in range(3))
        self.last = nn.Linear(640, 10)

    def forward(self, x: torch.Tensor, classes: torch.Tensor) -> tuple[Any, Any]:
        x = F.relu(self.first(x))
        for block in self.blocks:
            x = x + F.relu(block(x))
        scores = self.last(x)
        return F.cross_entropy(scores, classes), scores


class Convolutions(nn.Module):
    """Batch normalization: buffers, of two dtypes."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 128, 3, 2, 1, bias=False), nn.BatchNorm2d(128), nn.ReLU(),
            nn.Conv2d(128, 256, 3, 2, 1, bias=False), nn.BatchNorm2d(256), nn.ReLU(),
        )  # fmt: skip
        self.head = nn.Linear(256, 100)

    def forward(self, image: torch.Tensor, classes: torch.Tensor) -> tuple[Any, Any]:
        scores = self.head(self.body(image).mean((2, 3)))
        return F.cross_entropy(scores, classes), scores


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, 4, width // 4).transpose(1, 2)
            for part in self.qkv(self.norm1(x)).chunk(3, -1)
        )
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Writer(nn.Module):
    """A causal transformer whose last layer is its embedding; `positions` is a buffer."""

    def __init__(self, width: int = 192, layers: int = 3, words: int = 1000) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(64, width)
        self.layers = nn.ModuleList(Block(width) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight
        self.register_buffer("positions", torch.arange(64))

    def forward(self, words: torch.Tensor, labels: torch.Tensor) -> tuple[Any, Any]:
        x = self.words(words) + self.places(self.positions[: words.shape[1]])
        for layer in self.layers:
            x = layer(x)
        scores = self.head(self.norm(x))
        return F.cross_entropy(scores.flatten(0, 1), labels.flatten()), scores


class Adapted(nn.Module):
    """Frozen layers with trained ones between them."""

    def __init__(self) -> None:
        super().__init__()
        self.frozen = nn.ModuleList(nn.Linear(256, 256).requires_grad_(False) for _ in range(4))
        self.trained = nn.ModuleList(nn.Linear(256, 256) for _ in range(4))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[Any, Any]:
        for frozen, trained in zip(self.frozen, self.trained, strict=True):
            x = torch.tanh(frozen(x) + trained(x))
        return F.mse_loss(x, y), x


class Odd(nn.Module):
    """Sizes that two processes cannot share evenly, parameters that they share alone, a unit called
    twice, and one whose argument requires no gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.ModuleList(nn.Embedding(101, 65) for _ in range(2))
        self.mix = nn.ModuleList(nn.Linear(65, 65) for _ in range(3))
        self.gain = nn.Parameter(torch.ones(1))
        self.head = nn.Linear(65, 7)

    def forward(self, words: torch.Tensor, classes: torch.Tensor) -> tuple[Any, Any]:
        x = self.embed[0](words) + self.embed[1](words)
        for mix in (*self.mix, self.mix[0]):
            x = x + torch.tanh(mix(x)) * self.gain
        x = x.mean(1)
        scores = self.head(x)
        return F.cross_entropy(scores, classes), scores


class Partial(nn.Module):
    """Parameters that no output depends on, between others, and an output without a gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(300, 700)
        self.unused = nn.Linear(500, 500)
        self.norm = nn.LayerNorm(700)
        self.other = nn.Parameter(torch.zeros(40))
        self.last = nn.Linear(700, 100)

    def forward(self, x: torch.Tensor, classes: torch.Tensor) -> tuple[Any, Any, Any]:
        scores = self.last(self.norm(F.relu(self.first(x))))
        return F.cross_entropy(scores, classes), scores, scores.argmax(-1)


class FeedForward(nn.Module):
    """Two layers that are shared, with a bias and without, between two that are not."""

    def __init__(self, bias: bool) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(24, 64), nn.Linear(64, 10)
        self.up, self.down = nn.Linear(64, 256, bias=bias), nn.Linear(256, 64, bias=bias)

    def forward(self, x: torch.Tensor, classes: torch.Tensor) -> tuple[Any, Any]:
        x = self.first(x)
        scores = self.last(x + self.down(F.relu(self.up(x))))
        return F.cross_entropy(scores, classes), scores


class Chain(nn.Module):
    """What comes between its layers nobody else holds."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(24, 64), nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64), nn.Linear(64, 41)
        )

    def forward(self, x: torch.Tensor, classes: torch.Tensor) -> tuple[Any, Any]:
        scores = self.layers(x)
        return F.cross_entropy(scores, classes), scores


class SharedBlock(nn.Module):
    """Of a transformer, as a plan's user writes it: as many heads as there are in what comes."""

    def __init__(self, width: int, heads: int, groups: int, inner: int, bias: bool) -> None:
        super().__init__()
        self.of_head = width // heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.o = (nn.Linear(width, width, bias=bias) for _ in range(2))
        self.k, self.v = (nn.Linear(width, groups * self.of_head, bias=bias) for _ in range(2))
        self.gate, self.up = (nn.Linear(width, inner, bias=bias) for _ in range(2))
        self.down = nn.Linear(inner, width, bias=bias)

    def heads(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(*x.shape[:2], -1, self.of_head).transpose(1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm1(x)
        q, k, v = self.heads(self.q(y)), self.heads(self.k(y)), self.heads(self.v(y))
        times = q.shape[1] // k.shape[1]
        if times > 1:
            k = k.repeat_interleave(times, 1)
            v = v.repeat_interleave(times, 1)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(mixed.transpose(1, 2).reshape(*x.shape[:2], -1))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class SharedWriter(nn.Module):
    """A causal transformer; two processes cannot share its 101 words evenly."""

    def __init__(self, groups: int = 4, bias: bool = True) -> None:
        super().__init__()
        self.words = nn.Embedding(101, 48)
        self.layers = nn.ModuleList(SharedBlock(48, 4, groups, 128, bias) for _ in range(2))
        self.norm = nn.LayerNorm(48)
        self.head = nn.Linear(48, 101, bias=False)

    def forward(self, words: torch.Tensor, labels: torch.Tensor) -> tuple[Any, Any]:
        x = self.words(words)
        for layer in self.layers:
            x = layer(x)
        scores = self.head(self.norm(x))
        return F.cross_entropy(scores.flatten(0, 1), labels.flatten()), scores


class Vocabulary(nn.Module):
    """A table of words of which two processes have different numbers of rows."""

    def __init__(self, bias: bool = True) -> None:
        super().__init__()
        self.words = nn.Embedding(101, 48, padding_idx=0)
        self.up, self.down = nn.Linear(48, 128, bias=bias), nn.Linear(128, 48, bias=bias)
        self.head = nn.Linear(48, 101, bias=bias)

    def mixed(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(F.relu(self.up(x)))

    def forward(self, words: torch.Tensor, labels: torch.Tensor) -> tuple[Any, Any]:
        scores = self.head(self.mixed(self.words(words)))
        return F.cross_entropy(scores.flatten(0, 1), labels.flatten()), scores


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, groups: int) -> None:
        super().__init__()
        self.of_head = width // heads
        self.wq = nn.Linear(width, width, bias=False)
        self.wk, self.wv = (nn.Linear(width, groups * self.of_head, bias=False) for _ in range(2))
        self.wo = nn.Linear(width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        q, k, v = (
            part.view(batch, length, -1, self.of_head).transpose(1, 2)
            for part in (self.wq(x), self.wk(x), self.wv(x))
        )
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.wo(mixed.transpose(1, 2).contiguous().view(batch, length, -1))


class GatedLayers(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.w1, self.w3 = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.w2 = nn.Linear(inner, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class TitanBlock(nn.Module):
    def __init__(self, width: int, make_norm: Callable[[int], nn.Module]) -> None:
        super().__init__()
        self.attention = Attention(width, 4, 2)
        self.feed_forward = GatedLayers(width, 128)
        self.attention_norm, self.ffn_norm = make_norm(width), make_norm(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = x + self.attention(self.attention_norm(x))
        return h + self.feed_forward(self.ffn_norm(h))


class OwnNorm(nn.Module):
    """As Llama's own code has it, but for the number that it adds."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True)) * self.weight


class Titan(nn.Module):
    """A causal transformer with the names of torchtitan's Llama."""

    def __init__(self, make_norm: Callable[[int], nn.Module]) -> None:
        super().__init__()
        self.tok_embeddings = nn.Embedding(101, 48)
        self.layers = nn.ModuleDict({str(i): TitanBlock(48, make_norm) for i in range(2)})
        self.norm = make_norm(48)
        self.output = nn.Linear(48, 101, bias=False)

    def forward(self, tokens: torch.Tensor, labels: torch.Tensor) -> tuple[Any, Any]:
        h = self.tok_embeddings(tokens)
        for layer in self.layers.values():
            h = layer(h)
        scores = self.output(self.norm(h))
        return F.cross_entropy(scores.flatten(0, 1), labels.flatten()), scores


def ids(*sizes: int) -> torch.Tensor:
    return torch.ones(sizes, dtype=torch.long)


MODELS: dict[str, Model] = {
    "perceptron": Model(Perceptron, lambda: (torch.zeros(8, 96), ids(8)), ("blocks.*",)),
    "convolutions": Model(Convolutions, lambda: (torch.zeros(4, 3, 32, 32), ids(4))),
    "writer": Model(Writer, lambda: (ids(2, 32), ids(2, 32)), ("layers.?",)),
    "adapted": Model(
        Adapted,
        lambda: (torch.zeros(16, 256), torch.zeros(16, 256)),
        ("frozen.*", "trained.*"),
    ),
    "odd": Model(Odd, lambda: (ids(3, 17), ids(3)), ("embed.?", "mix.?")),
    "partial": Model(Partial, lambda: (torch.zeros(8, 300), ids(8)), uses_all=False),
}

FEED_FORWARD = {"up": "colwise", "down": "rowwise"}
IN_LAYERS = {
    f"layers.*.{name}": style
    for name, style in [
        *((name, "colwise") for name in ("q", "k", "v", "gate", "up")),
        *((name, "rowwise") for name in ("o", "down")),
    ]
}
SHARED: dict[str, Model] = {
    "chain": Model(
        Chain,
        lambda: (torch.zeros(8, 24), ids(8)),
        plan={"layers.1": "colwise", "layers.3": "rowwise", "layers.4": "colwise_gather"},
        holds_nothing=True,
    ),
    "feedforward": Model(
        lambda: FeedForward(bias=True),
        lambda: (torch.zeros(8, 24), ids(8)),
        plan=FEED_FORWARD,
    ),
    "feedforward-plain": Model(
        lambda: FeedForward(bias=False),
        lambda: (torch.zeros(8, 24), ids(8)),
        plan=FEED_FORWARD,
    ),
    "blocks": Model(SharedWriter, lambda: (ids(2, 16), ids(2, 16)), plan=IN_LAYERS),
    "blocks-grouped": Model(
        lambda: SharedWriter(groups=2, bias=False),
        lambda: (ids(2, 16), ids(2, 16)),
        plan={**IN_LAYERS, "head": "colwise_gather", "words": "colwise_gather"},
    ),
}

# That of torchtitan's Llama.
TITAN_PLAN = {
    "tok_embeddings": "RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1))",
    "norm": "SequenceParallel()",
    "output": "ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate())",
    "layers.*.attention_norm": "SequenceParallel()",
    "layers.*.attention": "PrepareModuleInput(input_layouts=(Shard(1),), "
    "desired_input_layouts=(Replicate(),))",
    **{f"layers.*.attention.w{name}": "ColwiseParallel()" for name in "qkv"},
    "layers.*.attention.wo": "RowwiseParallel(output_layouts=Shard(1))",
    "layers.*.ffn_norm": "SequenceParallel()",
    "layers.*.feed_forward": "PrepareModuleInput(input_layouts=(Shard(1),), "
    "desired_input_layouts=(Replicate(),))",
    **{f"layers.*.feed_forward.w{name}": "ColwiseParallel()" for name in "13"},
    "layers.*.feed_forward.w2": "RowwiseParallel(output_layouts=Shard(1))",
}
SHARED |= {
    "vocabulary": Model(
        Vocabulary,
        lambda: (ids(2, 16), ids(2, 16)),
        plan={
            "words": "rowwise(input_layouts=Replicate())",
            "head": "colwise_gather",
            **FEED_FORWARD,
        },
    ),
    # Layers without PrepareModuleInput, which each gather what they take.
    "sequence": Model(
        lambda: Vocabulary(bias=False),
        lambda: (ids(2, 16), ids(2, 16)),
        plan={
            "words": "rowwise(input_layouts=Replicate(), output_layouts=Shard(1))",
            "up": "colwise(input_layouts=Shard(1))",
            "down": "rowwise(output_layouts=Shard(1))",
            "head": "colwise_gather(input_layouts=Shard(1))",
        },
    ),
    "titan": Model(lambda: Titan(nn.RMSNorm), lambda: (ids(2, 16), ids(2, 16)), plan=TITAN_PLAN),
    # What comes between modules is no DTensor.
    "titan-local": Model(
        lambda: Titan(OwnNorm),
        lambda: (ids(2, 16), ids(2, 16)),
        plan={
            layers: f"{style[:-1]}{', ' * (style[-2] != '(')}use_local_output=True)"
            if style.startswith(("Sequence", "Prepare"))
            else style
            for layers, style in TITAN_PLAN.items()
        },
    ),
    "titan-layernorm": Model(
        lambda: Titan(nn.LayerNorm), lambda: (ids(2, 16), ids(2, 16)), plan=TITAN_PLAN
    ),
}


def doubled(model: Model) -> Model:
    """In float64, of which float32 is the low precision: its kernels are alike on every CPU."""

    def inputs() -> tuple[torch.Tensor, ...]:
        return tuple(x.double() if x.is_floating_point() else x for x in model.inputs())

    return replace(model, make=lambda: model.make().double(), inputs=inputs)


MODELS |= {f"{name}-double": doubled(model) for name, model in MODELS.items() if model.uses_all}
MODELS |= SHARED
