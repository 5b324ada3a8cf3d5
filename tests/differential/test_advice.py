# SPDX-License-Identifier: Apache-2.0
"""What `--advise` proposes beside recomputation, in PyTorch: every allocation and free.

`--fused-loss` is held to the Python function of docs/training_memory.md, as the last part of a
module's forward pass; `--inplace` to the exported graph with those calls in place whose every
replacement PyTorch accepts and that changes no result, no gradient and no input.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import processor
import pytest
import torch
from compare import Events, public_events, side_by_side
from recorder import events_of
from test_recompute import weighed
from torch import fx, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint


def expect(ours: Events, theirs: Events) -> None:
    if not processor.is_stated():
        ours, theirs = public_events(ours), public_events(theirs)
    if ours != theirs:
        shown = side_by_side(*([f"{n:+} {label}" for label, n in seen] for seen in (ours, theirs)))
        pytest.fail(shown, pytrace=False)


def exported(net: nn.Module, sample: torch.Tensor, path: Path) -> torch.export.ExportedProgram:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(net.train(), (sample,))
        torch.export.save(program, path)
    return program


def two_steps(step: Callable[[], None]) -> Events:
    """Those of the second one, which finds what the first one made."""
    step()
    return events_of(step)


# --- fused loss -----------------------------------------------------------------------------------


class Tagger(nn.Module):  # type: ignore[misc]
    """Scores of words, from a body and a last layer that may be more than linear."""

    def __init__(self, bias: bool = True, cap: float = 0.0) -> None:
        super().__init__()
        self.cap = cap
        self.embed = nn.Embedding(31, 12)
        self.mix = nn.Linear(12, 12)
        self.head = nn.Linear(12, 31, bias=bias)

    def body(self, ids: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.mix(self.embed(ids)))

    def scores(self, hidden: torch.Tensor) -> torch.Tensor:
        if self.cap:
            return torch.tanh(self.head(hidden) / self.cap) * self.cap
        scores: torch.Tensor = self.head(hidden)
        return scores

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.scores(self.body(ids))


class Tied(Tagger):
    """The last layer has the weight of the first."""

    def __init__(self) -> None:
        super().__init__()
        self.head.weight = self.embed.weight


class Classifier(Tagger):
    """One row for each example."""

    def body(self, ids: torch.Tensor) -> torch.Tensor:
        return super().body(ids).mean(1)


def fused_loss(
    hidden: torch.Tensor,
    labels: torch.Tensor,
    scores: Callable[[torch.Tensor], torch.Tensor],
    chunks: int,
    smoothing: float,
) -> torch.Tensor:
    def loss(h: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return functional.cross_entropy(scores(h), y, reduction="sum", label_smoothing=smoothing)

    pairs = zip(hidden.chunk(chunks), labels.chunk(chunks), strict=True)
    total = torch.stack([checkpoint(loss, h, y, use_reentrant=False) for h, y in pairs]).sum()
    return total / len(labels)


class Fused(nn.Module):  # type: ignore[misc]
    """The same model, which returns its loss."""

    def __init__(self, net: Tagger, chunks: int, smoothing: float) -> None:
        super().__init__()
        self.net, self.chunks, self.smoothing = net, chunks, smoothing

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        hidden = self.net.body(ids)
        if hidden.ndim > 2:
            hidden = hidden.reshape(-1, hidden.shape[-1])
        labels = torch.zeros(len(hidden), dtype=torch.int64)
        return fused_loss(hidden, labels, self.net.scores, self.chunks, self.smoothing)


@dataclass(frozen=True)
class Loss:
    make: Callable[[], Tagger]
    chunks: int
    smoothing: float = 0.0


LOSSES = {
    "one": Loss(Tagger, 1),
    "even": Loss(Tagger, 4),
    "uneven": Loss(Tagger, 5),
    "fewer_than_asked": Loss(Tagger, 11),
    "no_bias": Loss(lambda: Tagger(bias=False), 3),
    "capped": Loss(lambda: Tagger(cap=30.0), 3),
    "tied": Loss(Tied, 4),
    "smoothed": Loss(Tagger, 3, 0.1),
    "rows": Loss(Classifier, 2),
}


@pytest.mark.parametrize("case", LOSSES.values(), ids=LOSSES.keys())
def test_fused_loss(case: Loss, tmp_path: Path) -> None:
    torch.manual_seed(0)
    net, ids = case.make(), torch.randint(0, 31, (2, 8))
    exported(net, ids, tmp_path / "net.pt2")
    fused = Fused(net, case.chunks, case.smoothing)
    optimizer = torch.optim.SGD(net.parameters())

    def step() -> None:
        loss = fused(ids)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    loss = "label-smoothing" if case.smoothing else "cross-entropy"
    options = ["--loss", loss, "--fused-loss", str(case.chunks)]
    expect(weighed(tmp_path / "net.pt2", options), two_steps(step))


# --- in place -------------------------------------------------------------------------------------

ACTIVATIONS = {
    "relu": nn.ReLU,
    "relu6": nn.ReLU6,
    "hardtanh": nn.Hardtanh,
    "leaky_relu": nn.LeakyReLU,
    "elu": nn.ELU,
    "silu": nn.SiLU,
    "hardswish": nn.Hardswish,
    "hardsigmoid": nn.Hardsigmoid,
    "gelu": nn.GELU,
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
    "dropout": nn.Dropout,
}


class Mixed(nn.Module):  # type: ignore[misc]
    """Activations after what saves its result, its operand or nothing, and before a residual."""

    def __init__(self, make: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.first, self.second, self.third = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6)
        self.norm = nn.LayerNorm(6)
        self.act = nn.ModuleList([make() for _ in range(7)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = self.act[0](self.first(x))
        b = self.act[1](torch.tanh(self.second(a)))  # tanh keeps its result
        c = self.act[2](self.norm(b) + x)
        d = self.third(c)
        e = self.act[3](d) - 0.5 * d  # read again
        f, g = self.act[4](e).split([2, 4], -1)
        h = self.act[5](g * 2.0) * self.act[6](f.sum(-1, keepdim=True))
        y: torch.Tensor = torch.cat([h, f], -1)
        return y


class Convolved(nn.Module):  # type: ignore[misc]
    def __init__(self, make: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.act = nn.ModuleList([make() for _ in range(3)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.act[0](self.bn(self.conv(x[:, :, :8].reshape(2, 3, 4, 6))))
        z: torch.Tensor = self.act[1](nn.functional.max_pool2d(y, 2)) + 1.0
        return self.act[2](z)


def in_place(function: object) -> object | None:
    """The form of an operator that overwrites its first argument."""
    if not isinstance(function, torch._ops.OpOverload):
        return None
    tensors = [a for a in function._schema.arguments if "Tensor" in str(a.type)]
    if len(tensors) != 1:
        return None
    packet = getattr(torch.ops.aten, f"{function._schema.name.removeprefix('aten::')}_", None)
    return getattr(packet, function._overloadname, None)


def candidates(module: fx.GraphModule) -> Iterator[fx.Node]:
    for node in module.graph.nodes:
        tensors = [n for n in node.all_input_nodes if n.op != "get_attr"]
        if node.op != "call_function" or len(tensors) != 1 or not in_place(node.target):
            continue
        if tensors[0].meta["val"].shape == node.meta["val"].shape:
            yield node


def gradients(module: fx.GraphModule, sample: torch.Tensor) -> list[torch.Tensor]:
    """Of a step, with its output and what became of its input."""
    torch.manual_seed(1)
    module.zero_grad()  # of a pass that failed
    given = sample.clone()
    output = module(given)
    functional.mse_loss(output, torch.zeros(output.shape)).backward()
    found = [p.grad for p in module.parameters() if p.grad is not None]
    return [output.detach().clone(), given, *found]


def accepted(module: fx.GraphModule, node: fx.Node, sample: torch.Tensor) -> bool:
    """Whether PyTorch runs the call in place and nothing else changes."""
    before = gradients(module, sample)
    plain, node.target = node.target, in_place(node.target)
    module.recompile()
    try:
        after = gradients(module, sample)
    except RuntimeError:
        return False
    finally:
        node.target = plain
        module.recompile()
    return all(torch.allclose(a, b) for a, b in zip(before, after, strict=True))


NETS = {
    "rows": (Mixed, (5, 6)),
    "views": (Mixed, (2, 3, 6)),  # what a linear layer gives of three dimensions is a view
    "images": (Convolved, (2, 3, 8, 3)),
}


@pytest.mark.parametrize("make", ACTIVATIONS.values(), ids=ACTIVATIONS.keys())
@pytest.mark.parametrize("name", NETS)
def test_in_place(name: str, make: Callable[[], nn.Module], tmp_path: Path) -> None:
    torch.manual_seed(0)
    net, sizes = NETS[name]
    sample = torch.randn(sizes)
    program = exported(net(make), sample, tmp_path / "net.pt2")
    module = program.module()
    for node in list(module.graph.nodes):
        if node.op == "call_module":  # checks of the inputs
            module.graph.erase_node(node)
    module.recompile()
    for node in list(candidates(module)):
        if accepted(module, node, sample):
            node.target = in_place(node.target)
    module.recompile()
    module.zero_grad()
    optimizer = torch.optim.SGD(module.parameters())

    def step() -> None:
        output = module(sample)
        loss = functional.mse_loss(output, torch.zeros(output.shape))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    options = ["--loss", "mse", "--inplace", "*"]
    ours = weighed(tmp_path / "net.pt2", options)
    expect(ours, two_steps(step))
