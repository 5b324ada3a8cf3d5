#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the house rules that can be counted, and prints a table.

usage: house_score.py [--strict]

Exit 1 where a hard rule is broken: a source file over 800 lines, a test over 500, an #include
against the direction of dependency, an operator's identity decided outside src/ops and the
importers. The other rows are to be read; `--strict` makes them hard too. Function sizes need lizard
(requirements/lint.txt).
"""

import argparse
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import check_layers

try:
    import lizard  # type: ignore[import-untyped, unused-ignore]
except ImportError:
    lizard = None

ROOT = Path(__file__).resolve().parent.parent
MAX_SOURCE_LINES = 800
MAX_TEST_LINES = 500
MAX_HEADER_LINES = 300
MAX_PUBLIC_HEADERS = 12
P90_SOURCE_LINES = 350
MAX_FUNCTION_LINES = 80
P95_FUNCTION_LINES = 37
P99_COMPLEXITY = 15
LISTED_FUNCTIONS = 8
MAX_UNEXPLAINED_LINES = 100

# Comparing a name with an operator's, or asking the table for one by its name.
IDENTITY = re.compile(
    r'[=!]=\s*"(aten|prim|prims|torchvision)::|"(aten|prim|prims|torchvision)::[^"]*"\s*[=!]='
    r'|\bname\(\)\s*[=!]=\s*"|\bFindOp\(\s*"|starts_with\(\s*"aten'
)
DEFAULT_LABEL = re.compile(r"^\s*default\s*:")


@dataclass
class Row:
    """One measured rule: `faults` break it, `note` is the measured value."""

    rule: str
    note: str
    faults: list[str] = field(default_factory=list)
    hard: bool = False


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def files(folder: str, *suffixes: str) -> list[Path]:
    return sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)


def line_count(path: Path) -> int:
    return len(path.read_text().splitlines())


def percentile(values: list[int], share: float) -> int:
    """Returns the smallest value that at least `share` of the values do not exceed; 0 for none."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)] if ordered else 0


def code_lines(path: Path) -> list[tuple[int, str]]:
    """Returns the lines of a C++ file with their numbers, without line comments."""
    lines = path.read_text().splitlines()
    return [(i, re.sub(r"(^|\s)//.*", "", line)) for i, line in enumerate(lines, 1)]


def matches(pattern: re.Pattern[str], wanted: Callable[[Path], bool]) -> list[str]:
    """Returns the lines of code under src/ that match, in the files that are `wanted`."""
    return [
        f"{relative(path)}:{number}: {line.strip()}"
        for path in files("src", ".cc", ".h")
        if wanted(path.relative_to(ROOT / "src"))
        for number, line in code_lines(path)
        if pattern.search(line)
    ]


def size_row(rule: str, paths: list[Path], limit: int, hard: bool) -> Row:
    sizes = {path: line_count(path) for path in paths}
    p90 = percentile(list(sizes.values()), 0.9)
    faults = [f"{relative(path)}: {lines} lines" for path, lines in sizes.items() if lines > limit]
    note = f"{len(sizes)} files, p90 {p90}, max {max(sizes.values(), default=0)}"
    return Row(rule, note, faults, hard)


def p90_row(paths: list[Path]) -> Row:
    p90 = percentile([line_count(path) for path in paths], 0.9)
    faults = [f"p90 is {p90}"] if p90 > P90_SOURCE_LINES else []
    return Row(f"p90 of source files <= {P90_SOURCE_LINES} lines", str(p90), faults)


def mirror_row() -> Row:
    """src/x/y.cc is tested by tests/unit/x/y_test.cc; lists and main through others.

    An architecture, src/models/x.cc, is compared with its export, tests/data/hf/x-a.
    """
    untested = {"registry.cc", "main.cc"}
    sources = [path for path in files("src", ".cc") if path.name not in untested]
    exports = {folder.name.rpartition("-")[0] for folder in (ROOT / "tests/data/hf").iterdir()}
    sources = [
        path for path in sources if not (path.parent.name == "models" and path.stem in exports)
    ]
    faults = []
    for path in sources:
        mirror = Path("tests/unit", path.relative_to(ROOT / "src")).with_name(
            path.stem + "_test.cc"
        )
        if not (ROOT / mirror).exists():
            faults.append(f"{relative(path)} has no {mirror}")
    share = 100 * (len(sources) - len(faults)) // max(len(sources), 1)
    return Row("each source has its unit test", f"{share} % of {len(sources)}", faults)


