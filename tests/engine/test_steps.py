# SPDX-License-Identifier: Apache-2.0
"""Steps of every optimizer, in every form, leave the parameters of PyTorch: bit for bit."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import torch
from exported import SEED, Exported
from test_engine import computed, differing, load, steelyard

Optimizer = torch.optim.Optimizer
Tensors = Iterable[torch.Tensor]
STEPS = 3


class Layers(torch.nn.Module):
    """A table, matrices of both shapes, vectors, and a tensor of one number."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(11, 6)
        self.wide, self.norm = torch.nn.Linear(6, 9), torch.nn.LayerNorm(9)
        self.narrow = torch.nn.Linear(9, 4)
        self.scale = torch.nn.Parameter(torch.tensor(1.5))

    def forward(self, tokens: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
        hidden = self.norm(torch.tanh(self.wide(self.table(tokens))))
        result: torch.Tensor = (self.narrow(hidden) * self.scale * gain).pow(2)
        return result.mean()


class Lion(Optimizer):
    """As the package lion-pytorch has it."""

    def __init__(self, params: Tensors) -> None:
        super().__init__(params, {})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        for p in self.param_groups[0]["params"]:
            mean = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
            p.mul_(1.0 - 0.01 * 0.1)
            update = mean.clone().mul_(0.9).add(p.grad, alpha=1.0 - 0.9).sgn_()
            p.add_(update, alpha=-0.01)
            mean.mul_(0.99).add_(p.grad, alpha=1.0 - 0.99)


class Lamb(Optimizer):
    """As timm has it, one tensor after another."""

    def __init__(self, params: Tensors) -> None:
        super().__init__(params, {"step": 0})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        group = self.param_groups[0]
        group["step"] += 1
        first, second = 1 - 0.9 ** group["step"], 1 - 0.999 ** group["step"]
        norms = torch.stack([p.grad.norm(2) for p in group["params"]])
        divisor = (norms.norm(2) / 1.0).clamp_(min=1.0)
        for p in group["params"]:
            grad = p.grad / divisor
            mean = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
            square = self.state[p].setdefault("exp_avg_sq", torch.zeros_like(p))
            mean.lerp_(grad, 1 - 0.9)
            square.mul_(0.999).addcmul_(grad, grad, value=1 - 0.999)
            update = (mean / first).div_((square.sqrt() / second**0.5).add_(1e-6))
            update.add_(p, alpha=0.1)
            of_p, of_update = p.norm(2.0), update.norm(2.0)
            trust = torch.where(of_update > 0, of_p / of_update, 1.0)
            p.add_(update.mul_(torch.where(of_p > 0, trust, 1.0)), alpha=-0.01)


class MuonAndAdamW:
    """Muon for matrices, AdamW for what is none."""

    def __init__(self, params: Tensors, **options: object) -> None:
        params = list(params)
        matrices = [p for p in params if p.ndim == 2]
        self.parts: list[Optimizer] = [
            torch.optim.Muon(matrices, **options),  # type: ignore[arg-type]
            torch.optim.AdamW([p for p in params if p.ndim != 2], foreach=False),
        ]

    def step(self) -> None:
        for part in self.parts:
            part.step()


optim = torch.optim
# What is asked for, and the same in PyTorch.
CASES: dict[str, tuple[str, Callable[[Tensors], Optimizer | MuonAndAdamW]]] = {
    "sgd": (
        "lr=0.1,momentum=0.9,dampening=0.3,weight_decay=0.1",
        lambda p: optim.SGD(p, 0.1, 0.9, 0.3, 0.1, foreach=False),
    ),
    "sgd foreach": (
        "lr=0.1,momentum=0.9,dampening=0.3,weight_decay=0.1,maximize=True,foreach=True",
        lambda p: optim.SGD(p, 0.1, 0.9, 0.3, 0.1, maximize=True, foreach=True),
    ),
    "sgd foreach nesterov": (
        "lr=0.1,momentum=0.9,nesterov=True,foreach=True",
        lambda p: optim.SGD(p, 0.1, 0.9, nesterov=True, foreach=True),
    ),
    "sgd fused": (
        "lr=0.1,momentum=0.9,weight_decay=0.1,nesterov=True,fused=True",
        lambda p: optim.SGD(p, 0.1, 0.9, 0, 0.1, nesterov=True, fused=True),
    ),
    "adam foreach": (
        "lr=0.01,weight_decay=0.1,amsgrad=True,foreach=True",
        lambda p: optim.Adam(p, 0.01, weight_decay=0.1, amsgrad=True, foreach=True),
    ),
    "adam fused": (
        "lr=0.01,weight_decay=0.1,fused=True",
        lambda p: optim.Adam(p, 0.01, weight_decay=0.1, fused=True),
    ),
    "adamw amsgrad": (
        "lr=0.01,amsgrad=True,maximize=True",
        lambda p: optim.AdamW(p, 0.01, amsgrad=True, maximize=True, foreach=False),
    ),
    "adamw foreach": ("lr=0.01,foreach=True", lambda p: optim.AdamW(p, 0.01, foreach=True)),
    "adamw fused": (
        "lr=0.01,amsgrad=True,fused=True",
        lambda p: optim.AdamW(p, 0.01, amsgrad=True, fused=True),
    ),
    "nadam": (
        "lr=0.01,weight_decay=0.1",
        lambda p: optim.NAdam(p, 0.01, weight_decay=0.1, foreach=False),
    ),
    "nadam foreach": (
        "lr=0.01,weight_decay=0.1,decoupled_weight_decay=True,foreach=True",
        lambda p: optim.NAdam(p, 0.01, weight_decay=0.1, decoupled_weight_decay=True, foreach=True),
    ),
    "radam": (
        "lr=0.01,weight_decay=0.1",
        lambda p: optim.RAdam(p, 0.01, weight_decay=0.1, foreach=False),
    ),
    "radam foreach": (
        "lr=0.01,foreach=True",
        lambda p: optim.RAdam(p, 0.01, foreach=True),
    ),
    "adagrad": (
        "lr=0.1,lr_decay=0.1,weight_decay=0.1,initial_accumulator_value=0.5",
        lambda p: optim.Adagrad(p, 0.1, 0.1, 0.1, 0.5, foreach=False),
    ),
    "adagrad foreach": (
        "lr=0.1,lr_decay=0.1,initial_accumulator_value=0.5,foreach=True",
        lambda p: optim.Adagrad(p, 0.1, 0.1, 0, 0.5, foreach=True),
    ),
    "adagrad fused": (
        "lr=0.1,lr_decay=0.1,weight_decay=0.1,fused=True",
        lambda p: optim.Adagrad(p, 0.1, 0.1, 0.1, fused=True),
    ),
    "rmsprop": (
        "lr=0.01,momentum=0.9,centered=True",
        lambda p: optim.RMSprop(p, 0.01, momentum=0.9, centered=True, foreach=False),
    ),
    "rmsprop foreach": (
        "lr=0.01,alpha=0.9,weight_decay=0.1,centered=True,foreach=True",
        lambda p: optim.RMSprop(p, 0.01, 0.9, weight_decay=0.1, centered=True, foreach=True),
    ),
    "muon": ("lr=0.01", lambda p: MuonAndAdamW(p, lr=0.01)),
    "muon adjusted": (
        "lr=0.01,nesterov=False,momentum=0.8,weight_decay=0.2,adjust_lr_fn=match_rms_adamw",
        lambda p: MuonAndAdamW(
            p,
            lr=0.01,
            nesterov=False,
            momentum=0.8,
            weight_decay=0.2,
            adjust_lr_fn="match_rms_adamw",
        ),
    ),
    "lion": ("lr=0.01,weight_decay=0.1", Lion),
    "lamb": ("lr=0.01,weight_decay=0.1", Lamb),
}


def export_layers(path: Path, dtype: torch.dtype = torch.float32) -> Path:
    inputs = (torch.randint(0, 11, (3, 5)), torch.ones((), dtype=dtype))
    torch.export.save(torch.export.export(Layers().to(dtype), inputs), path)
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_layers(tmp_path_factory.mktemp("layers") / "layers.pt2")


@pytest.fixture
def layers(path: Path) -> Exported:
    return load(path)


def after(
    exported: Exported,
    make: Callable[[Tensors], Optimizer | MuonAndAdamW],
    steps: int,
    clip: Callable[[list[torch.nn.Parameter]], object] = lambda parameters: None,
) -> dict[str, torch.Tensor]:
    """The parameters that PyTorch has after as many steps."""
    module = exported.module()
    parameters = list(module.parameters())
    optimizer = make(parameters)
    torch.manual_seed(SEED)
    args, _ = exported.arguments()
    for _ in range(steps):
        module.zero_grad()
        module(*args).backward()
        clip(parameters)
        optimizer.step()
    return {f"parameters.{name}": p for name, p in module.named_parameters()}


@pytest.mark.parametrize("case", CASES)
def test_parameters(case: str, layers: Exported, tmp_path: Path) -> None:
    asked, make = CASES[case]
    # RAdam rectifies from the sixth step on.
    steps = 8 if case.startswith("radam") else STEPS
    train = ["--train", case.split()[0], "--optim-args", asked, "--steps", steps]
    ours = computed(layers, tmp_path, *train)
    assert not differing(ours, after(layers, make, steps))


@pytest.mark.parametrize(
    ("flags", "clip"),
    [
        (["--clip-norm", 0.01], lambda p: torch.nn.utils.clip_grad_norm_(p, 0.01)),
        (["--clip-norm", 1e9], lambda p: torch.nn.utils.clip_grad_norm_(p, 1e9)),
        (["--clip-value", 1e-3], lambda p: torch.nn.utils.clip_grad_value_(p, 1e-3)),
    ],
)
def test_clipped_gradients(
    flags: list[object], clip: Callable[[object], object], layers: Exported, tmp_path: Path
) -> None:
    train = ["--train", "sgd", "--optim-args", "lr=0.1", "--steps", STEPS]
    ours = computed(layers, tmp_path, *train, *flags)
    theirs = after(layers, lambda p: optim.SGD(p, 0.1), STEPS, clip)
    assert not differing(ours, theirs)


def test_master_weights(tmp_path: Path) -> None:
    """Parameters in bfloat16 are stepped in float32, and copied back."""
    exported = load(export_layers(tmp_path / "layers.pt2", torch.bfloat16))
    train = ["--train", "adamw", "--optim-args", "lr=0.01,master_weights=True", "--steps", STEPS]

    class Masters(Optimizer):
        def __init__(self, params: Tensors) -> None:
            super().__init__(params, {})
            self.masters = [p.detach().float() for p in self.param_groups[0]["params"]]
            self.inner = optim.AdamW(self.masters, 0.01, foreach=False)

        @torch.no_grad()
        def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
            for master, p in zip(self.masters, self.param_groups[0]["params"], strict=True):
                master.grad = p.grad.float()
            self.inner.step()
            for master, p in zip(self.masters, self.param_groups[0]["params"], strict=True):
                p.copy_(master)

    assert not differing(computed(exported, tmp_path, *train), after(exported, Masters, STEPS))


def test_allocations_of_a_step_that_is_scaled(path: Path) -> None:
    """Looking at what unscaling has found keeps nothing."""
    once = ["--warmup", 0, "--number", 1, "--repeat", 1, "--peak-flops", "1T"]
    report = steelyard("run", path, "--train", "adamw", "--amp", "fp16", *once)
    assert report["memory"]["events"] > 0
    assert report["memory"]["differences"] == []


def test_forms_under_a_gradient_scaler(path: Path, tmp_path: Path) -> None:
    once = ["--train", "adamw", "--amp", "fp16", "--repeat", 0, "--save", tmp_path / "s"]
    with pytest.raises(AssertionError, match="all groups of an optimizer are fused or none is"):
        steelyard("run", path, *once, "--fused", "--group", "*bias:fused=False")
    with pytest.raises(AssertionError, match="one of several optimizers under a gradient scaler"):
        steelyard("run", path, *once, "--group", "*bias:optimizer=sgd")


def test_gradients_before_they_are_overwritten(layers: Exported, tmp_path: Path) -> None:
    module = layers.module()
    optimizer = optim.SGD(module.parameters(), 0.1)
    torch.manual_seed(SEED)
    args, _ = layers.arguments()
    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=False)
        module(*args).backward()
        optimizer.step()
    theirs = {f"parameters.{name}": p for name, p in module.named_parameters()}
    gradients = {f"gradients.{name}": p.grad for name, p in module.named_parameters()}
    assert all(gradient is not None for gradient in gradients.values())
    train = ["--train", "sgd", "--optim-args", "lr=0.1", "--zero-grad", "zeros", "--steps", STEPS]
    assert not differing(computed(layers, tmp_path, *train), theirs | gradients)  # type: ignore[arg-type]


