# SPDX-License-Identifier: Apache-2.0
"""How far a weighing is: a callback, or a bar on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable

Listener = Callable[[int, int], None]
WIDTH = 40


def listener(progress: bool | Listener) -> Listener | None:
    """Returns what is called with what is done and what is all; None where nobody listens."""
    if callable(progress):
        return progress
    return _bar() if progress else None


def _bar() -> Listener:
    try:
        from rich.progress import Progress
    except ImportError:
        return _plain_bar
    shown = Progress(transient=True)
    task = shown.add_task("weighing", total=None)

    def tell(done: int, total: int) -> None:
        if done == 0:
            shown.start()
        shown.update(task, completed=done, total=total)
        if done >= total:
            shown.stop()

    return tell


def _plain_bar(done: int, total: int) -> None:
    filled = WIDTH * done // max(total, 1)
    end = "\n" if done >= total else ""
    bar = "#" * filled + "." * (WIDTH - filled)
    print(f"\rweighing [{bar}] {done}/{total}", end=end, file=sys.stderr, flush=True)