def has_opening(text: str) -> bool:
    """Returns whether a C++ file begins with a comment besides its SPDX line."""
    for line in text.splitlines():
        if not line.startswith("//"):
            return False
        words = line.lstrip("/").strip()
        if words and not words.startswith("SPDX"):
            return True
    return False


def opening_row(paths: list[Path]) -> Row:
    long = [path for path in paths if line_count(path) > MAX_UNEXPLAINED_LINES]
    faults = [
        f"{relative(path)}: {line_count(path)} lines"
        for path in long
        if not has_opening(path.read_text())
    ]
    rule = f"source > {MAX_UNEXPLAINED_LINES} lines begins with what it decides"
    return Row(rule, f"{len(faults)} of {len(long)} files do not", faults)


def function_rows(paths: list[Path]) -> list[Row]:
    if lizard is None:
        return [Row("function sizes", "not measured: lizard is not installed")]
    functions = sorted(
        (
            (
                function.nloc,
                function.cyclomatic_complexity,
                f"{relative(path)}:{function.start_line} {function.name}",
            )
            for path in paths
            for function in lizard.analyze_file(str(path)).function_list
        ),
        reverse=True,
    )
    lines = [function[0] for function in functions]
    p95, longest = percentile(lines, 0.95), max(lines, default=0)
    p99 = percentile([function[1] for function in functions], 0.99)
    size = Row(
        f"functions p95 <= {P95_FUNCTION_LINES}, max <= {MAX_FUNCTION_LINES} lines",
        f"{len(lines)} functions, p95 {p95}, max {longest}",
        [
            f"{name}: {nloc} lines, complexity {complexity}"
            for nloc, complexity, name in functions[:LISTED_FUNCTIONS]
            if nloc > MAX_FUNCTION_LINES or p95 > P95_FUNCTION_LINES
        ],
    )
    complexity_faults = [f"p99 is {p99}"] if p99 > P99_COMPLEXITY else []
    return [size, Row(f"complexity p99 <= {P99_COMPLEXITY}", str(p99), complexity_faults)]


def measure() -> list[Row]:
    sources = [
        path for folder in ("src", "engine", "python/src") for path in files(folder, ".cc", ".h")
    ]
    headers = files("include", ".h")
    scripts = files("tools", ".py") + files("python/steelyard", ".py")
    tests = files("tests", ".cc", ".py")
    outside_table = lambda path: path.parts[0] not in ("ops", "import")  # noqa: E731
    identity = matches(IDENTITY, outside_table)
    defaults = matches(DEFAULT_LABEL, lambda path: True)
    layers = check_layers.violations(ROOT)
    public = Row(f"public headers <= {MAX_PUBLIC_HEADERS}", str(len(headers)))
    if len(headers) > MAX_PUBLIC_HEADERS:
        public.faults = [relative(path) for path in headers]
    return [
        size_row(
            f"source <= {MAX_SOURCE_LINES} lines", sources + scripts, MAX_SOURCE_LINES, hard=True
        ),
        p90_row(sources),
        size_row(f"test <= {MAX_TEST_LINES} lines", tests, MAX_TEST_LINES, hard=True),
        size_row(
            f"public header <= {MAX_HEADER_LINES} lines", headers, MAX_HEADER_LINES, hard=False
        ),
        public,
        Row("direction of dependency", f"{len(layers)} violations", layers, hard=True),
        Row(
            "operator identity only in src/ops and importers",
            f"{len(identity)} places",
            identity,
            hard=True,
        ),
        mirror_row(),
        opening_row([path for path in sources if path.suffix == ".cc"]),
        *function_rows(sources + headers),
        Row("no `default:` over our own enums (read each)", f"{len(defaults)} labels", defaults),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--strict", action="store_true", help="make every row a hard rule")
    strict = parser.parse_args().strict
    rows = measure()
    width = max(len(row.rule) for row in rows)
    broken = False
    for row in rows:
        hard = row.hard or strict
        mark = "ok  " if not row.faults else "FAIL" if hard else "look"
        print(f"{mark}  {row.rule:<{width}}  {row.note}")
        print("".join(f"        {fault}\n" for fault in row.faults), end="")
        broken |= hard and bool(row.faults)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
