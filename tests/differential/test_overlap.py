# SPDX-License-Identifier: Apache-2.0
"""Which operators overwrite a tensor of which several elements lie in one place: for every row that
overwrites, the example with a stride of 0, one dimension after the other."""

from collections.abc import Iterator
from dataclasses import replace

import known
from answers import remembered
from calls import Call, Tensor, parse
from recorder import judge
from table import Row, rows, weigh

SHARED = "more than one element of the written-to tensor refers to a single memory location"


def expanded(row: Row) -> Iterator[Call]:
    call = parse(row.example)
    first, *others = call.values() or (None,)
    if not isinstance(first, Tensor):
        return
    for d, size in enumerate(first.sizes):
        if size > 1:
            strides = tuple(0 if i == d else s for i, s in enumerate(first.strides))
            yield call.with_values((replace(first, strides=strides), *others))


def test_what_is_written_in_one_place() -> None:
    overwriting = [
        row
        for row in rows()
        if row.alias == "in_place"
        and row.name.startswith("aten::")
        and not known.trial_reason(row.name)
    ]
    calls = [call for row in overwriting for call in expanded(row)]
    theirs = remembered("judgement", judge, calls)
    ours = weigh([str(call) for call in calls])
    wrong = [
        f"{call}: PyTorch {'refuses' if 'refused' in true else 'takes'} it"
        for call, mine, true in zip(calls, ours, theirs, strict=True)
        if ("refused" in mine) != ("refused" in true)
    ]
    assert not wrong
    assert any(SHARED in true.get("refused", "") for true in theirs)
