#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a notebook's code cells and compares what they show with what is stored in it.

usage: run_notebook.py [--rebase] NOTEBOOK...

Cells run one after the other in this interpreter, in the repository's root, as a kernel would run
them: what they print and the value of a last expression are their output. No Jupyter is needed for
that, and none of its magic is known here. Durations are compared as `<time>`. `--rebase` stores
what was shown; the diff is reviewed as code is.
"""

import argparse
import ast
import contextlib
import io
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DURATION = re.compile(r"\b\d+(\.\d+)? (ns|us|\u00b5s|ms|s)\b")


def run_cell(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Runs a cell; returns its outputs as notebooks store them."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        lines = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines})
    if value is not None:
        data: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        outputs.append({"data": data, "metadata": {}, "output_type": "execute_result"})
    return outputs


def comparable(outputs: list[dict[str, Any]]) -> str:
    kept = [{k: v for k, v in output.items() if k != "execution_count"} for output in outputs]
    return DURATION.sub("<time>", json.dumps(kept, sort_keys=True))


def run(path: Path, rebase: bool) -> int:
    """Runs one notebook; returns how many of its cells show something else."""
    notebook = json.loads(path.read_text())
    names: dict[str, Any] = {"__name__": "__main__"}
    differing = count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        count += 1
        outputs = run_cell("".join(cell["source"]), names)
        if comparable(outputs) != comparable(cell["outputs"]):
            differing += 1
            if not rebase:
                print(f"{path}: cell {count} shows another output:", "".join(cell["source"]))
                print(comparable(outputs)[:2000])
        if rebase:
            for output in outputs:
                if output["output_type"] == "execute_result":
                    output["execution_count"] = count
            cell |= {"outputs": outputs, "execution_count": count}
    if rebase and differing:
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
        print(f"rebased {path}")
        return 0
    print(f"{path}: {count} cells, {differing} differ")
    return differing


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rebase", action="store_true", help="store what the cells show")
    parser.add_argument("notebooks", nargs="+", type=Path)
    asked = parser.parse_args()
    paths = [path.resolve() for path in asked.notebooks]
    os.chdir(ROOT)
    return 1 if sum(run(path, asked.rebase) for path in paths) else 0


if __name__ == "__main__":
    sys.exit(main())
