# SPDX-License-Identifier: Apache-2.0
"""Compares what the operator table says of a call with what PyTorch does.

usage: compare.py CALL...         each as in the table's `example` column

    PROBE=build/dev/tests/differential/probe .venv/bin/python tests/differential/compare.py \\
        'aten::linear(f32[2,3,8], f32[5,8], bias=f32[5])'
"""

import itertools
import sys
from typing import Any

Seen = dict[str, Any]  # {"outputs": [...], "events": [[label, bytes], ...]} or {"refused": why}


def difference(ours: Seen, theirs: Seen, events: bool = True) -> str | None:
    """How `ours` differs; None where it does not, or where PyTorch refuses the call."""
    if "died" in ours:
        return f"the probe dies: {ours['died']}"
    if "refused" in theirs:
        return None
    if "refused" in ours:
        return f"the row refuses: {ours['refused']}"
    if ours["outputs"] != theirs["outputs"]:
        return side_by_side(
            [shown(output) for output in ours["outputs"]],
            [shown(output) for output in theirs["outputs"]],
        )
    if events and ours["events"] != theirs["events"]:
        return side_by_side(
            [f"{size:+} {label}" for label, size in ours["events"]],
            [f"{size:+} {label}" for label, size in theirs["events"]],
        )
    return None


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
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    from calls import parse
    from recorder import observe
    from table import weigh

    texts = sys.argv[1:]
    differ = 0
    for text, ours, theirs in zip(
        texts, weigh(texts), observe([parse(text) for text in texts]), strict=True
    ):
        found = difference(ours, theirs)
        differ += found is not None
        why = theirs.get("refused")
        print(f"{text}\n{found or (f'PyTorch refuses: {why}' if why else '  equal')}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
