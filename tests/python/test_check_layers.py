# SPDX-License-Identifier: Apache-2.0
"""The direction of dependency, as tools/check_layers.py enforces it."""

from pathlib import Path

import pytest
from check_layers import PUBLIC_HEADERS, ROOT, check_include, violations


@pytest.mark.parametrize(
    ("file", "target"),
    [
        ("src/ops/linalg.cc", "ir/layout.h"),
        ("src/ops/linalg.cc", "support/assert.h"),
        ("src/ops/linalg.cc", "ops/rules/shape.h"),
        ("src/import/pt2/read.cc", "import/importer.h"),
        ("src/cli/main.cc", "session/session.h"),
        ("src/cli/main.cc", "steelyard/report.h"),
        ("src/ir/program.cc", "fmt/format.h"),
        ("src/ir/program.cc", "vector"),
    ],
)
def test_allows_an_include_to_the_left(file: str, target: str) -> None:
    assert check_include(Path(file), Path(target)) is None


@pytest.mark.parametrize(
    ("file", "target", "reason"),
    [
        ("src/ir/program.cc", "ops/registry.h", "ir must not know ops"),
        ("src/ir/program.cc", "steelyard/op.h", "ir must not know ops"),
        ("include/steelyard/program.h", "steelyard/op.h", "ir must not know ops"),
        ("src/analyze/work.cc", "render/text.h", "analyze must not know render"),
        ("src/cli/main.cc", "import/registry.h", "cli must not know import"),
        ("src/import/pt2/read.cc", "import/onnx/read.h", "pt2 must not know onnx"),
        ("src/import/pt2/read.cc", "pass/bind.h", "import must not know pass"),
        ("src/ops/linalg.cc", "../ir/layout.h", "parent folder"),
        ("src/ops/linalg.cc", "steelyard/unheard_of.h", "no known layer"),
    ],
)
def test_refuses_an_include_to_the_right(file: str, target: str, reason: str) -> None:
    assert reason in (check_include(Path(file), Path(target)) or "")


def test_names_the_line(tmp_path: Path) -> None:
    folder = tmp_path / "src" / "ir"
    folder.mkdir(parents=True)
    (folder / "program.cc").write_text('#include "steelyard/program.h"\n#include "pass/bind.h"\n')
    assert violations(tmp_path) == [
        'src/ir/program.cc:2: "pass/bind.h" points to the right: ir must not know pass'
    ]


def test_knows_every_public_header() -> None:
    headers = {path.name for path in (ROOT / "include/steelyard").glob("*.h")}
    assert headers <= set(PUBLIC_HEADERS)
