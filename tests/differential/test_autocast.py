# SPDX-License-Identifier: Apache-2.0
"""Training steps under torch.autocast("cpu", torch.bfloat16): every allocation and free.

Of each operator that autocast looks at, a step of its example; of small models, whole steps, as
they are and with checkpointed modules. Left out is the scratch inside products and convolutions
of oneDNN, which depends on the processor. When a region ends, the casts of parameters go in the
order of a hash table of addresses: what is freed in a row is compared without its order.
"""

import warnings
from collections.abc import Callable
from pathlib import Path

import known
import processor
import pytest
import torch
from calls import parse
from compare import Events, public_events, side_by_side, step_difference
from recorder import events_of, isolated
from steps import Step, steps_of, try_steps
from table import Row
from test_recompute import CASES, Case, Transformer, checkpointed, row, weighed
from torch import nn
from trials import Steps, selected


def settled(events: Events) -> Events:
    """The events that are compared."""
    out: Events = []
    freed: Events = []
    for label, size in public_events(events):
        if "onvolution" in label:
            continue
        if size < 0:
            freed.append([label, size])
            continue
        out += [*sorted(freed), [label, size]]
        freed = []
    return out + sorted(freed)


def difference(ours: Events, theirs: Events) -> str | None:
    mine, true = settled(ours), settled(theirs)
    if mine == true:
        return None
    return side_by_side(*([f"{n:+} {label}" for label, n in seen] for seen in (mine, true)))


SLOW = "PyTorch's own kernels convolve bfloat16 on this processor, which the rows do not state"
ESTIMATED = {"aten::mkldnn_rnn_layer": "oneDNN's own buffers, of which a note in the report speaks"}


def casting_steps(of: Row) -> list[Step]:
    if of.precision["CPU"] == "follow" or not of.example or known.step_reason(of.name):
        return []
    return [
        Step(step.call, step.leaves, step.reduction, step.in_place, autocast=True)
        for step in steps_of(parse(of.example))
    ]


def try_casting(rows: list[Row]) -> Steps:
    chosen = {row.name: casting_steps(row) for row in rows}
    tried = iter(try_steps([step for of_row in chosen.values() for step in of_row]))
    return {name: [next(tried) for _ in of_row] for name, of_row in chosen.items()}


@pytest.fixture(scope="module")
def casting(request: pytest.FixtureRequest) -> Steps:
    """The steps of the rows that are selected, under autocast, by name."""
    return isolated(try_casting, selected(request))


def test_a_step_of_each_operator(row: Row, casting: Steps) -> None:
    if row.precision["CPU"] == "follow":
        pytest.skip("autocast leaves it alone")
    if row.name in ESTIMATED:
        pytest.skip(ESTIMATED[row.name])
    if row.family == "convolution" and not processor.multiplies_bfloat16():
        pytest.skip(SLOW)
    found = []
    for step, ours, theirs in casting[row.name]:
        if "events" in ours and "events" in theirs:
            ours, theirs = ({**seen, "events": settled(seen["events"])} for seen in (ours, theirs))
        extent = known.extent_of_step(row, step.call, ours.get("refused", ""))
        differing = step_difference(ours, theirs, extent)
        if differing is not None:
            found.append(f"{step}\n{differing}")
    if found:
        pytest.fail("\n\n".join(found), pytrace=False)


