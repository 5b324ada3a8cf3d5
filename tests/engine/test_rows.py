# SPDX-License-Identifier: Apache-2.0
"""What the engine computes of each row of the operator table is what PyTorch computes: bit for bit.

Each row's example and calls like it (tests/differential) are run on drawn numbers, many in one
program, and again in training steps for their gradients. A row that only looks like its operator,
because something in it stands for a kernel or for a number that the data tell, is found here.
"""

import math
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest
import row_calls
import safetensors.torch
import torch
from row_calls import SEED, Tensors, Trial, held_name, normal_call, overlaps, program_of
from test_engine import STEELYARD, same

import known  # isort: skip  (of tests/differential, which row_calls puts on the path)
from calls import COMPLEX, FLOATS, Call, Tensor, parse
from compare import Seen
from recorder import isolated
from table import Row, rows, weigh
from trials import typical_calls
from variants import variants

MOST_ELEMENTS = 20_000
# How many variants of each example are called, and how many are trained.
CALL_VARIANTS, STEP_VARIANTS = 2, 1
# How many calls make one program.
TOGETHER = 500
# What memory holds that nobody has written: PyTorch twice, then the engine.
BYTES, ENGINES_BYTE = (85, 170), "33"


@dataclass(frozen=True)
class Excuse:
    """Rows, a pattern of names, of which the engine need not compute a call that `when` picks."""

    ops: str
    why: str
    when: Callable[[Trial], bool] = lambda trial: True

    def covers(self, trial: Trial) -> bool:
        return fnmatch(trial.call.op, self.ops) and self.when(trial)


def is_step(trial: Trial) -> bool:
    return bool(trial.leaves)


def reads_numbers(trial: Trial) -> bool:
    """Whether scale and zero point are in tensors."""
    return isinstance(trial.call.args[1], Tensor)


def picks_elements(trial: Trial) -> bool:
    """Whether quantiles are so few that rows are not sorted for them."""
    rows, quantiles, *dim = trial.call.args
    count = math.prod(quantiles.sizes) if isinstance(quantiles, Tensor) else 1
    is_whole = not rows.sizes or not dim or dim[0] is None
    length = math.prod(rows.sizes) if is_whole else rows.sizes[dim[0]]
    return is_step(trial) and bool((2 * count) ** 2 <= length)


EXCUSES: tuple[Excuse, ...] = (
    Excuse(
        "quantized_decomposed::*",
        "numbers of the program are in tensors, and stand for any: it says that",
        reads_numbers,
    ),
    Excuse(
        "aten::*quantile*",
        "autograd keeps which elements are picked, which no operator writes: it is refused",
        picks_elements,
    ),
    Excuse(
        "aten::combinations",
        "autograd keeps which elements are chosen, which no operator writes: it is refused",
        is_step,
    ),
    Excuse(
        "aten::ctc_loss.Tensor",
        "autograd keeps chances of the lengths that tensors hold: it is refused",
        is_step,
    ),
)


# Rows of which no call is compared.
UNWRITTEN = "its elements are those of memory that nobody has written"
NOT_COMPARED = {
    "aten::_ctc_loss": "chances of places that no alignment has are not written",
    "aten::_grouped_mm": "the ends of groups are drawn, and leave rows that are not written",
    "aten::empty.memory_format": UNWRITTEN,
    "aten::empty_like": UNWRITTEN,
    "aten::empty_strided": UNWRITTEN,
    "aten::new_empty": UNWRITTEN,
    "aten::new_empty_strided": UNWRITTEN,
    "aten::mkldnn_rnn_layer_backward": "a workspace that a forward pass has written is needed",
}


# --- The trials -----------------------------------------------------------------------------------


def is_tried(row: Row) -> bool:
    """Collectives need other processes (test_data_parallel.py)."""
    is_collective = row.name.startswith("_c10d_functional")
    return bool(row.example) and not is_collective and not known.trial_reason(row.name)


def calls_of(row: Row, count: int) -> list[Call]:
    count = 0 if row.name in known.TRUSTING else count
    calls = [parse(row.example), *typical_calls(row), *variants(row, count)]
    small = [call for call in map(normal_call, calls) if is_small(call)]
    return list({str(call): call for call in small}.values())


def is_small(call: Call) -> bool:
    sizes = [max(math.prod(t.sizes), t.storage_elements()) for t in call.tensors()]
    return max(sizes, default=0) <= MOST_ELEMENTS


def leaves_of(call: Call) -> tuple[int, ...]:
    floating = (*FLOATS, *COMPLEX)
    return tuple(i for i, t in enumerate(call.tensors()) if t.dtype in floating and not overlaps(t))


