# SPDX-License-Identifier: Apache-2.0
"""A training step of one call: forward, a sum or mean of what it gives, backward.

Some of its tensors are parameters. Both sides say the events of the step, what autograd saves
and which gradients there are in the end.
"""

import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from answers import remembered
from calls import COMPLEX, FLOATS, Call, Tensor
from compare import Seen
from recorder import (
    SHORT_NAMES,
    Made,
    in_child,
    make_matrices,
    overload,
    record,
    refusal,
    tensors_in,
)
from table import weigh


@dataclass(frozen=True)
class Step:
    """`leaves` are the places, among the call's tensors, of those that require gradients.

    An operator that overwrites its first tensor is given a copy of it.
    """

    call: Call
    leaves: tuple[int, ...]
    reduction: str  # "sum" or "mean"
    in_place: bool
    autocast: bool = False  # forward, in bfloat16

    def __str__(self) -> str:
        tensors = list(self.call.tensors())
        marked = ", ".join(f"{i}: {tensors[i]}" for i in self.leaves)
        where = " under autocast" if self.autocast else ""
        return f"{self.reduction} of {self.call}{where}, gradients of {marked}"


@dataclass(frozen=True)
class Name:
    """A value in a program's text."""

    text: str

    def __str__(self) -> str:
        return self.text


def real_of(name: str, is_complex: bool) -> tuple[str, list[str]]:
    """A tensor of real numbers that an output is seen as, and the lines that make it."""
    if not is_complex:
        return name, []
    stored, pairs = f"{name}_stored", f"{name}_pairs"
    lines = [f"{stored} = aten::resolve_conj({name})", f"{pairs} = aten::view_as_real({stored})"]
    return pairs, lines


def as_real(output: torch.Tensor) -> torch.Tensor:
    """The same by PyTorch."""
    return torch.view_as_real(output.resolve_conj()) if output.is_complex() else output


def called(step: Step, outputs: int, weights: Sequence[str | None] = ()) -> list[str]:
    """Lines that declare the step's tensors and call it; what it gives is %y0 and so on.

    `weights` are the types of more inputs: %w0 and so on.
    """
    lines = []
    names: list[Name] = []
    for i, tensor in enumerate(step.call.tensors()):
        lines.append(f"{'parameter' if i in step.leaves else 'input'} %x{i}: {tensor}")
        names.append(Name(f"%x{i}"))
    lines += [f"input %w{i}: {weight}" for i, weight in enumerate(weights) if weight]
    if step.autocast:
        lines.append("steelyard::enter_autocast(bf16)")
    for i in range(copied_by(step)):
        lines.append(f"%copy{i} = aten::clone(%x{i})")
        names[i] = Name(f"%copy{i}")
    given = iter(names)

    def named(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(named, value))
        return next(given) if isinstance(value, Tensor) else value

    call = step.call.with_values(tuple(named(value) for value in step.call.values()))
    given_names = ", ".join(outputs_of(step, outputs))
    lines.append(str(call) if gives_nothing(call) else f"{given_names} = {call}")
    return lines


def summed(terms: Mapping[int, Sequence[str]]) -> tuple[list[str], str]:
    """Lines that add up terms, each of which its own lines call %t and its number; and the sum."""
    lines: list[str] = []
    loss = ""
    for i, term in terms.items():
        lines += term
        if loss:
            lines.append(f"%l{i} = aten::add.Tensor({loss}, %t{i})")
        loss = f"%l{i}" if loss else f"%t{i}"
    return lines, loss


def program_of(step: Step, wanted: Sequence[bool], is_complex: Sequence[bool]) -> str:
    """The step in the text form, its lines separated by tabs; `wanted` outputs make the loss."""
    terms = {}
    for i, name in enumerate(outputs_of(step, len(wanted))):
        if wanted[i]:
            real, made = real_of(name, is_complex[i])
            terms[i] = [*made, f"%t{i} = aten::{step.reduction}({real})"]
    lines, loss = summed(terms)
    if step.autocast:
        lines.append("steelyard::leave_autocast()")
    ends = [f"steelyard::backward({loss}) phase backward", f"return {loss}"]
    return "\t".join([*called(step, len(wanted)), *lines, *ends])


def copied_by(step: Step) -> int:
    """How many of the first tensors the operator is given copies of."""
    if not step.in_place:
        return 0
    first = step.call.values()[0]
    return len(first) if isinstance(first, tuple) else 1


def gives_nothing(call: Call) -> bool:
    return not overload(call.op)._schema.returns


def outputs_of(step: Step, count: int) -> list[str]:
    """The names of what the call gives, or overwrites where it gives nothing."""
    name = "copy" if gives_nothing(step.call) else "y"
    return [f"%{name}{i}" for i in range(count)]


