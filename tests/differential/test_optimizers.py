# SPDX-License-Identifier: Apache-2.0
"""Whole training steps with each optimizer: every allocation and free as PyTorch makes it."""

import functools
import inspect
import io
import json
import os
import subprocess
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
from compare import Events, public_events, side_by_side
from recorder import events_of
from table import ROOT
from torch import nn

Parameters = Iterable[nn.Parameter]
Maker = Callable[[nn.Module], list[torch.optim.Optimizer]]

# Steps before the one that is recorded: RAdam is steady from the sixth on.
WARM_UP = 7


class Net(nn.Module):  # type: ignore[misc]
    """Two matrices of different shapes, vectors, and a parameter of four dimensions."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(30, 50)
        self.second = nn.Linear(50, 7)
        self.scale = nn.Parameter(torch.ones(2, 3, 1, 7))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = self.second(torch.tanh(self.first(x)))
        return hidden * self.scale


class Matrices(nn.Module):  # type: ignore[misc]
    """Parameters that are all matrices, for optimizers that take no others."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(30, 50, bias=False)
        self.second = nn.Linear(50, 7, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.second(torch.tanh(self.first(x)))
        return result


class Sparse(nn.Module):  # type: ignore[misc]
    """Tables whose gradients are sparse, one of them taken over and one copied, and a matrix."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Embedding(40, 30, sparse=True)
        self.second = nn.Linear(30, 7)
        self.third = nn.Embedding(50, 7, sparse=True)
        self.register_buffer("ids", torch.arange(9))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.second(self.first(self.ids) * x) + self.third(self.ids)
        return result


class Wide(nn.Module):  # type: ignore[misc]
    """A matrix large enough for eight bits, and small parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(100, 60)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.first(torch.cat([x, x, x, x], 1)[:, :100])
        return result


class Complex(nn.Module):  # type: ignore[misc]
    """Complex parameters, and a real one."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = nn.Parameter(torch.ones(30, dtype=torch.complex64))
        self.matrix = nn.Parameter(torch.ones(30, 7, dtype=torch.complex64))
        self.scale = nn.Parameter(torch.ones(7))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = ((x * self.turn) @ self.matrix).abs() * self.scale
        return result


class LANS(torch.optim.Optimizer):  # type: ignore[misc]
    """LANS (arXiv:2006.13484) in the steps in which its authors' Python version computes it."""

    def __init__(self, parameters: Parameters, weight_decay: float) -> None:
        super().__init__(parameters, {"weight_decay": weight_decay})

    def step(self, closure: Any = None) -> None:
        eps, beta1, beta2, lr = 1e-6, 0.9, 0.999, 1e-3
        for group in self.param_groups:
            for p in group["params"]:
                p.grad.data /= p.grad.data.norm().add(eps)
                grad, state = p.grad.data, self.state[p]
                if not state:
                    state["step"] = 0
                    state["m"], state["v"] = torch.zeros_like(p.data), torch.zeros_like(p.data)
                m, v = state["m"], state["v"]
                state["step"] += 1
                m.mul_(beta1).add_(grad, alpha=1 - beta1)
                v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                m_hat = m / (1 - beta1 ** state["step"])
                v_hat = v / (1 - beta2 ** state["step"])
                by_m = m_hat / v_hat.sqrt().add(eps)
                by_grad = grad / v_hat.sqrt().add(eps)
                if group["weight_decay"] != 0:
                    by_m.add_(p.data, alpha=group["weight_decay"])
                    by_grad.add_(p.data, alpha=group["weight_decay"])
                trust_m: Any = 1.0
                trust_grad: Any = 1.0
                norm = p.data.pow(2).sum().sqrt()
                norm_m = by_m.pow(2).sum().sqrt()
                norm_grad = by_grad.pow(2).sum().sqrt()
                if norm > 0 and norm_m > 0:
                    trust_m = norm / norm_m
                if norm > 0 and norm_grad > 0:
                    trust_grad = norm / norm_grad
                p.data.add_(by_m, alpha=-lr * beta1 * trust_m)
                p.data.add_(by_grad, alpha=-lr * (1 - beta1) * trust_grad)


def with_masters(base: type[torch.optim.Optimizer], **options: Any) -> Maker:
    """An optimizer of float32 copies of a model's parameters, as --optim-args master_weights."""

    def begin(self: Any, model: Parameters) -> None:
        self.model = list(model)
        base.__init__(self, [p.detach().float() for p in self.model], **options)

    def step(self: Any, closure: Any = None) -> None:
        with torch.no_grad():
            masters = self.param_groups[0]["params"]
            for parameter, master in zip(self.model, masters, strict=True):
                master.grad = parameter.grad.float()
            base.step(self)
            for parameter, master in zip(self.model, masters, strict=True):
                master.grad = None
                parameter.copy_(master)

    def zero_grad(self: Any, set_to_none: bool = True) -> None:
        group = self.param_groups[0]
        masters, group["params"] = group["params"], self.model
        base.zero_grad(self, set_to_none)
        group["params"] = masters

    members = {"__init__": begin, "step": step, "zero_grad": zero_grad}
    made = type(base.__name__, (base,), members)
    return lambda net: [made(net.parameters())]


@dataclass(frozen=True)
class Loop:
    """A training loop, and the options of `steelyard weigh` that mean the same."""

    options: str
    make: Maker
    net: Callable[[], nn.Module] = Net
    accumulate: int = 1
    clip: Callable[[Parameters], Any] | None = None
    set_to_none: bool = True
    freeze: tuple[str, ...] = field(default=())
    dtype: torch.dtype = torch.float32

    def run(self, net: nn.Module, optimizers: list[torch.optim.Optimizer], x: torch.Tensor) -> None:
        for micro_step in range(self.accumulate):
            output = net(x)
            loss = nn.functional.mse_loss(output, torch.zeros(output.shape, dtype=self.dtype))
            if self.accumulate > 1:
                loss = loss / self.accumulate
            loss.backward()
            if micro_step + 1 < self.accumulate:
                del output, loss
        if self.clip is not None:
            self.clip(net.parameters())
        for optimizer in optimizers:
            optimizer.step()
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=self.set_to_none)


