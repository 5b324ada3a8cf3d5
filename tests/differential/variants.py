# SPDX-License-Identifier: Apache-2.0
"""Other calls like a row's example: other sizes, layouts, dtypes and options.

Each is made from the example by a few random changes, from a seed of the row's own, so that a row's
calls stay the same whatever happens to other rows. Whether a call makes sense is not decided here:
PyTorch is asked.
"""

import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from calls import FLOATS, Call, DType, Tensor, parse
from recorder import overload
from table import Row

SIZES = (0, 1, 1, 2, 3, 4, 5, 7, 16, 17, 33, 64, 100)
MAX_ELEMENTS = 200_000  # of one tensor
INTEGERS = (-2, -1, 0, 1, 2, 3)
REALS = (0.0, 0.5, 1.0, -1.5)
DTYPES = ("f32", "f32", "f64", "bf16", "f16", "i64", "i32", "u8", "bool", "c64")

Change = Callable[[random.Random, Call], Call | None]


def mapped(call: Call, change: Callable[[Any], Any]) -> Call:
    """The call with every tensor, number, ... of its arguments, lists included, changed."""

    def apply(value: Any) -> Any:
        return tuple(map(apply, value)) if isinstance(value, tuple) else change(value)

    return call.with_values(tuple(apply(value) for value in call.values()))


def with_one_tensor(
    rng: random.Random, call: Call, change: Callable[[Tensor], Any | None]
) -> Call | None:
    """The call with one of its tensors changed."""
    tensors = list(call.tensors())
    if not tensors:
        return None
    chosen = rng.randrange(len(tensors))
    changed = change(tensors[chosen])
    if changed is None:
        return None
    seen = iter(range(len(tensors)))

    def apply(value: Any) -> Any:
        return changed if isinstance(value, Tensor) and next(seen) == chosen else value

    return mapped(call, apply)


def resize_everywhere(
    rng: random.Random, call: Call, choices: tuple[int, ...] = SIZES
) -> Call | None:
    """Gives a size that occurs in the call another value, wherever it occurs."""
    sizes = sorted({size for t in call.tensors() for size in t.sizes})
    if not sizes:
        return None
    old, new = rng.choice(sizes), rng.choice(choices)
    numbers_too = rng.random() < 0.7

    def apply(value: Any) -> Any:
        if isinstance(value, Tensor):
            return value.resized(tuple(new if size == old else size for size in value.sizes))
        is_size = type(value) is int and value == old
        return new if is_size and numbers_too and old > 1 else value

    return mapped(call, apply)


def resize_one(rng: random.Random, call: Call) -> Call | None:
    """Gives one dimension of one tensor another size: mostly 1, which may broadcast."""

    def change(t: Tensor) -> Tensor | None:
        if not t.sizes:
            return None
        d = rng.randrange(len(t.sizes))
        size = 1 if rng.random() < 0.7 else rng.choice(SIZES)
        return t.resized((*t.sizes[:d], size, *t.sizes[d + 1 :]))

    return with_one_tensor(rng, call, change)


def change_rank(rng: random.Random, call: Call) -> Call | None:
    """Puts a dimension before one tensor or all, or takes the first away."""
    lead = rng.choice((None, 1, 2, 3))

    def change(t: Tensor) -> Tensor | None:
        if lead is not None:
            return Tensor.contiguous(t.dtype, (lead, *t.sizes))
        return Tensor.contiguous(t.dtype, t.sizes[1:]) if t.sizes else None

    if rng.random() < 0.5:
        return with_one_tensor(rng, call, change)
    return mapped(call, lambda v: (change(v) or v) if isinstance(v, Tensor) else v)


def lay_out(rng: random.Random, call: Call) -> Call | None:
    """Gives one tensor other strides: permuted, expanded, with gaps, channels last."""

    def change(t: Tensor) -> Tensor | None:
        rank = len(t.sizes)
        if rank == 0:
            return None
        order = list(range(rank))
        kind = rng.choice(("transpose", "permute", "expand", "gaps", "channels_last"))
        if kind == "expand":
            d = rng.randrange(rank)
            return replace(t, strides=tuple(0 if i == d else s for i, s in enumerate(t.strides)))
        if kind == "gaps":
            return replace(t, strides=tuple(2 * s for s in t.strides))
        if kind == "transpose" and rank > 1:
            order[-1], order[-2] = order[-2], order[-1]
        elif kind == "channels_last" and rank in (4, 5):
            order = [0, *range(2, rank), 1]
        else:
            rng.shuffle(order)
        # The dimensions from the outermost inwards are order[0], order[1], ...
        ranks = {d: rank - i for i, d in enumerate(order)}
        return replace(t, strides=tuple(ranks[d] for d in range(rank))).resized(t.sizes)

    return with_one_tensor(rng, call, change)