class MadeStep(Made):
    """A step with its tensors made: ones, and zeros for integers, which may be indices."""

    def __init__(self, step: Step) -> None:
        super().__init__(step.call, 0)
        self.step = step
        for tensor in self.inputs:
            if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
                tensor.as_strided(
                    (tensor.untyped_storage().nbytes() // tensor.itemsize,), (1,), 0
                ).fill_(1)
                make_matrices(tensor, self.op)
        for i in step.leaves:
            self.inputs[i].requires_grad_(True)
        self.wanted: list[bool] = []
        self.is_complex: list[bool] = []

    def forward(self) -> list[torch.Tensor | None]:
        if not self.step.in_place:
            return list(tensors_in(self.function(*self.args, **self.kwargs)))
        first = self.args[0]
        copies = [t.clone() for t in first] if isinstance(first, list) else first.clone()
        given = self.function(copies, *self.args[1:], **self.kwargs)
        return list(tensors_in(copies if given is None else given))

    def loss(self) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=self.step.autocast):
            return self.loss_inside()

    def loss_inside(self) -> torch.Tensor:
        outputs = self.forward()
        self.wanted = [y is not None and y.requires_grad for y in outputs]
        self.is_complex = [y is not None and y.is_complex() for y in outputs]
        # As a tuple of variables goes: from its end, the last one after all others. What was
        # overwritten goes as the arguments do.
        places = list(range(len(outputs)))
        if not gives_nothing(self.step.call):
            places = places[-2::-1] + places[-1:]
        for i in places:
            if not self.wanted[i]:
                outputs[i] = None
        reduce = getattr(torch.ops.aten, self.step.reduction).default
        kept = [y for y in outputs if y is not None]
        del outputs
        if not kept:
            raise ValueError("nothing requires a gradient")
        loss: torch.Tensor = reduce(as_real(kept.pop(0)))
        while kept:
            term = reduce(as_real(kept.pop(0)))
            loss = torch.add(loss, term)
            del term
        return loss

    def run(self) -> torch.Tensor:
        loss = self.loss()
        loss.backward()
        return loss

    def clear(self) -> None:
        for tensor in self.inputs:
            tensor.grad = None


def described(tensor: torch.Tensor) -> str:
    sizes, strides = (",".join(map(str, numbers)) for numbers in (tensor.shape, tensor.stride()))
    return f"{SHORT_NAMES[tensor.dtype]}[{sizes}]{{{strides}}}"


def attempt(step: Step) -> tuple[MadeStep | None, Seen]:
    """The step ready to run again, and all but its events; None and why, if PyTorch refuses."""
    saved: list[str] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        if not made.is_buffer(tensor):
            saved.append(described(tensor))
        return tensor

    try:
        made = MadeStep(step)
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            made.loss()
        made.run()
        gradients = [t.grad for t in made.inputs if t.is_leaf and t.grad is not None]
        seen = {
            "wanted": made.wanted,
            "is_complex": made.is_complex,
            "saved": saved,
            "gradients": [described(gradient) for gradient in gradients],
        }
        made.clear()
        return made, seen
    except Exception as error:  # whatever an operator raises
        return None, refusal(error)


def observe_steps(steps: Sequence[Step]) -> list[Seen]:
    """For each step {"wanted", "saved", "gradients", "events"}, or {"refused": why}."""
    found = in_child(lambda step: attempt(step)[1], steps)
    gc.disable()
    accepted = [
        (seen, made)
        for step, seen in zip(steps, found, strict=True)
        if "refused" not in seen and (made := attempt(step)[0]) is not None
    ]
    events = record([made.run for _, made in accepted])
    gc.enable()
    for (seen, _), of_step in zip(accepted, events, strict=True):
        seen["events"] = of_step
    return found


def try_steps(steps: Sequence[Step]) -> list[tuple[Step, Seen, Seen]]:
    """Each step with what it is on our side and on PyTorch's."""
    theirs = remembered("step", observe_steps, steps)
    asked = [
        (step, seen) for step, seen in zip(steps, theirs, strict=True) if "refused" not in seen
    ]
    programs = [program_of(step, seen["wanted"], seen["is_complex"]) for step, seen in asked]
    answers = iter(weigh(programs, "--steps"))
    return [
        (step, {} if "refused" in seen else next(answers), seen)
        for step, seen in zip(steps, theirs, strict=True)
    ]


def overwrites(call: Call) -> bool:
    first = overload(call.op)._schema.arguments[0]
    return first.alias_info is not None and first.alias_info.is_write


def steps_of(call: Call) -> list[Step]:
    """All floating and complex tensors require gradients, and then each one alone."""
    in_place = overwrites(call)
    floating = [i for i, tensor in enumerate(call.tensors()) if tensor.dtype in FLOATS + COMPLEX]
    if not floating:
        return []
    steps = [Step(call, tuple(floating), reduction, in_place) for reduction in ("sum", "mean")]
    if len(floating) > 1:
        steps += [Step(call, (i,), "sum", in_place) for i in floating]
    return steps
