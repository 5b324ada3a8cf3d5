# SPDX-License-Identifier: Apache-2.0
"""Overloads that write into tensors that they are given, which have no rows: what each gives, in
which memory, and every allocation, in the call of a row's example with tensors that fit."""

from fnmatch import fnmatch

import known
import processor
import pytest
import torch
from calls import Call, Tensor, parse
from compare import Extent, Seen, difference
from recorder import isolated, judge, observe, overload
from table import Row, rows, weigh

# Overloads whose own way to the tensor they are given is not followed, and in what they differ.
APART = {
    "aten::fft_fft.out": "half of the result is computed apart, and the other half filled in",
    "aten::fft_fft2.out": "the last of its parts computes apart and fills a half in",
    "aten::fft_*hfft*.out": "the last of its parts is another operator",
    "aten::*linalg_*": "factors are computed where the result goes, or apart",
    "aten::slogdet.out": "factors are computed where the result goes, or apart",
    "aten::nuclear_norm.*": "factors are computed where the result goes, or apart",
    "aten::*_loss.out": "what a loss is the mean of is computed where the mean goes",
    "aten::binary_cross_entropy.out": "what a loss is the mean of is computed where the mean goes",
    "aten::*quantile.*out": "the quantile is computed apart and copied",
    "aten::slow_conv_transpose3d.out": "its columns are resized in another order",
    "aten::mv.out": "a free has another label",
    "aten::inner.out": "the product is computed apart, and dies in another record",
    "aten::adaptive_avg_pool?d.out": "its parts are other operators",
    "aten::bernoulli.float_out": "its parts are other operators",
    "aten::_fused_moving_avg_obs_fq_helper.out": "what it overwrites otherwise is copied first",
    "aten::diag.out": "its parts are other operators",
    "aten::im2col.out": "its parts are other operators",
    "aten::log_sigmoid.out": "its parts are other operators",
    "aten::mvlgamma.out": "its parts are other operators",
    "aten::nanmean.out": "its parts are other operators",
    "aten::nonzero_static.out": "its parts are other operators",
    "aten::special_multigammaln.out": "its parts are other operators",
    "aten::special_ndtr.out": "its parts are other operators",
    "aten::normal.*Tensor_out": "deviations are looked at once where a tensor is given",
}


def overloads_of(row: Row) -> list[Call]:
    """Calls of overloads that take the arguments of the row and, as None here, those tensors."""
    name = row.name.split(".")[0]
    given = [argument.name for argument in overload(row.name)._schema.arguments]
    packet = getattr(torch.ops.aten, name.removeprefix("aten::"))
    calls = []
    for which in packet.overloads():
        arguments = getattr(packet, which)._schema.arguments
        outs = [argument.name for argument in arguments if argument.is_out]
        if outs and [a.name for a in arguments if not a.is_out] == given:
            call = parse(row.example)
            written = tuple((out, None) for out in outs)
            calls.append(Call(f"{name}.{which}", call.args, (*call.kwargs, *written)))
    return calls


def with_tensors(call: Call, plain: Seen) -> Call | None:
    """The call with tensors as the results of the plain one; None where it has none."""
    outputs = plain.get("outputs", [])
    count = sum(value is None for _, value in call.kwargs[-len(outputs) :]) if outputs else 0
    if count == 0 or count != len(outputs) or None in outputs:
        return None
    names = [name for name, _ in call.kwargs[-count:]]
    made = [Tensor(o["dtype"], tuple(o["sizes"]), tuple(o["strides"])) for o in outputs]
    return Call(call.op, call.args, call.kwargs[:-count] + tuple(zip(names, made, strict=True)))


def try_all(chosen: list[Row]) -> list[tuple[Call, Seen, Seen]]:
    calls = [
        (row, call)
        for row in chosen
        if processor.obstacle(row, parse(row.example)) is None
        for call in overloads_of(row)
    ]
    plain = judge([parse(row.example) for row, _ in calls])
    found = [with_tensors(call, seen) for (_, call), seen in zip(calls, plain, strict=True)]
    full = [call for call in found if call is not None]
    return list(zip(full, weigh([str(call) for call in full]), observe(full), strict=True))


@pytest.fixture(scope="module")
def trials() -> list[tuple[Call, Seen, Seen]]:
    return isolated(
        try_all,
        [
            row
            for row in rows()
            if row.name.startswith("aten::") and row.example and not known.trial_reason(row.name)
        ],
    )


def test_out_overloads(trials: list[tuple[Call, Seen, Seen]]) -> None:
    differing = [
        f"{call}\n{found}"
        for call, ours, theirs in trials
        if not any(fnmatch(call.op, pattern) for pattern in APART)
        and "refused" not in theirs
        and (found := difference(ours, theirs, Extent.ALL)) is not None
    ]
    assert not differing, "\n\n".join(differing[:5])


def test_those_apart_differ(trials: list[tuple[Call, Seen, Seen]]) -> None:
    differing = {
        call.op
        for call, ours, theirs in trials
        if "refused" not in theirs and difference(ours, theirs, Extent.ALL) is not None
    }
    idle = [p for p in APART if not any(fnmatch(op, p) for op in differing)]
    assert not idle or not processor.is_stated()