def one(optimizer: Callable[..., torch.optim.Optimizer], **options: Any) -> Maker:
    return lambda net: [optimizer([p for p in net.parameters() if p.requires_grad], **options)]


def from_package(package: str, name: str, **options: Any) -> Maker:
    def make(net: nn.Module) -> list[torch.optim.Optimizer]:
        return [getattr(pytest.importorskip(package), name)(net.parameters(), **options)]

    return make


def decay_but_biases(net: nn.Module) -> list[torch.optim.Optimizer]:
    biases = [p for name, p in net.named_parameters() if name.endswith("bias")]
    others = [p for name, p in net.named_parameters() if not name.endswith("bias")]
    groups = [{"params": others}, {"params": biases, "weight_decay": 0.0}]
    return [torch.optim.Adam(groups, weight_decay=0.1)]


def matrices_by_muon(net: nn.Module) -> list[torch.optim.Optimizer]:
    matrices = [p for p in net.parameters() if p.ndim == 2]
    others = [p for p in net.parameters() if p.ndim != 2]
    return [torch.optim.Muon(matrices), torch.optim.AdamW(others)]


def by_norm(parameters: Parameters) -> None:
    nn.utils.clip_grad_norm_(parameters, 1.0)


def by_value(parameters: Parameters) -> None:
    nn.utils.clip_grad_value_(parameters, 0.1)


optim = torch.optim
LOOPS = {
    "sgd": Loop("sgd", one(optim.SGD)),
    "sgd_decay": Loop("sgd --weight-decay 0.1", one(optim.SGD, weight_decay=0.1)),
    "sgd_momentum": Loop("sgd --momentum 0.9", one(optim.SGD, momentum=0.9)),
    "sgd_nesterov": Loop(
        "sgd --momentum 0.9 --nesterov --weight-decay 0.1",
        one(optim.SGD, momentum=0.9, nesterov=True, weight_decay=0.1),
    ),
    "sgd_maximize": Loop(
        "sgd --weight-decay 0.1 --optim-args maximize=True",
        one(optim.SGD, weight_decay=0.1, maximize=True),
    ),
}
FORMS = {
    "adam": (optim.Adam, "foreach fused", ("weight_decay=0.1", "amsgrad=True", "maximize=True")),
    "adamw": (optim.AdamW, "foreach fused", ("weight_decay=0", "amsgrad=True", "maximize=True")),
    "nadam": (
        optim.NAdam,
        "foreach",
        ("weight_decay=0.1", "weight_decay=0.1,decoupled_weight_decay=True", "maximize=True"),
    ),
    "radam": (
        optim.RAdam,
        "foreach",
        ("weight_decay=0.1", "weight_decay=0.1,decoupled_weight_decay=True", "maximize=True"),
    ),
    "adagrad": (optim.Adagrad, "foreach fused", ("weight_decay=0.1", "maximize=True")),
    "rmsprop": (
        optim.RMSprop,
        "foreach",
        ("weight_decay=0.1", "centered=True", "momentum=0.9", "maximize=True,weight_decay=0.1"),
    ),
    "adafactor": (optim.Adafactor, "foreach", ("weight_decay=0.1", "maximize=True")),
    "sgd": (
        optim.SGD,
        "foreach fused",
        ("weight_decay=0.1", "momentum=0.9", "maximize=True,weight_decay=0.1,momentum=0.9"),
    ),
}


