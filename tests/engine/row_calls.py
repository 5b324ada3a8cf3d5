# SPDX-License-Identifier: Apache-2.0
"""Calls of the operator table's rows on drawn numbers: what PyTorch computes, and programs of them.

Many calls make one program; each is in a module of its own, by which an error names it. What gives
gradients also gives a loss: the sum of its finite elements, each weighted by a random number.
"""

import ctypes
import math
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

sys.path.append(str(Path(__file__).resolve().parent.parent / "differential"))

from calls import COMPLEX, DTYPES, Call, Tensor
from compare import Seen
from recorder import SHORT_NAMES, Made, in_child, refusal, tensors_in
from steps import Name, gives_nothing, overwrites, summed

SEED = 7
Tensors = dict[str, torch.Tensor]
# What is real in a number of each dtype.
REAL = {"c32": "f16", "c64": "f32", "c128": "f64"}
# What no file holds is written as another dtype, which holds each of its numbers.
WRITTEN_AS = {"f8e5m2": "f32"}
# Operators that see a storage, whatever the tensor sees of it.
OF_STORAGE = ("aten::as_strided", "aten::_reshape_alias")
# glibc's mallopt: memory is filled with a byte when it is given out.
M_PERTURB = -6


@dataclass(frozen=True)
class Draw:
    """How elements are drawn: of floating tensors, and of integers and of masks from what to what.

    Of definite draws matrices are symmetric and positive definite.
    """

    name: str
    fill: Callable[[torch.Tensor], Any]
    integers: tuple[int, int]
    masks: tuple[int, int]
    definite: bool = False


def of_either_sign(elements: torch.Tensor) -> None:
    elements.normal_()


def between_0_and_1(elements: torch.Tensor) -> None:
    elements.uniform_(0.1, 0.9)


DRAWS = (
    Draw("of either sign", of_either_sign, (0, 2), (0, 1)),
    Draw("between 0 and 1", between_0_and_1, (0, 1), (1, 1)),
    Draw("between 0 and 1, integers 1", between_0_and_1, (1, 1), (1, 1), definite=True),
    Draw("between 0 and 1, integers 0", between_0_and_1, (0, 0), (1, 1), definite=True),
)


@dataclass(frozen=True)
class Trial:
    """A call on numbers; `leaves` are the places of tensors that get a gradient."""

    call: Call
    draw: Draw
    leaves: tuple[int, ...] = ()

    def __str__(self) -> str:
        what = f"{self.call} of numbers {self.draw.name}"
        return f"{what}, gradients of {list(self.leaves)}" if self.leaves else what


def normal_call(call: Call) -> Call:
    """The same with tensors as a program is given them: no two elements lie in one place, there
    is nothing between them that is looked at, and complex ones, which are views, lie row by row."""
    looks_between = call.op.startswith(OF_STORAGE)

    def apply(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(apply, value))
        if isinstance(value, Tensor) and (
            value.dtype in COMPLEX or overlaps(value) or (looks_between and has_gaps(value))
        ):
            return Tensor.contiguous(value.dtype, value.sizes)
        return value

    return call.with_values(tuple(map(apply, call.values())))


def has_gaps(tensor: Tensor) -> bool:
    return tensor.storage_elements() > math.prod(tensor.sizes)


def overlaps(tensor: Tensor) -> bool:
    return any(n > 1 and s == 0 for n, s in zip(tensor.sizes, tensor.strides, strict=True))


class Drawn(Made):
    """The call of a trial, its tensors drawn: `held` are what a file holds of them."""

    def __init__(self, trial: Trial) -> None:
        super().__init__(trial.call, 0)
        self.trial = trial
        generator = torch.Generator().manual_seed(zlib.crc32(str(trial.call).encode()))
        self.held: list[torch.Tensor] = []
        with torch.no_grad():
            for tensor in self.inputs:
                fill(tensor, trial.draw, generator)
        for i, tensor in enumerate(self.inputs):
            held = torch.view_as_real(tensor) if tensor.is_complex() else tensor
            self.held.append(held.detach().requires_grad_(i in trial.leaves))
        given = iter([as_given(h, t) for h, t in zip(self.held, self.inputs, strict=True)])
        put = lambda value: put_tensors(value, given)  # noqa: E731
        self.args = [put(value) for value in self.args]
        self.kwargs = {name: put(value) for name, value in self.kwargs.items()}

    def outputs(self) -> list[torch.Tensor | None]:
        """What it gives, or overwrites."""
        args = self.args
        if overwrites(self.trial.call):
            first = args[0]
            copies = [t.clone() for t in first] if isinstance(first, list) else first.clone()
            args = [copies, *args[1:]]
        given = self.function(*args, **self.kwargs)
        if gives_nothing(self.trial.call):
            given = args[0] if overwrites(self.trial.call) else []
        return list(tensors_in(given))


