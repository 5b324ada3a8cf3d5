# SPDX-License-Identifier: Apache-2.0
"""A call of an operator as text: the form of the table's `example` column (src/ir/text_call.h)."""

import dataclasses
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

DTYPES = {
    "bool": "bool",
    "i8": "int8",
    "u8": "uint8",
    "i16": "int16",
    "u16": "uint16",
    "i32": "int32",
    "u32": "uint32",
    "i64": "int64",
    "u64": "uint64",
    "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "c32": "complex32",
    "c64": "complex64",
    "c128": "complex128",
}
FLOATS = ("f32", "bf16", "f16", "f64")
COMPLEX = ("c32", "c64", "c128")


def contiguous_strides(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides; an empty tensor has those of one with a single element there."""
    strides: list[int] = []
    for size in reversed((*sizes[1:], 1) if sizes else ()):
        strides.append((strides[-1] if strides else 1) * max(size, 1))
    return tuple(reversed(strides))


@dataclass(frozen=True)
class DType:
    """A dtype by its short name, as an argument."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Tensor:
    """A tensor that the caller passes."""

    dtype: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @staticmethod
    def contiguous(dtype: str, sizes: tuple[int, ...]) -> "Tensor":
        return Tensor(dtype, sizes, contiguous_strides(sizes))

    def resized(self, sizes: tuple[int, ...]) -> "Tensor":
        """Other sizes of the same rank, dense, with the dimensions in the order they have."""
        order = sorted(range(len(sizes)), key=lambda d: (self.strides[d], -d))
        strides, running = [0] * len(sizes), 1
        for d in order:
            strides[d] = running
            running *= max(sizes[d], 1)
        return Tensor(self.dtype, sizes, tuple(strides))

    def storage_elements(self) -> int:
        if math.prod(self.sizes) == 0:
            return 0
        return 1 + sum((n - 1) * s for n, s in zip(self.sizes, self.strides, strict=True))

    def __str__(self) -> str:
        text = f"{self.dtype}[{','.join(map(str, self.sizes))}]"
        if self.strides != contiguous_strides(self.sizes):
            text += f"{{{','.join(map(str, self.strides))}}}"
        return text


@dataclass(frozen=True)
class Call:
    """An operator with its arguments; values are what Python has, DType, Tensor and tuples."""

    op: str
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        parts = [text_of(value) for value in self.args]
        parts += [f"{name}={text_of(value)}" for name, value in self.kwargs]
        return f"{self.op}({', '.join(parts)})"

    def values(self) -> tuple[Any, ...]:
        return self.args + tuple(value for _, value in self.kwargs)

    def with_values(self, values: tuple[Any, ...]) -> "Call":
        names = [name for name, _ in self.kwargs]
        split = len(self.args)
        kwargs = tuple(zip(names, values[split:], strict=True))
        return dataclasses.replace(self, args=values[:split], kwargs=kwargs)

    def tensors(self) -> Iterator[Tensor]:
        for value in self.values():
            for element in value if isinstance(value, tuple) else (value,):
                if isinstance(element, Tensor):
                    yield element


def text_of(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(text_of, value))}]"
    if isinstance(value, complex):
        return f"complex({value.real}, {value.imag})"
    return repr(value) if isinstance(value, str) else str(value)


TOKEN = re.compile(
    r"""\s*(?:
        (?P<real>-?(?:\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+|inf\b|nan\b(?!=)))
      | (?P<integer>-?\d+)
      | (?P<text>'[^']*'|"[^"]*")
      | (?P<op>\w+::[\w.]+)
      | (?P<word>\w+)
      | (?P<mark>[][(){},=])
    )""",
    re.VERBOSE,
)


class Parser:
    """Reads one call; anything else is a ValueError."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def accept(self, *kinds: str) -> str | None:
        """The next token, if it is of one of these kinds or is one of these marks."""
        found = TOKEN.match(self.text, self.at)
        if found is None:
            return None
        kind, token = next((k, v) for k, v in found.groupdict().items() if v is not None)
        if kind not in kinds and token not in kinds:
            return None
        self.at = found.end()
        return token

    def expect(self, *kinds: str) -> str:
        token = self.accept(*kinds)
        if token is None:
            raise ValueError(f"expected {' or '.join(kinds)}: {self.text[self.at :]!r}")
        return token

    def call(self) -> Call:
        op = self.expect("op")
        self.expect("(")
        args, kwargs = [], []
        while not self.accept(")"):
            before = self.at
            name = self.accept("word")
            if name and self.accept("="):
                kwargs.append((name, self.value()))
            else:
                self.at = before
                args.append(self.value())
            self.accept(",")
        if self.text[self.at :].strip():
            raise ValueError(f"expected the end: {self.text[self.at :]!r}")
        return Call(op, tuple(args), tuple(kwargs))

    def value(self) -> Any:
        if self.accept("["):
            elements = []
            while not self.accept("]"):
                elements.append(self.value())
                self.accept(",")
            return tuple(elements)
        if token := self.accept("real"):
            return float(token)
        if token := self.accept("integer"):
            return int(token)
        if token := self.accept("text"):
            return token[1:-1]
        word = self.expect("word")
        if word == "complex":
            return self.complex()
        if word in ("None", "True", "False"):
            return {"None": None, "True": True, "False": False}[word]
        if word not in DTYPES:
            raise ValueError(f"unknown word {word!r}")
        return self.tensor(word) if self.accept("[") else DType(word)

    def complex(self) -> complex:
        self.expect("(")
        real = float(self.expect("real"))
        self.expect(",")
        imaginary = float(self.expect("real"))
        self.expect(")")
        return complex(real, imaginary)

    def tensor(self, dtype: str) -> Tensor:
        sizes = self.integers("]")
        return (
            Tensor(dtype, sizes, self.integers("}"))
            if self.accept("{")
            else Tensor.contiguous(dtype, sizes)
        )

    def integers(self, end: str) -> tuple[int, ...]:
        numbers = []
        while not self.accept(end):
            numbers.append(int(self.expect("integer")))
            self.accept(",")
        return tuple(numbers)


def parse(text: str) -> Call:
    return Parser(text).call()
