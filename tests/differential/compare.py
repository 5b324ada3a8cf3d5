# SPDX-License-Identifier: Apache-2.0
"""Compares what the operator table says of a call with what PyTorch does.

.venv/bin/python tests/differential/compare.py 'aten::linear(f32[2,3,8], f32[5,8], bias=f32[5])'
"""

import argparse
import enum
import itertools
import sys
from collections.abc import Callable
from typing import Any

Seen = dict[str, Any]  # {"outputs": [...], "events": [[label, bytes], ...]} or {"refused": why}
Events = list[list[Any]]


class Extent(enum.IntEnum):
    """How much is compared."""

    NOTHING = 0
    RESULTS = 1  # dtypes, sizes, strides and aliasing
    PUBLIC = 2  # and all events but a product's private buffers
    ALL = 3


# Operators that give buffers to the libraries that compute products.
PRODUCTS = frozenset(
    f"aten::{name}"
    for name in (
        "mm",
        "addmm",
        "bmm",
        "baddbmm",
        "mkldnn_convolution",
        "_convolution",
        "convolution_backward",
    )
)


def public_events(events: Events) -> Events:
    """The events without what a product allocates and frees itself."""
    public: Events = []
    for label, size in events:
        opened = [label, -size]
        if size < 0 and label in PRODUCTS and opened in public:
            del public[len(public) - 1 - public[::-1].index(opened)]
        else:
            public.append([label, size])
    return public


def difference(ours: Seen, theirs: Seen, extent: Extent = Extent.ALL) -> str | None:
    """How `ours` differs; None where it does not, or where PyTorch refuses the call."""
    return compared(ours, theirs, extent, outputs_difference)


def step_difference(ours: Seen, theirs: Seen, extent: Extent = Extent.ALL) -> str | None:
    """The same for a training step: events, what is saved, gradients."""
    return compared(ours, theirs, extent, kept_difference)


def compared(
    ours: Seen, theirs: Seen, extent: Extent, results: Callable[[Seen, Seen], str | None]
) -> str | None:
    """The difference of the results and of the events, as far as they are asked for."""
    if "died" in ours:
        return f"the probe dies: {ours['died']}"
    if "refused" in theirs or extent == Extent.NOTHING:
        return None
    if "refused" in ours:
        return f"the row refuses: {ours['refused']}"
    found = results(ours, theirs)
    if found is not None or extent == Extent.RESULTS:
        return found
    return events_difference(ours, theirs, extent)


def outputs_difference(ours: Seen, theirs: Seen) -> str | None:
    if ours["outputs"] == theirs["outputs"]:
        return None
    return side_by_side(
        [shown(output) for output in ours["outputs"]],
        [shown(output) for output in theirs["outputs"]],
    )


def kept_difference(ours: Seen, theirs: Seen) -> str | None:
    """Of what autograd saves, of the gradients, and of which results have a history."""
    for what in ("saved", "gradients"):
        mine, true = sorted(ours[what]), sorted(theirs[what])
        if mine != true:
            return f"  {what}\n" + side_by_side(mine, true)
    found = {f"y{i}": wanted for i, wanted in enumerate(theirs["wanted"])}
    if wrong := [y for y, requires in ours["differentiable"].items() if found[y] != requires]:
        return f"  whether a gradient is required differs: {', '.join(wrong)}"
    return None


def events_difference(ours: Seen, theirs: Seen, extent: Extent) -> str | None:
    mine, true = ours["events"], theirs["events"]
    if extent == Extent.PUBLIC:
        mine, true = public_events(mine), public_events(true)
    if mine == true:
        return None
    return side_by_side(
        [f"{size:+} {label}" for label, size in mine],
        [f"{size:+} {label}" for label, size in true],
    )


def shown(output: dict[str, Any] | None) -> str:
    if output is None:
        return "None"
    sizes, strides = (",".join(map(str, output[key])) for key in ("sizes", "strides"))
    return f"{output['dtype']}[{sizes}]{{{strides}}} is {output['is']} on {output['storage']}"


def side_by_side(ours: list[str], theirs: list[str]) -> str:
    width = max(map(len, ["Steelyard", *ours]))
    lines = [f"  {'Steelyard':{width}}   PyTorch"]
    for mine, true in itertools.zip_longest(ours, theirs, fillvalue=""):
        lines.append(f"{' ' if mine == true else '!'} {mine:{width}}   {true}".rstrip())
    return "\n".join(lines)


def main() -> int:
    from calls import parse
    from recorder import observe
    from table import weigh

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", action="store_true", help="compare a training step of each")
    parser.add_argument("calls", metavar="CALL", nargs="+", help="as in the table's `example`")
    options = parser.parse_args()
    texts = options.calls
    try:
        calls = [parse(text) for text in texts]
    except ValueError as error:
        parser.error(str(error))
    if options.steps:
        return compare_steps(texts)
    differ = 0
    for text, ours, theirs in zip(texts, weigh(texts), observe(calls), strict=True):
        found = difference(ours, theirs)
        differ += found is not None
        why = theirs.get("refused")
        print(f"{text}\n{found or (f'PyTorch refuses: {why}' if why else '  equal')}")
    return 1 if differ else 0


def compare_steps(texts: list[str]) -> int:
    from calls import parse
    from steps import steps_of, try_steps

    differ = 0
    for step, ours, theirs in try_steps([step for text in texts for step in steps_of(parse(text))]):
        found = step_difference(ours, theirs)
        differ += found is not None
        why = theirs.get("refused")
        print(f"{step}\n{found or (f'PyTorch refuses: {why}' if why else '  equal')}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
