# SPDX-License-Identifier: Apache-2.0
"""Where rows and PyTorch differ and may: each with the reason.

An entry that excuses no call any more is reported by test_known.py, so that the list stays true.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch

from calls import Call
from table import Row


@dataclass(frozen=True)
class Known:
    """A difference of the rows `ops` (a pattern of names) in the calls that `when` picks."""

    ops: str
    why: str
    when: Callable[[Call], bool] = lambda call: True

    def excuses(self, row: Row, call: Call) -> bool:
        return fnmatch(row.name, self.ops) and self.when(call)


# Rows of operators that PyTorch does not define, by namespace.
NOT_PYTORCHS = {
    "higher_order": "their signature is a program's way to pass graphs; PyTorch has no schema",
    "steelyard": "steps of eager PyTorch that are no operators",
    "transformers": "defined by the package transformers, which the tests do without",
}


def namespace_reason(op: str) -> str | None:
    """Why PyTorch cannot be asked about the operator; None if it can."""
    return NOT_PYTORCHS.get(op.split("::")[0])


# Rows without an example: why.
NO_EXAMPLE = {"higher_order": "a graph cannot be written in a call"}

# Kernels whose alias column is not what PyTorch's schema says.
ALIASES = {
    "aten::broadcast_tensors": "each output is a view of its own tensor, which no schema can say",
    "aten::_unsafe_view": "a view that the schema hides: its source dies with the call",
}

# Refusals, as patterns of their messages, of calls that PyTorch takes.
REFUSALS = {
    "*a reduction of *": "PyTorch takes any other number for one of the three",
    "*channels of the * differ*": "PyTorch does not check and reads what lies behind the tensor",
    "*does not end in the normalized shape*": "the kernel trusts its caller, which checks",
    "*an unknown memory format*": "PyTorch takes any number",
    "*a pool over * dimensions of *": "PyTorch averages over the last dimensions of any tensor",
    "*aten::native_group_norm*the channels of * in * groups*": "the kernel trusts its numbers",
    "*aten::_reshape_alias*is too large*": "PyTorch does not check the strides",
}

# Calls in which a row's results or events differ.
DIFFERENCES: tuple[Known, ...] = ()


def excuse(row: Row, call: Call, refusal: str) -> str | None:
    """Why the row may differ in this call, `refusal` being what it says against it; else None."""
    for pattern, why in REFUSALS.items():
        if fnmatch(refusal, pattern):
            return why
    return next((entry.why for entry in DIFFERENCES if entry.excuses(row, call)), None)


# Kernels that trust their caller and read out of bounds when called with sizes that do not fit:
# tested by their example, and by the variants of the composites that call them.
TRUSTING = frozenset(
    {
        "aten::_slow_conv2d_forward",
        "aten::mkldnn_convolution",
        "aten::slow_conv3d_forward",
        "aten::slow_conv_dilated2d",
        "aten::slow_conv_dilated3d",
        "aten::slow_conv_transpose2d",
        "aten::slow_conv_transpose3d",
    }
)
