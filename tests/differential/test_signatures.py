# SPDX-License-Identifier: Apache-2.0
"""What each row states of its operator, against the schemas of the installed PyTorch."""

from typing import Any

import known
import pytest
import torch
from recorder import overload
from table import Row, rows


def schema(row: Row) -> Any:
    if why := known.namespace_reason(row.name):
        pytest.skip(why)
    return overload(row.name)._schema


def test_signature(row: Row) -> None:
    text = str(schema(row))
    for name in known.UNDEFINED.get(row.name, []):
        text = text.replace(f"Tensor {name}", f"Tensor? {name}")
    assert row.signature == text[text.index("(") :]


def test_alias(row: Row) -> None:
    arguments = schema(row).arguments
    first = arguments[0].alias_info if arguments else None
    if row.name in known.ALIASES:
        pytest.skip(known.ALIASES[row.name])
    returned = any(result.alias_info for result in schema(row).returns)
    stated = "none"
    if first is not None and first.is_write:
        stated = "in_place"
    elif first is not None and returned:
        stated = "view"
    # What a composite returns follows from its parts, and "may be a view" is all its schema says.
    composite = not row.kernel and row.alias == "none"
    assert row.alias == stated or composite


@pytest.mark.parametrize("device", ["CPU", "CUDA"])
def test_precision(row: Row, device: str) -> None:
    """Autocast has a kernel of its own for just the operators whose operands it looks at."""
    schema(row)
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key(row.name, f"Autocast{device}")
    assert (row.precision[device] != "follow") == has_kernel


def test_names_are_distinct() -> None:
    names = [row.name for row in rows()]
    assert sorted(names) == sorted(set(names))


def test_example_is_given(row: Row) -> None:
    if row.example:
        return
    why = known.NO_EXAMPLE.get(row.name.split("::")[0])
    assert why, "a row without an example is tested by nobody"
    pytest.skip(why)
