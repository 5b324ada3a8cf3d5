# SPDX-License-Identifier: Apache-2.0
"""Forward passes of live modules hold what the variables of their functions hold."""

from __future__ import annotations

from collections.abc import Callable
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


def chain(source: str) -> Callable[[], nn.Module]:
    """A module with such a `forward`."""
    found: dict[str, Any] = {"torch": torch, "functional": functional}
    exec("def forward(self, x):\n    " + source.replace("\n", "\n    "), found)

    class Chain(nn.Module):
        forward = found["forward"]

        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(64, 64) for _ in range(3))
            self.first = self.layers[0]

    return Chain


# Ways of writing one thing; no two hold the same for as long.
WRITTEN = {
    "without spaces": (
        "y=self.first(x)\nz=torch.relu(y)\nw=torch.tanh(z)\nreturn torch.sigmoid(w)"
    ),
    "on one line": "y = self.first(x); z = torch.relu(y); return torch.tanh(z)",
    "nested in a loop": ("for layer in self.layers: x = functional.relu(layer(x))\nreturn x"),
    "one of two results": ("v, i = self.first(x).topk(8)\nreturn torch.tanh(torch.relu(v))"),
    "in a list": (
        "all = [x]\nfor layer in self.layers:\n    all.append(layer(all[-1]))\nreturn all[-1]"
    ),
    "deleted": ("y = self.first(x)\nz = torch.relu(y)\ndel y\nreturn torch.sigmoid(torch.tanh(z))"),
    "in an expression": (
        "if (y := self.first(x)).shape[0] > 1:\n    z = torch.relu(y)\nreturn torch.tanh(z)"
    ),
    "in parts": (
        "(q, k), v = self.first(x).chunk(2, -1), torch.relu(x)\nreturn (q * k).sum() + v.tanh()"
    ),
    "by a function": (
        "def twice(h):\n"
        "    g = torch.relu(h)\n"
        "    return torch.tanh(g)\n"
        "return twice(self.first(x))"
    ),
    "in a closure": (
        "y = self.first(x)\nlater = lambda: y + 1\nz = torch.relu(x).tanh()\nreturn z * later()"
    ),
}


@pytest.mark.parametrize(
    "make",
    [
        *(pytest.param(make, id=make.__name__) for make in (Attention, Masked, Stack, encoder)),
        *(pytest.param(chain(source), id=name) for name, source in WRITTEN.items()),
    ],
)
def test_the_peak_is_that_of_the_live_module(make: Any) -> None:
    model, x = make().eval(), torch.randn(2, 64, 64)

    def run() -> None:
        with torch.no_grad():
            model(x)

    run()
    assert weighed(model, x) == peak_of(events_of(run))


# Where one call ends the lives of several.
ENDS = {
    "a temporary before a variable": (
        "y = self.first(x)\ny = y + self.first(x[:, :1])\nreturn torch.tanh(y)"
    ),
    "in the order of variables": (
        "y = self.first(x)\nz = torch.relu(y[:, :8])\nw = z.sum(-1)\nreturn w + y[:, :8].sum(-1)"
    ),
    "arguments of functions": (
        "u = functional.normalize(self.first(x[:, :4]).sum(-1), out=x[:, :4, 0])\n"
        "return torch.tanh(u)"
    ),
}


@pytest.mark.parametrize("source", ENDS.values(), ids=list(ENDS))
def test_what_a_call_ends_goes_in_the_order_of_the_live_module(source: str) -> None:
    model, x = chain(source)().eval(), torch.randn(2, 64, 64)

    def run() -> None:
        with torch.no_grad():
            model(x)

    run()
    seen = [size for _, size in events_of(run)]
    assert [size for _, size, _ in steelyard.weigh(model, x).events] == seen


class Projections(nn.Module):
    """Its variables are of float32 where autocast has what is computed of them be narrower."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.q, self.k = nn.LayerNorm(64), nn.Linear(64, 64), nn.Linear(64, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.norm(x)
        q, k = self.q(h), self.k(h)
        return (q * k).square().mean()


def test_variables_stay_where_autograd_saves_casts_of_them() -> None:
    """A linear layer saves the cast of its operand; the variable lives until `forward` returns."""
    model, x = Projections(), torch.randn(2, 512, 64)

    def step() -> None:
        with torch.autocast("cpu", torch.bfloat16):
            loss = model(x)
        loss.backward()
        for parameter in model.parameters():
            parameter.grad = None

    step()
    # Casts of weights go in an order that differs between processes.
    narrow = x.numel() * 2
    seen = [size for _, size in events_of(step) if abs(size) >= narrow]
    weighing = steelyard.weigh(model, x, train="sgd", amp="bf16")
    assert [size for _, size, _ in weighing.events if abs(size) >= narrow] == seen


def test_what_an_operator_gives_besides_is_as_the_device_has_it() -> None:
    """On the CPU sums of rows give no bag of each index; on CUDA they do."""
    words, bags = torch.arange(60), torch.arange(0, 60, 10)
    model = nn.EmbeddingBag(100, 8, mode="sum").eval()
    weighing = steelyard.weigh(model, (words, bags), device="h100")
    assert not weighing.data["unmodelled"]
    assert not weighing.data["notes"]
    sizes, bag_of_each, sums = 6 * 8, 60 * 8, 6 * 8 * 4
    assert [size for _, size, _ in weighing.events][:3] == [sizes, bag_of_each, sums]


def test_an_export_frees_earlier() -> None:
    model, x = Stack().eval(), torch.randn(2, 64, 64)
    assert weighed(model, x, as_="exported") < weighed(model, x)


class Weights(nn.Module):
    """A layer of attention alone, with the weights that it gives."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(64, 4, batch_first=True)
        self.options = options

    def forward(self, x: torch.Tensor) -> Any:
        return self.attention(x, x, x, **self.options)