class Promoting(nn.Module):  # type: ignore[misc]
    """What autocast promotes, casts up, and leaves to the operators."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(30, 20), nn.Linear(20, 30)
        self.scale = nn.Parameter(torch.randn(30))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        low = self.first(x)
        joined = torch.cat([low, x], 1)
        both = torch.stack([self.second(low), x * self.scale])
        wide = nn.functional.softmax(both, -1).mean((0, 2)) + joined.sum(1)
        y: torch.Tensor = self.second(self.first(self.second(low))) + wide.exp()[:, None]
        return y


def frozen() -> nn.Module:
    """Casts of what is not trained are not kept."""
    net = nn.Sequential(nn.Linear(30, 30), nn.GELU(), nn.Linear(30, 30))
    net[0].requires_grad_(False)
    return net


PLAIN = {
    "promoting": Case(Promoting, row, ()),
    "frozen": Case(frozen, row, ()),
    "transformer": Case(Transformer, lambda: torch.randint(0, 50, (2, 8)), ()),
    **{f"{name}_checkpointed": case for name, case in CASES.items()},
}
LOSSES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "mse": lambda y: nn.functional.mse_loss(y, torch.zeros(y.shape)),
    "cross-entropy": lambda y: nn.functional.cross_entropy(
        y.reshape(-1, y.shape[-1]), torch.zeros(y.numel() // y.shape[-1], dtype=torch.int64)
    ),
}


def measured(case: Case, program: torch.export.ExportedProgram, loss: str) -> Events:
    net = program.module()
    if case.patterns:
        net = checkpointed(net, case, reentrant=False)
    optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad])
    sample = case.sample()

    def step() -> None:
        with torch.autocast("cpu", torch.bfloat16):
            output = net(sample)
            value = LOSSES[loss](output)
        value.backward()
        optimizer.step()
        optimizer.zero_grad()

    step()
    return events_of(step)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("case", PLAIN.values(), ids=PLAIN.keys())
def test_step(case: Case, loss: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    path, net = tmp_path / "net.pt2", case.make().train()
    if not processor.multiplies_bfloat16() and any(isinstance(m, nn.Conv2d) for m in net.modules()):
        pytest.skip(SLOW)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(net, (case.sample(),))
        torch.export.save(program, path)
        theirs = measured(case, program, loss)
    patterns = [option for pattern in case.patterns for option in ("--recompute", pattern)]
    differing = difference(weighed(path, ["--amp", "bf16", "--loss", loss, *patterns]), theirs)
    if differing is not None:
        pytest.fail(differing, pytrace=False)


# Fused forms unscale gradients themselves, unless something has to see them before.
@pytest.mark.parametrize("optimizer", ["sgd", "adamw", "adagrad"])
@pytest.mark.parametrize("form", ["foreach", "fused"])
@pytest.mark.parametrize("clip", [False, True], ids=["whole", "clipped"])
@pytest.mark.parametrize("first", [False, True], ids=["steady", "first"])
def test_a_step_in_float16_scales_its_loss(
    optimizer: str, form: str, clip: bool, first: bool, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    path = tmp_path / "net.pt2"
    net, sample = nn.Sequential(nn.Linear(30, 30), nn.Tanh(), nn.Linear(30, 10)), row()
    torch.export.save(torch.export.export(net.train(), (sample,)), path)
    classes = {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW, "adagrad": torch.optim.Adagrad}
    steps = classes[optimizer](net.parameters(), **{form: True})
    scaler = torch.amp.GradScaler("cpu")

    def step() -> None:
        with torch.autocast("cpu", torch.float16):
            output = net(sample)
            loss = nn.functional.mse_loss(output, torch.zeros(output.shape))
        scaler.scale(loss).backward()
        if clip:
            scaler.unscale_(steps)
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0, foreach=True)
        scaler.step(steps)
        scaler.update()
        steps.zero_grad()

    if not first:
        step()
    theirs = events_of(step)
    options = [
        "--amp",
        "fp16",
        "--loss",
        "mse",
        f"--{form}",
        *(["--clip-norm", "1"] if clip else []),
    ]
    ours = weighed(path, [*options, "--first-step"] if first else options, optimizer)
    differing = difference(ours, theirs)
    if differing is not None:
        pytest.fail(differing, pytrace=False)


class Regional(nn.Module):  # type: ignore[misc]
    """A model that has its own region of autocast, and one in it that is switched off."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.third = nn.Linear(30, 30), nn.Linear(30, 30), nn.Linear(30, 9)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        with torch.autocast("cpu", torch.bfloat16):
            x = self.second(x).tanh()
            with torch.autocast("cpu", enabled=False):
                x = self.third(x.float())
        return x


def test_a_region_of_the_model(tmp_path: Path) -> None:
    path = tmp_path / "net.pt2"
    program = torch.export.export(Regional().train(), (row(),))
    torch.export.save(program, path)
    net, sample = program.module(), row()
    optimizer = torch.optim.SGD(net.parameters())

    def step() -> None:
        output = net(sample)
        loss = LOSSES["mse"](output)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    step()
    theirs = events_of(step)
    differing = difference(weighed(path, ["--loss", "mse"]), theirs)
    if differing is not None:
        pytest.fail(differing, pytrace=False)
