# SPDX-License-Identifier: Apache-2.0
"""What the engine computes of a program is what PyTorch computes of it: bit for bit.

The same kernels run in the same order on the same numbers; nothing here has a tolerance.
"""

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import safetensors.torch
import torch
from exported import SEED, Exported, contiguous, tensors_in
from torch.utils.checkpoint import checkpoint

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests/data"
SCHEMA = json.loads((ROOT / "docs/run.schema.json").read_text())
STEELYARD = os.environ.get("STEELYARD", str(ROOT / "build/release/steelyard"))
LEARNING_RATE = 0.01
STEPS = 3
TIED = "assumed tied: "
OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, LEARNING_RATE, momentum=0.9, weight_decay=0.1),
    "plain sgd": lambda p: torch.optim.SGD(p, LEARNING_RATE),
    "adamw": lambda p: torch.optim.AdamW(p, LEARNING_RATE, foreach=False),
}
OPTIONS = {
    "sgd": ["--momentum", "0.9", "--weight-decay", "0.1", "--optim-args", f"lr={LEARNING_RATE}"],
    "plain sgd": ["--optim-args", f"lr={LEARNING_RATE}"],
    "adamw": ["--optim-args", f"lr={LEARNING_RATE}"],
}

torch.set_num_threads(1)


def steelyard(command: str, path: Path, *options: object) -> dict[str, Any]:
    """Its report."""
    line = [STEELYARD, command, str(path), "--format", "json", *map(str, options)]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    if command == "run":
        jsonschema.validate(report, SCHEMA)
    return report


def computed(exported: Exported, folder: Path, *options: object) -> dict[str, torch.Tensor]:
    """What the engine computes of it."""
    weights, inputs, saved = (folder / f"{name}.safetensors" for name in ("w", "i", "s"))
    safetensors.torch.save_file(contiguous(exported.weights), weights)
    safetensors.torch.save_file(contiguous(exported.inputs), inputs)
    files = ["--weights", weights, "--inputs", inputs, "--save", saved]
    steelyard("run", exported.path, *files, "--seed", SEED, "--repeat", 0, *options)
    tensors: dict[str, torch.Tensor] = safetensors.torch.load_file(saved)
    return tensors


def load(path: Path) -> Exported:
    report = steelyard("weigh", path)
    notes = [
        note.removeprefix(TIED)
        for note in (n["message"] for n in report["notes"])
        if note.startswith(TIED)
    ]
    return Exported.load(path, dict(note.split(" = ") for note in notes))


def same(ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    """Every bit; nan is nan."""
    return (
        ours.dtype == theirs.dtype
        and ours.shape == theirs.shape
        and torch.equal(ours.nan_to_num(), theirs.nan_to_num())
        and torch.equal(ours.isnan(), theirs.isnan())
    )


def differing(ours: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor]) -> list[str]:
    return [
        name
        for name, tensor in theirs.items()
        if name not in ours or not same(ours[name], tensor.detach().contiguous())
    ]


# What cannot be run, by file, and why.
EXCUSED = {
    "forward/detection": "it calls operators of torchvision",
    "train/detection": "it calls operators of torchvision",
}


def models(folder: str) -> list[Path]:
    paths = sorted((DATA / folder).glob("*.pt2"))
    return [path for path in paths if f"{folder}/{path.stem}" not in EXCUSED]


