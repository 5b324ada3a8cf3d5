# SPDX-License-Identifier: Apache-2.0
"""Runs a program of kernels, as `probe --kernels` prints it, with PyTorch's own kernels."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from calls import DTYPES, DType, Parser, contiguous_strides
from kernels import KERNELS, OPAQUE, Function
from recorder import MEMORY_FORMATS, SHORT_NAMES, overload, tensors_in

STATEMENT = re.compile(r"(?:(?P<results>(?:%|None).*?) = )?(?P<call>\w+::.*)")
RESULT = re.compile(r"%(?P<name>\w+): (?:(?P<dtype>\w+)\[(?P<sizes>[\d,]*)\])?")


class UnlikeSizesError(Exception):
    """A kernel gives other sizes or another dtype than the program says."""


@dataclass(frozen=True)
class Value:
    """A value of the program, by its name."""

    name: str


@dataclass(frozen=True)
class Argument:
    """An argument of a kernel; those without a name are at their place in the signature."""

    name: str | None
    value: Any


@dataclass(frozen=True)
class Result:
    """What the program says of a kernel's result; a number has no dtype and no sizes."""

    name: str
    dtype: str | None
    sizes: tuple[int, ...]
    shared: bool  # with an operand

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.sizes))}]"


@dataclass(frozen=True)
class Kernel:
    """One statement. `results` has None for what the kernel leaves out."""

    op: str
    arguments: tuple[Argument, ...]
    results: tuple[Result | None, ...]
    phase: str
    text: str


class KernelParser(Parser):
    """Reads a kernel's call, and what is said after it."""

    def value(self) -> Any:
        found = re.compile(r"\s*%(\w+)").match(self.text, self.at)
        if found is None:
            return super().value()
        self.at = found.end()
        return Value(found.group(1))

    def kernel(self, results: tuple[Result | None, ...]) -> Kernel:
        op = self.expect("op")
        self.expect("(")
        arguments = []
        while not self.accept(")"):
            before = self.at
            name = self.accept("word")
            if name is None or not self.accept("="):
                self.at, name = before, None
            arguments.append(Argument(name, self.value()))
            self.accept(",")
        phase = re.search(r"\bphase (\w+)", self.text[self.at :])
        return Kernel(
            op, tuple(arguments), results, phase.group(1) if phase else "forward", self.text
        )


def results_of(text: str) -> tuple[Result | None, ...]:
    out: list[Result | None] = []
    for part in text.split(", "):
        found = RESULT.match(part)
        if found is None:
            out.append(None)
            continue
        sizes = tuple(int(size) for size in (found["sizes"] or "").split(",") if size)
        out.append(Result(found["name"], found["dtype"], sizes, " shares " in part))
    return tuple(out)


def kernels_of(program: str) -> list[Kernel]:
    out = []
    for line in program.splitlines():
        found = STATEMENT.fullmatch(line)
        if found is not None:
            results = results_of(found["results"]) if found["results"] else ()
            out.append(KernelParser(found["call"]).kernel(results))
    return out


# Instead of a name: zeros that are not stored, which PyTorch stores for the optimizer.
ZEROS = "zeros"


def gradients_in(kernels: Sequence[Kernel]) -> dict[str, str]:
    """By parameter, the value that the program's plain SGD subtracts from it."""
    out = {}
    copied = {}  # conjugates are copied for it
    for kernel in kernels:
        if kernel.phase == "optimizer" and kernel.op == "aten::clone" and kernel.results[0]:
            copied[kernel.results[0].name] = kernel.arguments[0].value.name
        if kernel.phase == "optimizer" and kernel.op == "aten::expand" and kernel.results[0]:
            copied[kernel.results[0].name] = ZEROS
        if kernel.phase == "optimizer" and kernel.op == "aten::add_.Tensor":
            parameter, gradient = (argument.value.name for argument in kernel.arguments[:2])
            out[parameter] = copied.get(gradient, gradient)
    return out


def resolved(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, Value):
        return values[value.name]
    if isinstance(value, DType):
        return getattr(torch, DTYPES[value.name])
    if isinstance(value, tuple):
        return [resolved(element, values) for element in value]
    if isinstance(value, str) and value in MEMORY_FORMATS:
        return getattr(torch, value)
    return value


# Operators that PyTorch lets take a number for a tensor.
TAKE_NUMBERS = ("add", "sub", "mul", "div", "true_divide", "floor_divide")


def boxed(number: complex, kernel: Kernel) -> Any:
    name = kernel.op.removeprefix("aten::").split(".")[0].rstrip("_")
    if name in TAKE_NUMBERS:
        return number
    return torch.tensor(number, dtype=torch.complex128 if isinstance(number, complex) else None)


def call(kernel: Kernel, values: Mapping[str, Any]) -> Any:
    given = [resolved(argument.value, values) for argument in kernel.arguments]
    if kernel.op in OPAQUE:
        return opaque(kernel, given)
    ours: Function | None = KERNELS.get(kernel.op)
    if ours is not None:
        return ours(*given)
    function = overload(kernel.op)
    schema = function._schema.arguments
    args, kwargs = [], {}
    for i, (argument, value) in enumerate(zip(kernel.arguments, given, strict=True)):
        name = argument.name or schema[i].name
        formal = next(formal for formal in schema if formal.name == name)
        if str(formal.type) == "Tensor" and isinstance(value, (int, float, complex)):
            value = boxed(value, kernel)
        if formal.kwarg_only:
            kwargs[name] = value
        else:
            args.append(value)
    return function(*args, **kwargs)


def opaque(kernel: Kernel, given: Sequence[Any]) -> torch.Tensor:
    """Its result with nothing known of the elements."""
    (result,) = kernel.results
    assert result is not None and result.dtype is not None
    dtype = getattr(torch, DTYPES[result.dtype])
    if result.shared:
        given[0].fill_(math.nan)
        return given[0].as_strided(result.sizes, contiguous_strides(result.sizes))
    return torch.full(result.sizes, math.nan, dtype=dtype)


def check(result: Result, made: Any, kernel: Kernel) -> None:
    if not isinstance(made, torch.Tensor) or result.dtype is None:
        return
    if SHORT_NAMES[made.dtype] != result.dtype or tuple(made.shape) != result.sizes:
        sizes = ",".join(map(str, made.shape))
        raise UnlikeSizesError(
            f"PyTorch's kernel gives {SHORT_NAMES[made.dtype]}[{sizes}] for {result}: {kernel.text}"
        )


def run(kernels: Sequence[Kernel], values: dict[str, Any]) -> None:
    """Runs all up to the optimizer's; `values` are first the inputs and then all that are held."""
    for kernel in kernels:
        if kernel.phase == "optimizer":
            return
        if kernel.op == "steelyard::drop":
            for argument in kernel.arguments:
                values.pop(argument.value.name)
            continue
        made = call(kernel, values)
        flat = [made] if isinstance(made, (bool, int, float, complex)) else list(tensors_in(made))
        for result, tensor in zip(kernel.results, flat, strict=False):
            if result is not None:
                check(result, tensor, kernel)
                values[result.name] = tensor