class Named(Weights):
    """The same, where what needs no weights is called by names."""

    def forward(self, x: torch.Tensor) -> Any:
        layer = self.attention
        return torch._native_multi_head_attention(
            query=x,
            key=x,
            value=x,
            embed_dim=64,
            num_head=4,
            qkv_weight=layer.in_proj_weight,
            qkv_bias=layer.in_proj_bias,
            proj_weight=layer.out_proj.weight,
            proj_bias=layer.out_proj.bias,
            **self.options,
        )[0]


MASK = nn.Transformer.generate_square_subsequent_mask(8)
PADDED = torch.arange(8) >= torch.tensor([[8], [5]])  # rows begin with what is no padding
UNALIGNED = PADDED.flip(1)


@pytest.mark.parametrize(
    ("model", "keywords"),
    [
        (nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, norm_first=True), {}),
        (nn.TransformerEncoderLayer(64, 4, 128, activation="gelu", batch_first=True), {}),
        (nn.TransformerEncoder(encoder(), 2), {"mask": MASK, "is_causal": True}),
        (nn.TransformerEncoder(encoder(), 2), {"src_key_padding_mask": UNALIGNED}),
        (
            nn.TransformerEncoder(encoder(), 2, enable_nested_tensor=False),
            {"src_key_padding_mask": PADDED},
        ),
        (Weights(), {}),
        (Weights(need_weights=False), {}),
        (Weights(average_attn_weights=False), {}),
        (Named(), {}),
        (Named(need_weights=False), {}),
        (nn.Transformer(64, 4, 1, 1, 128, batch_first=True), {"tgt": torch.randn(2, 8, 64)}),
    ],
)
def test_layers_that_run_as_one_operator(model: nn.Module, keywords: dict[str, Any]) -> None:
    model, x = model.eval(), torch.randn(2, 8, 64)

    def run() -> None:
        with torch.no_grad():
            model(x, **keywords)

    run()
    report = steelyard.weigh(model, x, kwargs=keywords).data
    memory = report["memory"]
    assert not report["unmodelled"]
    assert not report["notes"]
    assert memory["peak"] - memory["resident"] == peak_of(events_of(run))


def test_layers_without_the_fused_path() -> None:
    model, x = encoder().eval(), torch.randn(2, 8, 64)
    fused = weighed(model, x)
    assert fused < weighed(model, x, as_="exported")
    enabled = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        assert fused < weighed(model, x)
    finally:
        torch.backends.mha.set_fastpath_enabled(enabled)


def test_a_nested_tensor_is_told() -> None:
    def notes(mask: torch.Tensor) -> str:
        model, x = nn.TransformerEncoder(encoder(), 1).eval(), torch.randn(2, 8, 64)
        data = steelyard.weigh(model, x, kwargs={"src_key_padding_mask": mask}).data
        return " ".join(note["message"] for note in data["notes"])

    assert "nested tensor" in notes(PADDED)
    assert "nested tensor" not in notes(UNALIGNED)


class Cache:
    """What torch.export does not know."""

    def __init__(self) -> None:
        self.layers: list[dict[str, torch.Tensor]] = []


class Caching(Stack):
    def forward(self, x: torch.Tensor) -> Any:
        cache = Cache()
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
            cache.layers.append({"keys": torch.relu(x), "values": x[:, 1:]})
        return {"x": x, "cache": cache, "length": x.shape[1]}


@pytest.mark.parametrize("train", [False, True])
def test_a_cache_is_what_the_module_gives(train: bool) -> None:
    x = torch.randn(2, 12, 64)
    model = Caching()
    optimizer = torch.optim.SGD(model.parameters(), foreach=False)

    def step() -> None:
        given = model(x)
        if train:
            given["x"].sum().backward()
            optimizer.step()
            optimizer.zero_grad()

    step()
    with torch.set_grad_enabled(train):
        measured = peak_of(events_of(step))
    keywords = {"train": "sgd", "loss": "sum"} if train else {}
    assert weighed(model, x, **keywords) == measured


class RootMeanSquareNorm(nn.Module):
    """As transformers writes it."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        dtype = x.dtype
        x = x.to(torch.float32)
        variance = x.pow(2).mean(-1, keepdim=True)
        x = x * torch.rsqrt(variance + 1e-6)
        return self.weight * x.to(dtype)


def test_casts_leave_variables_where_they_are() -> None:
    model = nn.Sequential(RootMeanSquareNorm(), nn.ReLU()).bfloat16()
    x = torch.randn(2, 12, 64).bfloat16()

    def call() -> None:
        with torch.no_grad():
            model(x)

    call()
    assert weighed(model, x) == peak_of(events_of(call))
