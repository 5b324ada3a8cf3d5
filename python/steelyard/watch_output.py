# SPDX-License-Identifier: Apache-2.0
"""In which form what was watched is written, and where."""

from __future__ import annotations

import gzip
import sys
from html import escape
from pathlib import Path

from steelyard import _core, html
from steelyard.errors import UsageError

# By what names of files end with; the longest that fits is meant.
EXTENSIONS = {
    ".txt": "text",
    ".json": "json",
    ".csv": "csv",
    ".html": "html",
    ".trace.json": "chrome",
    ".trace.json.gz": "chrome",
    ".pftrace": "perfetto",
    ".pftrace.gz": "perfetto",
}
FORMATS = tuple(dict.fromkeys(EXTENSIONS.values()))
TRACES = {"chrome": _core.TraceForm.CHROME, "perfetto": _core.TraceForm.PERFETTO}
OF_RANKS = ("text", "json")


def chosen(format: str | None, output: str | None) -> str:
    """The form that was asked for, or that the name of the file says."""
    if format is None:
        fits = [end for end in EXTENSIONS if output is not None and output.endswith(end)]
        format = EXTENSIONS[max(fits, key=len)] if fits else "text"
    if format in TRACES and output is None:
        raise UsageError(f"{format} is written to a file", "--format", "Name it with -o.")
    return format


def check_of_ranks(format: str) -> None:
    if format not in OF_RANKS:
        there_are = ", ".join(OF_RANKS)
        raise UsageError(
            f"{format} is not for several ranks", "--format", f"There are: {there_are}."
        )


def page(document: _core.Document, more: str = "") -> str:
    """A report that stands alone, and a text that follows it."""
    body = html.written(document.body) + (f"<pre>{escape(more)}</pre>" if more else "")
    style = "body{font:14px sans-serif;margin:2em}td,th{padding:0 .5em}th{text-align:left}"
    head = f'<meta charset="utf-8"><title>Watched by Steelyard</title><style>{style}</style>'
    return f"<!doctype html>\n<html><head>{head}</head><body>{body}</body></html>\n"


def trace(record: bytes, format: str, path: str) -> bytes:
    """All that a record says happened, moment by moment."""
    written = _core.read_profile(record, path, True).trace(TRACES[format], path, [])
    return gzip.compress(written, compresslevel=1) if path.endswith(".gz") else written


def write(what: str | bytes, output: str | None, *, for_program: bool) -> None:
    """To the file or, without one, where a program that runs has nothing of its own."""
    if output is None:
        print(what, file=sys.stderr if for_program else sys.stdout)
    elif isinstance(what, bytes):
        Path(output).write_bytes(what)
    else:
        Path(output).write_text(what, encoding="utf-8")