def candidates(trains: bool) -> list[list[Trial]]:
    """By call, the trials of which the first is made that PyTorch accepts."""
    out = []
    for row in filter(is_tried, rows()):
        draws = row_calls.DRAWS[-1:] if row.name in known.TRUSTING else row_calls.DRAWS
        for call in calls_of(row, STEP_VARIANTS if trains else CALL_VARIANTS):
            leaves = leaves_of(call) if trains else ()
            if leaves or not trains:
                out.append([Trial(call, draw, leaves) for draw in draws])
    return out


def accepted(of_calls: Sequence[list[Trial]]) -> list[tuple[Trial, Seen]]:
    """By call the first trial that PyTorch accepts, and the kinds of its outputs."""
    found: dict[int, tuple[Trial, Seen]] = {}
    for turn in range(len(row_calls.DRAWS)):
        asked = {i: t[turn] for i, t in enumerate(of_calls) if i not in found and turn < len(t)}
        seen = isolated(row_calls.kinds_of, list(asked.values()))
        for (i, trial), kinds in zip(asked.items(), seen, strict=True):
            if "refused" not in kinds:
                found[i] = (trial, kinds)
    return [found[i] for i in sorted(found)]


def is_modelled(trials: Sequence[tuple[Trial, Seen]]) -> list[bool]:
    """Whether the rows take the calls, and the gradient is known: else tests/differential asks."""
    programs = []
    for trial, seen in trials:
        *lines, returns = program_of([trial], [seen])
        if trial.leaves:
            lines.append("steelyard::backward(%t0) phase backward")
        programs.append("\t".join([*lines, returns]))
    return ["refused" not in answer for answer in weigh(programs, "--steps")]


@cache
def trials(trains: bool) -> list[tuple[Trial, Seen]]:
    found = accepted(candidates(trains))
    modelled = zip(found, is_modelled(found), strict=True)
    return [trial for trial, is_taken in modelled if is_taken]


# --- What is computed -----------------------------------------------------------------------------


def computed_by_torch(trials: Sequence[Trial], byte: int, folder: Path) -> list[Tensors]:
    path = folder / f"torch{byte}"
    isolated(row_calls.compute_together, (trials, byte, path))
    tensors: list[Tensors] = torch.load(path)
    return tensors


def held_of(trials: Sequence[Trial], theirs: Sequence[Tensors]) -> tuple[Tensors, Tensors]:
    """What files hold: of inputs and of weights."""
    inputs: Tensors = {}
    weights: Tensors = {}
    for k, (trial, of_trial) in enumerate(zip(trials, theirs, strict=True)):
        for i, (tensor, held) in enumerate(
            zip(trial.call.tensors(), row_calls.Drawn(trial).held, strict=True)
        ):
            table = weights if i in trial.leaves else inputs
            copy = held.detach().clone(memory_format=torch.contiguous_format)
            table[f"c{k}_{held_name(tensor, i)}"] = copy
        inputs |= {f"c{k}_{name}": w for name, w in of_trial.items() if name[0] == "w"}
    return inputs, weights


@dataclass
class Run:
    """What the engine says of a program of these trials: what it computes, or an error."""

    saved: Tensors
    error: str = ""


def run(trials: Sequence[tuple[Trial, Seen]], theirs: Sequence[Tensors], folder: Path) -> Run:
    made, seen = zip(*trials, strict=True)
    model, saved = folder / "calls.syt", folder / "saved"
    model.write_text("\n".join(program_of(made, seen)) + "\n")
    line = [STEELYARD, "run", str(model), "--save", str(saved), "--repeat", "0"]
    for flag, tensors in zip(("inputs", "weights"), held_of(made, theirs), strict=True):
        safetensors.torch.save_file(tensors, folder / flag)
        line += [f"--{flag}", str(folder / flag)] if tensors else []
    line += ["--seed", str(SEED), "--format", "json"]
    line += ["--train", "sgd"] if is_step(made[0]) else []
    environment = {**os.environ, "MALLOC_PERTURB_": ENGINES_BYTE}
    done = subprocess.run(line, capture_output=True, text=True, env=environment)
    if done.returncode:
        return Run({}, done.stderr.strip() or f"it ends with status {done.returncode}")
    return Run(safetensors.torch.load_file(saved))


