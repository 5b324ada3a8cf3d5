# SPDX-License-Identifier: Apache-2.0
"""The counted house rules, as tools/house_score.py measures them."""

import pytest
from house_score import DEFAULT_LABEL, IDENTITY, has_opening, percentile


@pytest.mark.parametrize(
    "line",
    [
        'if (op.name() == "relu") return;',
        'if (name == "aten::relu") return;',
        'return "aten::relu" == name;',
        'const OpDef* relu = FindOp("aten::relu");',
        'if (name.starts_with("aten::conv")) return;',
    ],
)
def test_finds_operator_identity(line: str) -> None:
    assert IDENTITY.search(line)


@pytest.mark.parametrize(
    "line",
    ['Emit(bytes, "aten::empty");', "if (op.def().family == Family::kView) return;"],
)
def test_lets_labels_and_columns_pass(line: str) -> None:
    assert not IDENTITY.search(line)


def test_finds_default_labels_but_not_defaulted_functions() -> None:
    assert DEFAULT_LABEL.search("    default:")
    assert not DEFAULT_LABEL.search("  Program() = default;")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("// SPDX-License-Identifier: Apache-2.0\n//\n// Decides.\n\n#include <array>\n", True),
        ("// SPDX-License-Identifier: Apache-2.0\n#include <array>\n\n// Later.\n", False),
        ("// SPDX-License-Identifier: Apache-2.0\n\n// Of the next line.\nint x;\n", False),
        ("// SPDX-License-Identifier: Apache-2.0\n//\n", False),
    ],
)
def test_finds_opening_comments(text: str, expected: bool) -> None:
    assert has_opening(text) == expected


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([], 0.9, 0), ([5], 0.9, 5), (list(range(1, 11)), 0.9, 9), ([3, 1, 2], 0.5, 2)],
)
def test_percentile(values: list[int], share: float, expected: int) -> None:
    assert percentile(values, share) == expected