def read_options(text: str) -> dict[str, Any]:
    pairs = (option.split("=") for option in text.split(","))
    return {name: value == "True" if value == "True" else float(value) for name, value in pairs}


for name, (optimizer, forms, variants) in FORMS.items():
    for form in ("", *forms.split()):
        flag, chosen = (f" --{form}", {form: True}) if form else ("", {})
        LOOPS[f"{name}_{form}"] = Loop(name + flag, one(optimizer, **chosen))
        for variant in variants:
            LOOPS[f"{name}_{form}_{variant}"] = Loop(
                f"{name}{flag} --optim-args {variant}",
                one(optimizer, **chosen, **read_options(variant)),
            )
# Numbers of the step: they are taken, and nothing that is allocated depends on them.
NUMBERS = {
    "adam": "lr=0.1,eps=1e-06,betas=(0.8,0.95)",
    "nadam": "lr=0.1,eps=1e-06,momentum_decay=0.01,betas=(0.8,0.95)",
    "radam": "lr=0.1,eps=1e-06,betas=(0.8,0.95)",
    "adagrad": "lr=0.1,lr_decay=0.1,initial_accumulator_value=0.5,eps=1e-06",
    "rmsprop": "lr=0.1,alpha=0.9,eps=1e-06",
    "adafactor": "lr=0.1,beta2_decay=-0.5,eps=(None,0.01),d=2.0",
    "muon": "lr=0.1,momentum=0.5,eps=1e-06,ns_coefficients=(3.0,-4.0,2.0)",
}
MADE = {name: made for name, (made, _, _) in FORMS.items()} | {"muon": optim.Muon}
LOOPS |= {
    f"{name}_numbers": Loop(
        f"{name} --optim-args {numbers}",
        one(MADE[name], **eval(f"dict({numbers})")),
        net=Matrices if name == "muon" else Net,
    )
    for name, numbers in NUMBERS.items()
}
LOOPS |= {
    f"adam_{form}_decoupled": Loop(
        f"adam{form and f' --{form}'} --optim-args weight_decay=0.1,decoupled_weight_decay=True",
        one(
            optim.Adam,
            weight_decay=0.1,
            decoupled_weight_decay=True,
            **({form: True} if form else {}),
        ),
    )
    for form in ("", "foreach", "fused")
}
LOOPS |= {
    "sgd_foreach_nesterov": Loop(
        "sgd --foreach --momentum 0.9 --nesterov --weight-decay 0.1",
        one(optim.SGD, momentum=0.9, nesterov=True, weight_decay=0.1, foreach=True),
    ),
    "muon": Loop("muon", one(optim.Muon), net=Matrices),
    "muon_plain": Loop(
        "muon --optim-args nesterov=False", one(optim.Muon, nesterov=False), net=Matrices
    ),
    "muon_adamw": Loop("muon", matrices_by_muon),
    "lion": Loop("lion --weight-decay 0.1", from_package("lion_pytorch", "Lion", weight_decay=0.1)),
    "lamb": Loop("lamb", from_package("timm.optim", "Lamb")),
    "lamb_no_decay": Loop(
        "lamb --weight-decay 0", from_package("timm.optim", "Lamb", weight_decay=0)
    ),
    "adamw8bit": Loop("adamw8bit", from_package("bitsandbytes.optim", "AdamW8bit"), net=Wide),
    "adamw8bit_bf16": Loop(
        "adamw8bit",
        from_package("bitsandbytes.optim", "AdamW8bit"),
        net=Wide,
        dtype=torch.bfloat16,
    ),
    "lans": Loop("lans", one(LANS, weight_decay=0.1)),
    "lans_no_decay": Loop("lans --weight-decay 0", one(LANS, weight_decay=0.0)),
    **{
        f"{name}{form}_complex": Loop(
            f"{name}{form and f' --{form}'}{decay and f' --weight-decay {decay}'}",
            one(made, **{form: True} if form else {"foreach": False}, weight_decay=decay),
            net=Complex,
        )
        for name, (made, forms, _) in FORMS.items()
        for form in ("", *forms.split())
        for decay in (0.1,)
        if form != "fused" and name != "adafactor"
    },
    "groups": Loop("adam --weight-decay 0.1 --no-decay *.bias", decay_but_biases),
    "clip_norm": Loop("adam --clip-norm 1", one(optim.Adam), clip=by_norm),
    "clip_value": Loop("adam --clip-value 0.1", one(optim.Adam), clip=by_value),
    "accumulate": Loop("adam --accumulate 3", one(optim.Adam), accumulate=3),
    "accumulate_clip": Loop(
        "adamw --accumulate 4 --clip-norm 1", one(optim.AdamW), accumulate=4, clip=by_norm
    ),
    "zeros": Loop("sgd --zero-grad zeros", one(optim.SGD), set_to_none=False),
    "zeros_accumulate": Loop(
        "adam --foreach --zero-grad zeros --accumulate 2",
        one(optim.Adam, foreach=True),
        set_to_none=False,
        accumulate=2,
    ),
    "freeze": Loop("adamw --freeze first", one(optim.AdamW), freeze=("first.weight", "first.bias")),
    "freeze_biases": Loop(
        "adamw --freeze *.bias", one(optim.AdamW), freeze=("first.bias", "second.bias")
    ),
    "adamw_bf16": Loop("adamw", one(optim.AdamW), dtype=torch.bfloat16),
    "adamw_bf16_foreach": Loop(
        "adamw --foreach --clip-norm 1",
        one(optim.AdamW, foreach=True),
        clip=by_norm,
        dtype=torch.bfloat16,
    ),
    "adamw_masters": Loop(
        "adamw --optim-args master_weights=True", with_masters(optim.AdamW), dtype=torch.bfloat16
    ),
    "adam_foreach_masters": Loop(
        "adam --foreach --optim-args master_weights=True",
        with_masters(optim.Adam, foreach=True),
        dtype=torch.bfloat16,
    ),
    "adamw_fused_masters": Loop(
        "adamw --fused --clip-norm 1 --optim-args master_weights=True",
        with_masters(optim.AdamW, fused=True),
        clip=by_norm,
        dtype=torch.bfloat16,
    ),
    "sgd_masters": Loop(
        "sgd --momentum 0.9 --optim-args master_weights=True",
        with_masters(optim.SGD, momentum=0.9),
        dtype=torch.bfloat16,
    ),
    "sgd_sparse": Loop("sgd --clip-norm 1", one(optim.SGD), net=Sparse, clip=by_norm),
    "adagrad_sparse": Loop("adagrad", one(optim.Adagrad), net=Sparse),
    "adagrad_foreach_sparse": Loop(
        "adagrad --foreach --clip-norm 1",
        one(optim.Adagrad, foreach=True),
        net=Sparse,
        clip=by_norm,
    ),
    "adafactor_bf16": Loop("adafactor", one(optim.Adafactor), dtype=torch.bfloat16),
}


