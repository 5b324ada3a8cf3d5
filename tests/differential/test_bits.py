# SPDX-License-Identifier: Apache-2.0
"""Which operators are given conjugates and changed signs that are a bit of a view: as PyTorch has
registered them, that it does not resolve the bit before."""

import pytest
import torch
from known import namespace_reason
from table import Row, rows

BITS = {"Conjugate": ("conjugate", "both"), "Negative": ("negative", "both")}


def has_kernel(op: str, key: str) -> bool:
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(op, key))


def is_asked(row: Row) -> bool:
    """Not of composites whose parts are asked, here or by PyTorch; of views, which PyTorch's
    fallback leaves alone; of what takes no tensor; and of operators that no package defines."""
    if namespace_reason(row.name) or not torch._C._dispatch_has_kernel(row.name):
        return False
    parts = not row.kernel and row.takes_bits == "both"
    composite = parts or has_kernel(row.name, "CompositeImplicitAutograd")
    functional = row.name.startswith("_c10d_functional")  # called by what was asked already
    return not (composite or functional) and row.alias != "view" and "Tensor" in parameters(row)


def parameters(row: Row) -> str:
    return row.signature.split("->")[0]


ASKED = [row for row in rows() if is_asked(row)]


@pytest.mark.parametrize("key", BITS)
def test_as_registered(key: str) -> None:
    wrong = [
        row.name for row in ASKED if has_kernel(row.name, key) != (row.takes_bits in BITS[key])
    ]
    assert not wrong