# The gradient of a loss in float16 that is scaled by 65536 overflows, and others do until the scale
# has shrunk.
@pytest.mark.parametrize("gain", [0.01, 4.0])
@pytest.mark.parametrize("form", ["", "foreach", "fused"])
@pytest.mark.parametrize("clip", [False, True])
def test_gradient_scaler(
    gain: float, form: str, clip: bool, layers: Exported, tmp_path: Path
) -> None:
    steps = 12
    layers.inputs["gain"] = torch.tensor(gain)
    module = layers.module()
    optimizer = optim.AdamW(module.parameters(), 0.01, **({form: True} if form else {}))
    scaler = torch.amp.GradScaler("cpu")
    torch.manual_seed(SEED)
    args, _ = layers.arguments()
    stepped = 0
    for _ in range(steps):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.float16):
            loss = module(*args)
        scaler.scale(loss).backward()
        if clip:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(module.parameters(), 0.1)
        scaler.step(optimizer)
        before = scaler.get_scale()
        scaler.update()
        stepped += scaler.get_scale() == before
    assert 0 < stepped < steps
    flags = ["--clip-norm", 0.1] if clip else []
    train = ["--train", "adamw", "--optim-args", "lr=0.01", "--amp", "fp16", "--steps", steps]
    theirs = {f"parameters.{name}": p for name, p in module.named_parameters()}
    ours = computed(layers, tmp_path, *train, *flags, *([f"--{form}"] if form else []))
    assert not differing(ours, theirs)
