# SPDX-License-Identifier: Apache-2.0
"""Every row's example and calls like it, and training steps of them, on devices of CUDA.

Results, and the sizes of all that the allocator is asked for and given back, in order. Where there
is no PyTorch of CUDA (stub_device.py), nothing is compared.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import known
import known_cuda
import pytest
import stub_device
from calls import Call, parse
from compare import Extent, Seen, difference, step_difference
from known_cuda import reason
from steps import Step, steps_of
from stub_device import MACHINES, Machine
from table import Row, rows
from trials import selected, typical_calls
from variants import resize_everywhere, variants

# How many variants of each example PyTorch is asked, and how many are differentiated.
VARIANTS = 40
STEP_VARIANTS = 8
# Sizes at which kernels of CUDA change their ways, of tensors without memory behind them.
LARGE = (256, 1000, 1025, 3073, 4096, 9000, 50257, 70000)
MAX_ELEMENTS = 1 << 27
# Differing calls of one row that are spelled out.
SHOWN = 3


@dataclass(frozen=True)
class Trial:
    """A call or a step, and what came of it on either side."""

    what: str | Step
    ours: Seen
    theirs: Seen


def enlarged(row: Row, calls: Sequence[Call]) -> list[Call]:
    """The calls with a size or two of them large."""
    rng = random.Random(f"large {row.name}")
    out = []
    for call in calls:
        larger: Call | None = call
        for _ in range(rng.choice((1, 1, 2))):
            larger = resize_everywhere(rng, larger, LARGE) if larger is not None else None
        if larger is not None and all(
            max(math.prod(t.sizes), t.storage_elements()) <= MAX_ELEMENTS for t in larger.tensors()
        ):
            out.append(larger)
    return out


def calls_of(row: Row, count: int) -> list[Call]:
    """The example, and as many calls like it, half of them large."""
    if row.name in known.TRUSTING:
        count = 0
    example, some = parse(row.example), variants(row, count // 2)
    typical = [*typical_calls(row), *typical_calls(row, "typical_calls_cuda.txt")]
    found = [example, *typical, *some, *enlarged(row, [example, *some] if count else [])]
    return list({str(call): call for call in found}.values())


def steps_of_row(row: Row, count: int) -> list[Step]:
    return [step for call in calls_of(row, count) for step in steps_of(call)]


def extent_of(row: Row, what: str | Step, refusal: str) -> Extent:
    """How much to compare."""
    if isinstance(what, Step):
        extent = known.extent_of_step(row, what.call, refusal)
        return min(extent, known_cuda.extent_of(row, what.call, refusal))
    call = parse(what)
    return min(known.extent_of(row, call, refusal), known_cuda.extent_of(row, call, refusal))


def spelled(trials: Sequence[Trial], row: Row) -> list[str]:
    out = []
    for trial in trials:
        compared = step_difference if isinstance(trial.what, Step) else difference
        extent = extent_of(row, trial.what, trial.ours.get("refused", ""))
        found = compared(
            stub_device.comparable(trial.ours), stub_device.comparable(trial.theirs), extent
        )
        if found is not None:
            out.append(f"{trial.what}\n{found}")
    return out


def tried(rows: Sequence[Row], machine: Machine, *options: str) -> dict[str, list[Trial]]:
    """By row, all of its trials on the machine, with options of both sides' programs."""
    chosen = [row for row in rows if row.example and not reason(row)]
    calls = [(row, str(call)) for row in chosen for call in calls_of(row, VARIANTS)]
    steps = [
        (row, step)
        for row in chosen
        if not known.step_reason(row.name)
        for step in steps_of_row(row, STEP_VARIANTS)
    ]
    recorded = stub_device.record(
        [*(what for _, what in calls), *(what for _, what in steps)], machine, *options
    )
    ours = stub_device.weigh_calls([text for _, text in calls], machine, *options)
    ours += stub_device.weigh_steps(
        [step for _, step in steps], recorded[len(calls) :], machine, *options
    )
    out: dict[str, list[Trial]] = {row.name: [] for row in chosen}
    asked: list[tuple[Row, str | Step]] = [*calls, *steps]
    for (row, what), mine, true in zip(asked, ours, recorded, strict=True):
        out[row.name].append(Trial(what, mine, true))
    return out


@pytest.fixture(scope="session", params=MACHINES, ids=[machine.name for machine in MACHINES])
def cuda_trials(request: pytest.FixtureRequest) -> dict[str, list[Trial]]:
    if why := stub_device.obstacle():
        pytest.skip(why)
    return tried(selected(request), request.param)


def test_on_cuda(row: Row, cuda_trials: dict[str, list[Trial]]) -> None:
    if row.name not in cuda_trials:
        pytest.skip(reason(row) or "no example")
    found = spelled(cuda_trials[row.name], row)
    if found:
        shown = "\n\n".join(found[:SHOWN])
        pytest.fail(f"{len(found)} of {row.name} differ:\n\n{shown}", pytrace=False)


# The calls of each row that are made after torch.use_deterministic_algorithms(True).
DETERMINISTIC = 6


@pytest.fixture(scope="session")
def raised(request: pytest.FixtureRequest) -> dict[str, list[tuple[str, str, str]]]:
    """By row: each call with what is said against it on our side and on PyTorch's."""
    if why := stub_device.obstacle():
        pytest.skip(why)
    chosen = [row for row in selected(request) if row.example and not reason(row)]
    calls = [(row.name, str(call)) for row in chosen for call in calls_of(row, DETERMINISTIC)]
    texts = [text for _, text in calls]
    ours = stub_device.weigh_calls(texts, MACHINES[0], "--deterministic")
    theirs = stub_device.record(texts, MACHINES[0], "--deterministic")
    out: dict[str, list[tuple[str, str, str]]] = {row.name: [] for row in chosen}
    for (name, text), mine, true in zip(calls, ours, theirs, strict=True):
        out[name].append((text, mine.get("refused", ""), true.get("refused", "")))
    return out


def test_what_is_not_deterministic(row: Row, raised: dict[str, list[tuple[str, str, str]]]) -> None:
    """Both say of the same calls that there is no deterministic kernel."""
    if row.name not in raised:
        pytest.skip(reason(row) or "no example")
    for text, ours, theirs in raised[row.name]:
        if not (ours and theirs):  # else one of them has found another reason before
            assert "deterministic" not in ours + theirs, (text, ours, theirs)


# Rows that torch.nn.functional writes out after torch.use_deterministic_algorithms(True).
WRITTEN_OUT = (
    "aten::upsample_bicubic2d.vec",
    "aten::upsample_bilinear2d.vec",
    "aten::upsample_trilinear3d.vec",
)


def test_what_is_written_out(request: pytest.FixtureRequest) -> None:
    """Interpolation under deterministic algorithms, and its gradients."""
    if why := stub_device.obstacle():
        pytest.skip(why)
    for row in (row for row in rows() if row.name in WRITTEN_OUT):
        trials = tried([row], MACHINES[0], "--deterministic")[row.name]
        calls = [t.what.call if isinstance(t.what, Step) else parse(t.what) for t in trials]
        of_pixels = [
            trial
            for trial, call in zip(trials, calls, strict=True)
            if all(math.prod(tensor.sizes) for tensor in call.tensors())
        ]
        assert not spelled(of_pixels, row), row.name