def change_dtype(rng: random.Random, call: Call) -> Call | None:
    """Gives all floating tensors, or one tensor, another dtype."""
    if rng.random() < 0.5:
        new = rng.choice(FLOATS)

        def apply(value: Any) -> Any:
            floating = isinstance(value, Tensor) and value.dtype in FLOATS
            return replace(value, dtype=new) if floating else value

        return mapped(call, apply)
    return with_one_tensor(rng, call, lambda t: replace(t, dtype=rng.choice(DTYPES)))


def change_number(rng: random.Random, call: Call) -> Call | None:
    """Changes one argument that is not a tensor, or an element of a list, or a list's length."""
    values = list(call.values())
    places = [i for i, value in enumerate(values) if not isinstance(value, Tensor)]
    if not places:
        return None
    at = rng.choice(places)
    values[at] = changed_number(rng, values[at])
    return call.with_values(tuple(values))


def changed_number(rng: random.Random, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice((*INTEGERS, value + 1))
    if isinstance(value, float):
        return rng.choice(REALS)
    if isinstance(value, DType):
        return DType(rng.choice(DTYPES))
    if isinstance(value, tuple) and value:
        at = rng.randrange(len(value))
        if rng.random() < 0.3:
            return value[:at] + value[at + 1 :] if rng.random() < 0.5 else (*value, value[at])
        return (*value[:at], changed_number(rng, value[at]), *value[at + 1 :])
    return value


def number_for_tensor(rng: random.Random, call: Call) -> Call | None:
    """Passes a Python number, a 0-dim tensor or None where the example has a tensor."""
    values = list(call.values())
    places = [i for i, value in enumerate(values) if i > 0 and isinstance(value, Tensor)]
    if not places:
        return None
    at = rng.choice(places)
    values[at] = rng.choice(
        (2, 2.5, True, None, Tensor.contiguous(rng.choice(("f32", "f64", "i64")), ()))
    )
    return call.with_values(tuple(values))


def set_option(rng: random.Random, call: Call) -> Call | None:
    """Gives an argument that the example leaves to its default."""
    given = {name for name, _ in call.kwargs}
    options = [
        argument
        for i, argument in enumerate(overload(call.op)._schema.arguments)
        if i >= len(call.args) and argument.name not in given
    ]
    if not options:
        return None
    chosen = rng.choice(options)
    value = option_value(rng, str(chosen.real_type))
    return None if value is None else replace(call, kwargs=(*call.kwargs, (chosen.name, value)))


def option_value(rng: random.Random, kind: str) -> Any:
    """A value of a schema's type, None where there is none to try."""
    kind = kind.removeprefix("Optional[").removesuffix("]")
    if kind == "bool":
        return rng.random() < 0.7
    if kind == "int":
        return rng.choice(INTEGERS)
    if kind in ("float", "number"):
        return rng.choice(REALS)
    if kind.startswith("List[int"):
        return tuple(rng.choice((0, 1, 2, -1)) for _ in range(rng.choice((1, 2))))
    if kind == "ScalarType":
        return DType(rng.choice(DTYPES))
    if kind == "MemoryFormat":
        return rng.choice(("contiguous_format", "preserve_format", "channels_last"))
    return None


CHANGES: tuple[Change, ...] = (
    resize_everywhere,
    resize_everywhere,
    resize_one,
    change_rank,
    lay_out,
    lay_out,
    change_dtype,
    change_dtype,
    change_number,
    number_for_tensor,
    set_option,
)


def variants(row: Row, count: int) -> list[Call]:
    """At most `count` distinct calls, the example itself not among them."""
    rng = random.Random(f"{row.name} {row.example}")
    example = parse(row.example)
    out: dict[str, Call] = {}
    for _ in range(4 * count):
        call: Call | None = example
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
            call = rng.choice(CHANGES)(rng, call) if call is not None else None
        if call is None or call == example:
            continue
        if all(
            max(math.prod(t.sizes), t.storage_elements()) <= MAX_ELEMENTS for t in call.tensors()
        ):
            out.setdefault(str(call), call)
        if len(out) == count:
            break
    return list(out.values())