def as_given(held: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
    return torch.view_as_complex(held) if tensor.is_complex() else held


def put_tensors(value: Any, given: Iterator[torch.Tensor]) -> Any:
    if isinstance(value, list):
        return [put_tensors(element, given) for element in value]
    return next(given) if isinstance(value, torch.Tensor) else value


def fill(tensor: torch.Tensor, draw: Draw, generator: torch.Generator) -> None:
    """Every element of its storage."""
    elements = tensor.as_strided((tensor.untyped_storage().nbytes() // tensor.itemsize,), (1,))
    if tensor.is_complex():
        elements = torch.view_as_real(elements)
    if elements.is_floating_point():
        random = torch.empty(elements.shape, dtype=torch.float64)
        with torch.random.fork_rng():
            torch.manual_seed(generator.initial_seed() + elements.numel())
            draw.fill(random)
        elements.copy_(random)
        if draw.definite:
            make_definite(tensor)
    else:
        low, high = draw.masks if tensor.dtype == torch.bool else draw.integers
        elements.copy_(torch.randint(low, high + 1, elements.shape, generator=generator))


def make_definite(tensor: torch.Tensor) -> None:
    if tensor.dim() < 2 or tensor.shape[-1] != tensor.shape[-2] or 0 in tensor.stride():
        return
    wide = tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)
    wide = (wide + wide.mH) / 2 + tensor.shape[-1] * torch.eye(tensor.shape[-1])
    tensor.copy_(wide)


# --- PyTorch's side -------------------------------------------------------------------------------


def kind_of(output: torch.Tensor | None) -> Seen | None:
    """What a program needs to know of an output."""
    if output is None:
        return None
    if output.layout != torch.strided:
        raise ValueError("what is not strided cannot be written")
    sizes = list(output.shape)
    return {"dtype": SHORT_NAMES[output.dtype], "sizes": sizes, "wanted": output.requires_grad}


def real_of(tensor: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def written(output: torch.Tensor) -> torch.Tensor:
    """Of an output what a file holds."""
    plain = real_of(output.detach()).resolve_neg()
    other = WRITTEN_AS.get(SHORT_NAMES[plain.dtype])
    plain = plain.to(getattr(torch, DTYPES[other])) if other else plain
    return plain.clone(memory_format=torch.contiguous_format)


def weight_of(output: torch.Tensor | None) -> torch.Tensor | None:
    """What its elements are weighted by in the loss; None where it has no part in it."""
    if output is None or not output.requires_grad:
        return None
    real = real_of(output)
    generator = torch.Generator().manual_seed(SEED)
    random = torch.rand(real.shape, generator=generator, dtype=torch.float64)
    return (random + 0.5).to(real.dtype)


def loss_of(outputs: Sequence[torch.Tensor | None], weights: Sequence[Any]) -> torch.Tensor:
    loss = None
    for y, w in zip(outputs, weights, strict=True):
        if y is None or w is None:
            continue
        finite = torch.nan_to_num(real_of(y) * w, 0.0, 0.0, 0.0)
        term = torch.nan_to_num(finite.sum().to(torch.float64), 0.0, 0.0, 0.0)
        loss = term if loss is None else loss + term
    if loss is None:
        raise ValueError("nothing requires a gradient")
    return loss


def computed_by_torch(trial: Trial) -> tuple[Seen, Tensors]:
    """The kinds of its outputs; and tensors: outputs, weights, gradients, by letter and number."""
    made = Drawn(trial)
    with nullcontext() if trial.leaves else torch.no_grad():
        outputs = made.outputs()
    kinds = [kind_of(y) for y in outputs]
    tensors = {f"y{i}": written(y) for i, y in enumerate(outputs) if y is not None}
    if trial.leaves:
        weights = [weight_of(y) for y in outputs]
        loss_of(outputs, weights).backward()
        tensors |= {f"w{i}": w for i, w in enumerate(weights) if w is not None}
        gradients = {i: made.held[i].grad for i in trial.leaves}
        tensors |= {f"g{i}": written(g.to_dense()) for i, g in gradients.items() if g is not None}
    return {"kinds": kinds}, tensors


def accepted(trial: Trial) -> Seen:
    try:
        return computed_by_torch(trial)[0]
    except Exception as error:  # whatever an operator raises
        return refusal(error)


def kinds_of(trials: Sequence[Trial]) -> list[Seen]:
    """For each trial the kinds of its outputs, or why PyTorch refuses it."""
    return in_child(accepted, trials)


def compute_together(given: tuple[Sequence[Trial], int, Path]) -> None:
    """Writes the tensors that one process computes of all trials, one after the other, where memory
    that nobody has written holds a byte."""
    trials, byte, path = given
    ctypes.CDLL(None).mallopt(M_PERTURB, byte)
    torch.manual_seed(SEED)
    torch.save([computed_by_torch(trial)[1] for trial in trials], path)


# --- Programs -------------------------------------------------------------------------------------


@dataclass
class Text:
    """Lines of a trial in a program, and the names of what is compared."""

    declared: list[str]
    calls: list[str]
    returned: list[str]


def held_name(tensor: Tensor, place: int) -> str:
    return f"{'r' if tensor.dtype in COMPLEX else 'x'}{place}"


def held_type(tensor: Tensor) -> Tensor:
    if tensor.dtype not in REAL:
        return tensor
    return Tensor.contiguous(REAL[tensor.dtype], (*tensor.sizes, 2))


def copies_of(call: Call) -> int:
    """How many of the first tensors it is given copies of, which it overwrites."""
    if not overwrites(call):
        return 0
    first = call.values()[0]
    return len(first) if isinstance(first, tuple) else 1


def call_lines(trial: Trial, names: Sequence[Name], kinds: Sequence[Seen | None]) -> list[str]:
    given = iter(names)

    def named(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(named, value))
        return next(given) if isinstance(value, Tensor) else value

    call = str(trial.call.with_values(tuple(map(named, trial.call.values()))))
    if gives_nothing(trial.call) or not kinds:
        return [call]
    # Sizes that only the data tell are those of this call, as in a program of torch.export.
    typed = [
        f"%y{i}: {Tensor.contiguous(kind['dtype'], tuple(kind['sizes']))}" if kind else f"%y{i}"
        for i, kind in enumerate(kinds)
    ]
    return [f"{', '.join(typed)} = {call}"]


def text_of(trial: Trial, module: str, seen: Seen) -> Text:
    """Of a trial with leaves, its part of the loss is %loss."""
    text = Text([], [], [])
    names = []
    for i, tensor in enumerate(trial.call.tensors()):
        held = held_name(tensor, i)
        is_leaf = i in trial.leaves
        label = f' "{module}_{held}"' if is_leaf else ""
        role = "parameter" if is_leaf else "input"
        text.declared.append(f"{role} %{held}: {held_type(tensor)}{label}")
        if tensor.dtype in COMPLEX:
            text.calls.append(f"%x{i} = aten::view_as_complex(%{held})")
        names.append(Name(f"%x{i}"))
    for i in range(copies_of(trial.call)):
        text.calls.append(f"%copy{i} = aten::clone(%x{i})")
        names[i] = Name(f"%copy{i}")
    text.calls += call_lines(trial, names, seen["kinds"])
    terms = {}
    for i, kind in enumerate(seen["kinds"]):
        if kind is None:
            continue
        name = f"%copy{i}" if gives_nothing(trial.call) else f"%y{i}"
        type_ = held_type(Tensor.contiguous(kind["dtype"], tuple(kind["sizes"])))
        if kind["dtype"] in COMPLEX:
            text.calls.append(f"%s{i} = aten::resolve_conj({name})")
            text.calls.append(f"%p{i} = aten::view_as_real(%s{i})")
            name = f"%p{i}"
        if kind["wanted"]:
            text.declared.append(f"input %w{i}: {type_}")
            terms[i] = term_lines(i, name)
        if kind["dtype"] in WRITTEN_AS:
            text.calls.append(f"%q{i} = aten::to.dtype({name}, {WRITTEN_AS[kind['dtype']]})")
            name = f"%q{i}"
        if trial.leaves:  # of which what is returned may be a view, and which the step changes
            text.calls.append(f"%z{i} = aten::clone({name})")
            name = f"%z{i}"
        text.returned.append(name)
    if trial.leaves:
        lines, loss = summed(terms)
        text.calls += [*lines, f"%loss = aten::clone({loss})"]
    prefixed = lambda line: re.sub(r"%(\w)", rf"%{module}_\1", line)  # noqa: E731
    return Text(
        list(map(prefixed, text.declared)),
        [f"{prefixed(line)} in {module}" for line in text.calls],
        list(map(prefixed, text.returned)),
    )


def term_lines(i: int, name: str) -> list[str]:
    return [
        f"%m{i} = aten::mul.Tensor({name}, %w{i})",
        f"%n{i} = aten::nan_to_num(%m{i}, 0.0, 0.0, 0.0)",
        f"%o{i} = aten::sum(%n{i})",
        f"%d{i} = aten::to.dtype(%o{i}, f64)",
        f"%t{i} = aten::nan_to_num(%d{i}, 0.0, 0.0, 0.0)",
    ]


def program_of(trials: Sequence[Trial], seen: Sequence[Seen]) -> list[str]:
    """Of all calls one program; one that has a loss gives it before all else."""
    head = ['module "": Calls']
    body: list[str] = []
    returned: list[str] = []
    losses = {}
    for k, (trial, of_trial) in enumerate(zip(trials, seen, strict=True)):
        text = text_of(trial, f"c{k}", of_trial)
        head += [f"module c{k}: Call", *text.declared]
        body += text.calls
        returned += text.returned
        if trial.leaves:
            losses[k] = [f"%t{k} = aten::clone(%c{k}_loss)"]
    if losses:
        lines, loss = summed(losses)
        body += lines
        returned.insert(0, loss)
    return [*head, *body, f"return {', '.join(returned)}"]