def of(paths: Iterable[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


@pytest.mark.parametrize("name", EXCUSED)
def test_what_cannot_be_run_is_refused(name: str) -> None:
    with pytest.raises(AssertionError, match=r"yet|has no operator"):
        train = ["--train", "sgd"] if name.startswith("train/") else []
        steelyard("run", DATA / f"{name}.pt2", "--repeat", 1, "--number", 1, "--warmup", 0, *train)


@of(models("forward"))
def test_forward(path: Path, tmp_path: Path) -> None:
    exported = load(path)
    module = exported.module()
    args, kwargs = exported.arguments()
    torch.manual_seed(SEED)
    with torch.no_grad():
        outputs = list(tensors_in(module(*args, **kwargs)))
    ours = computed(exported, tmp_path)
    assert not differing(ours, {f"outputs.{i}": y for i, y in enumerate(outputs)})


def test_a_loss_that_is_not_finite_is_an_error(tmp_path: Path) -> None:
    exported = load(DATA / "train/translator.pt2")
    for name, tensor in exported.weights.items():
        if tensor.is_floating_point():
            exported.weights[name] = torch.full_like(tensor, torch.inf)
    weights = tmp_path / "w.safetensors"
    safetensors.torch.save_file(contiguous(exported.weights), weights)
    with pytest.raises(AssertionError, match=r"the loss is (nan|inf)"):
        steelyard("run", exported.path, "--train", "sgd", "--weights", weights, "--repeat", 1)


# Inside of these oneDNN makes copies in layouts of its own, which depend on the processor.
CONVOLUTIONS = ("convolution", "mkldnn", "conv")


# A call that is given a tensor for its result is computed apart, and copied there.
WRITTEN_APART = ("critic",)


@of([path for path in models("train") if path.stem not in WRITTEN_APART])
def test_allocations(path: Path) -> None:
    """Every allocation and free is the predicted one, in its place."""
    once = ["--warmup", 0, "--number", 1, "--repeat", 1, "--peak-flops", "1T"]
    report = steelyard("run", path, "--train", "sgd", *once)
    assert report["memory"]["events"] > 0
    differing = {d["op"] for d in report["memory"]["differences"]}
    assert not {op for op in differing if not any(word in op for word in CONVOLUTIONS)}


# Those that are trained in more than one way: convolutions, recurrent units, attention.
SOME = [DATA / f"train/{name}.pt2" for name in ("keywords", "tagger", "recurrence", "whisper")]


def after_steps(exported: Exported, optimizer: str, is_cast: bool) -> dict[str, torch.Tensor]:
    """What PyTorch has computed when as many steps have run."""
    module = exported.module()
    trained = {name: p for name, p in module.named_parameters() if p.requires_grad}
    stepper = OPTIMIZERS[optimizer](list(trained.values()))
    torch.manual_seed(SEED)
    for _ in range(STEPS):
        stepper.zero_grad()
        args, kwargs = exported.arguments()
        with torch.enable_grad():
            with torch.autocast("cpu", torch.bfloat16, enabled=is_cast):
                returned = module(*args, **kwargs)
            outputs = list(tensors_in(returned))
            named = returned.get("loss") if isinstance(returned, dict) else None
            (outputs[0] if named is None else named).backward()
        stepper.step()
    computed = {f"outputs.{i}": y for i, y in enumerate(outputs)}
    computed |= {f"parameters.{name}": p for name, p in trained.items()}
    gradients = {name: p.grad for name, p in trained.items() if p.grad is not None}
    return computed | {f"gradients.{name}": g.to_dense() for name, g in gradients.items()}


# Of optimizers, SGD alone takes sparse gradients.
SPARSE = ("recommender", "bags")


@of([path for path in models("train") if path.stem not in SPARSE])
def test_adamw(path: Path, tmp_path: Path) -> None:
    compare_steps(path, "adamw", tmp_path)


@of(SOME)
def test_sgd(path: Path, tmp_path: Path) -> None:
    compare_steps(path, "sgd", tmp_path)


@of([path for path in models("train") if path.stem in SPARSE])
def test_sparse_gradients(path: Path, tmp_path: Path) -> None:
    compare_steps(path, "plain sgd", tmp_path)


class Written(torch.nn.Module):
    """What is made is overwritten in parts that begin elsewhere than it does."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(4, 6))
        self.scale = torch.nn.Parameter(torch.randn(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = torch.zeros(8, 6)
        out[2:7].add_(x[1:] @ self.weight)
        out[:, 3:].mul_(self.scale)
        out[1:].diagonal(1)[1:4].sub_(self.scale)
        out[4, 3:].div_(self.scale.square() + 2)
        return out.pow(2).mean()


def test_parts_that_are_overwritten_have_their_own_gradients(tmp_path: Path) -> None:
    program = torch.export.export(Written(), (torch.randn(6, 4),))
    assert any("_." in str(node.target) for node in program.graph.nodes)
    path = tmp_path / "written.pt2"
    torch.export.save(program, path)
    compare_steps(path, "sgd", tmp_path)


class Scored(torch.nn.Module):
    """A norm whose epsilon follows from its dtype, and products of slices of a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.score = torch.nn.RMSNorm(7), torch.nn.Bilinear(7, 6, 4)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.score(0.01 * self.norm(0.001 * x), y)
        return result.pow(2).mean()


@pytest.mark.parametrize("is_cast", [False, True])
def test_norms_and_bilinear_products(is_cast: bool, tmp_path: Path) -> None:
    inputs = (torch.randn(3, 7), torch.randn(3, 6))
    if is_cast:  # which has no norm in a lower dtype
        model: torch.nn.Module = torch.nn.Bilinear(7, 6, 4)
        model.forward = lambda x, y, call=model.forward: call(x, y).pow(2).mean()
    else:
        model = Scored()
    path = tmp_path / "scored.pt2"
    torch.export.save(torch.export.export(model, inputs), path)
    exported = load(path)
    theirs = after_steps(exported, "sgd", is_cast)
    cast = ["--amp", "bf16"] if is_cast else []
    options = ["--train", "sgd", *OPTIONS["sgd"], "--steps", STEPS, *cast]
    assert not differing(computed(exported, tmp_path, *options), theirs)


class Dropping(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Sequential(
            torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Dropout(0.3)
        )
        self.second = torch.nn.Sequential(
            torch.nn.Linear(8, 8), torch.nn.Dropout(0.5), torch.nn.Tanh()
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.second(self.first(x))
        return result.pow(2).mean()


class Checkpointing(Dropping):
    reentrant = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = checkpoint(self.first, x, use_reentrant=self.reentrant)
        result: torch.Tensor = checkpoint(self.second, kept, use_reentrant=self.reentrant)
        return result.pow(2).mean()


def test_what_is_computed_again_draws_the_same_numbers(tmp_path: Path) -> None:
    x = torch.randn(4, 6)
    path = tmp_path / "dropping.pt2"
    torch.export.save(torch.export.export(Dropping().train(), (x,)), path)
    exported = load(path)
    options = ["--train", "sgd", *OPTIONS["sgd"], "--steps", STEPS]
    ours = computed(exported, tmp_path, *options, "--recompute", "first,second")
    model = Checkpointing()
    model.load_state_dict({name: tensor.clone() for name, tensor in exported.weights.items()})
    stepper = OPTIMIZERS["sgd"](list(model.parameters()))
    torch.manual_seed(SEED)
    for _ in range(STEPS):
        stepper.zero_grad()
        args, _ = exported.arguments()
        model(*args).backward()
        stepper.step()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None
        assert same(ours[f"gradients.{name}"], parameter.grad), name
        assert same(ours[f"parameters.{name}"], parameter.detach()), name


def compare_steps(path: Path, optimizer: str, tmp_path: Path) -> None:
    """The loss, every gradient and every parameter."""
    exported = load(path)
    theirs = after_steps(exported, optimizer, is_cast=False)
    options = ["--train", optimizer.split()[-1], *OPTIONS[optimizer], "--steps", STEPS]
    assert not differing(computed(exported, tmp_path, *options), theirs)


# What PyTorch refuses under autocast.
UNCAST = ("graph",)  # index_add_ of bfloat16 into float32


@of([path for path in models("train") if path.stem not in (*UNCAST, *SPARSE)])
def test_autocast(path: Path, tmp_path: Path) -> None:
    exported = load(path)
    exported.forget_dtypes()
    theirs = after_steps(exported, "sgd", is_cast=True)
    options = ["--train", "sgd", *OPTIONS["sgd"], "--steps", STEPS, "--amp", "bf16"]
    assert not differing(computed(exported, tmp_path, *options), theirs)


class Holding(torch.nn.Module):
    """A buffer that no state dict has, and tensors that the code makes."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.register_buffer("scale", torch.arange(4.0) + 0.5, persistent=False)
        self.places = torch.tensor([3, 1])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.linear(x) * self.scale * torch.tensor([2.0, 3.0, 4.0, 5.0])
        return y[:, self.places]


def test_what_no_file_of_weights_has_is_the_models(tmp_path: Path) -> None:
    model, x = Holding(), torch.randn(3, 4)
    path = tmp_path / "holding.pt2"
    torch.export.save(torch.export.export(model, (x,)), path)
    weights, inputs, saved = (tmp_path / name for name in ("weights", "inputs", "saved"))
    safetensors.torch.save_file(dict(model.state_dict()), weights)
    safetensors.torch.save_file({"x": x}, inputs)
    files = ["--weights", weights, "--inputs", inputs, "--save", saved]
    steelyard("run", path, *files, "--repeat", 0)
    ours = safetensors.torch.load_file(saved)
    with torch.no_grad():
        assert same(ours["outputs.0"], model(x))
