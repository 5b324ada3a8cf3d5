#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of docs/ that say what the program's own tables hold.

usage: gen_docs.py [--binary STEELYARD] [--check]

Each page is what `steelyard docs PAGE` prints. `--check` writes nothing and fails where a page
differs from what the program would print. Exit 77 where the program has no such command.
"""

import argparse
import difflib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("ops", "cli", "diagnostics")
WRONG_USAGE = 2  # the exit status of a command that does not exist


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = os.environ.get("STEELYARD", ROOT / "build/release/steelyard")
    parser.add_argument("--binary", type=Path, default=default)
    parser.add_argument("--check", action="store_true", help="fail where a page is out of date")
    options = parser.parse_args()

    stale = 0
    for page in PAGES:
        done = subprocess.run([options.binary, "docs", page], capture_output=True, text=True)
        if done.returncode == WRONG_USAGE:
            print(f"{options.binary} cannot print the page {page}: {done.stderr.strip()}")
            return 77
        done.check_returncode()
        path = ROOT / "docs" / f"{page}.md"
        if not options.check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(done.stdout)
            continue
        found = path.read_text() if path.exists() else ""
        if found != done.stdout:
            stale += 1
            before, after = (text.splitlines(keepends=True) for text in (found, done.stdout))
            name = f"docs/{page}.md"
            sys.stdout.writelines(difflib.unified_diff(before, after, name, "the program"))
    if stale:
        print(f"{stale} pages are out of date: `make docs` writes them")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