def measured(loop: Loop, steps_before: int) -> Events:
    torch.manual_seed(0)
    net = loop.net().to(loop.dtype)
    for name, parameter in net.named_parameters():
        parameter.requires_grad_(name not in loop.freeze)
    x = torch.randn(9, 30, dtype=loop.dtype)
    optimizers = loop.make(net)
    for _ in range(steps_before):
        loop.run(net, optimizers, x)
    return events_of(lambda: loop.run(net, optimizers, x))


@functools.cache
def exported(make_net: Callable[[], nn.Module], dtype: torch.dtype) -> bytes:
    """The file that a user would export."""
    file = io.BytesIO()
    program = torch.export.export(make_net().to(dtype), (torch.randn(9, 30, dtype=dtype),))
    torch.export.save(program, file)
    return file.getvalue()


def predicted(loop: Loop, first_step: bool, folder: Path) -> Events:
    path = folder / "net.pt2"
    path.write_bytes(exported(loop.net, loop.dtype))
    binary = os.environ.get("STEELYARD", str(ROOT / "build/release/steelyard"))
    command = [binary, "weigh", str(path), "--format", "json", "--events", "--loss", "mse"]
    command += ["--train", *loop.options.split(), *(["--first-step"] if first_step else [])]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [event[:2] for event in json.loads(done.stdout)["memory"]["events"]]


def compare_step(loop: Loop, first_step: bool, folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = measured(loop, 0 if first_step else WARM_UP)
    ours = predicted(loop, first_step, folder)
    if loop.dtype == torch.bfloat16 or "muon" in loop.options:
        # oneDNN's scratch for products of bfloat16 is a property of the processor.
        ours, theirs = public_events(ours), public_events(theirs)
    if ours != theirs:
        shown = side_by_side(*([f"{n:+} {label}" for label, n in seen] for seen in (ours, theirs)))
        pytest.fail(shown, pytrace=False)


@pytest.mark.parametrize("name", MADE)
def test_every_option_of_pytorch_is_taken(name: str, tmp_path: Path) -> None:
    for option in list(inspect.signature(MADE[name]).parameters.values())[1:]:
        loop = Loop(
            f"{name} --optim-args {option.name}={option.default}".replace(", ", ","),
            one(MADE[name]),
        )
        assert predicted(loop, False, tmp_path)


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
def test_first_step(loop: Loop, tmp_path: Path) -> None:
    compare_step(loop, True, tmp_path)


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
def test_steady_step(loop: Loop, tmp_path: Path) -> None:
    compare_step(loop, False, tmp_path)