def differing(
    trials: Sequence[tuple[Trial, Seen]], theirs: Sequence[Tensors], saved: Tensors
) -> Iterator[tuple[int, str]]:
    """The places of trials of which something differs, and what."""
    outputs = iter(range(1 if is_step(trials[0][0]) else 0, len(saved)))
    for k, (trial, seen) in enumerate(trials):
        ours = {f"y{i}": f"outputs.{next(outputs)}" for i, kind in enumerate(seen["kinds"]) if kind}
        tensors = list(trial.call.tensors())
        for i in trial.leaves:
            ours[f"g{i}"] = f"gradients.c{k}_{held_name(tensors[i], i)}"
        for name, place in ours.items():
            text = difference(saved.get(place), theirs[k].get(name))
            if text:
                yield k, f"{name} {text}"


def difference(ours: torch.Tensor | None, theirs: torch.Tensor | None) -> str | None:
    if ours is None or theirs is None:
        return None if ours is theirs else f"is {shown(ours)} instead of {shown(theirs)}"
    return None if same_bits(ours, theirs) else f"is {shown(ours)} instead of {shown(theirs)}"


def same_bits(ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    if not theirs.is_floating_point():
        return ours.dtype == theirs.dtype and torch.equal(ours, theirs)
    return same(*(t.float() if t.itemsize == 1 else t for t in (ours, theirs)))


def shown(tensor: torch.Tensor | None) -> str:
    if tensor is None:
        return "none"
    first = ", ".join(f"{x:.8g}" for x in tensor.flatten()[:4].tolist())
    return f"{tensor.dtype}{list(tensor.shape)} {first}"


# --- Tests ----------------------------------------------------------------------------------------


@dataclass
class Comparison:
    """What differs, a text each, and the rows of which something was compared."""

    differing: list[str] = field(default_factory=list)
    rows: set[str] = field(default_factory=set)

    def __iadd__(self, other: "Comparison") -> "Comparison":
        self.differing += other.differing
        self.rows |= other.rows
        return self


def compared(trials: Sequence[tuple[Trial, Seen]], folder: Path) -> Comparison:
    """Of trials in one program; of one that cannot be run the others are run again."""
    out = Comparison()
    left = list(trials)
    while left:
        theirs = told(left, folder)
        known_results = [i for i, tensors in enumerate(theirs) if tensors is not None]
        left = [left[i] for i in known_results]
        tensors = [theirs[i] or {} for i in known_results]
        made = run(left, tensors, folder) if left else Run({})
        if not made.error:
            out.rows |= {trial.call.op for trial, _ in left}
            found = differing(left, tensors, made.saved)
            out.differing += [f"{left[k][0]}\n  {text}" for k, text in found]
            break
        named = re.search(r"of c(\d+)|\bc(\d+)_", made.error.replace(str(folder), ""))
        if named is None and len(left) > 1:
            half = len(left) // 2
            out += compared(left[:half], folder)
            out += compared(left[half:], folder)
            break
        at = int(named[1] or named[2]) if named else 0
        out.differing.append(f"{left.pop(at)[0]}\n  {made.error}")
    return out


def told(trials: Sequence[tuple[Trial, Seen]], folder: Path) -> list[Tensors | None]:
    """What PyTorch computes of each; None where it tells memory that nobody has written."""
    made = [trial for trial, _ in trials]
    first, second = (computed_by_torch(made, byte, folder) for byte in BYTES)
    return [
        a if all(same_bits(b[name], tensor) for name, tensor in a.items()) else None
        for a, b in zip(first, second, strict=True)
    ]


def excused(trial: Trial) -> list[str]:
    return [excuse.why for excuse in EXCUSES if excuse.covers(trial)]


def parts_of(trains: bool) -> Iterator[list[tuple[Trial, Seen]]]:
    held = [trial for trial in trials(trains) if not excused(trial[0])]
    for begin in range(0, len(held), TOGETHER):
        yield held[begin : begin + TOGETHER]


@pytest.mark.parametrize("trains", [False, True], ids=["calls", "steps"])
def test_rows(trains: bool, tmp_path: Path) -> None:
    found = Comparison()
    for part in parts_of(trains):
        found += compared(part, tmp_path)
    if found.differing:
        count = len(found.differing)
        pytest.fail(f"{count} differ:\n\n" + "\n\n".join(found.differing), pytrace=False)
    if not trains:
        excused_rows = {trial.call.op for trial, _ in trials(False) if excused(trial)}
        missing = {row.name for row in rows() if is_tried(row)} - found.rows - excused_rows
        assert sorted(missing) == sorted(NOT_COMPARED)


@pytest.mark.parametrize("excuse", EXCUSES, ids=lambda excuse: f"{excuse.ops}: {excuse.why}")
def test_excuses_are_needed(excuse: Excuse, tmp_path: Path) -> None:
    held = [trial for trains in (False, True) for trial in trials(trains)]
    covered = [trial for trial in held if excuse.covers(trial[0])]
    assert any(compared([trial], tmp_path).differing for trial in covered)
