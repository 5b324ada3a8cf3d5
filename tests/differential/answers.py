# SPDX-License-Identifier: Apache-2.0
"""What PyTorch said, kept for the next run of the tests, for asking is nearly all of their time.

Each answer belongs to a release of PyTorch, a processor and the sources that ask. A fresh clone has
none and asks everything.
"""

import hashlib
import json
import platform
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import TypeVar

import processor
import torch
from compare import Seen
from recorder import DEVICE
from table import ROOT

KEPT = ROOT / "build" / "answers" / "pytorch.sqlite"
# The sources whose change may change an answer.
ASKING = ("answers", "calls", "counted", "recorder", "steps")
# Two of the suite's programs write side by side, each for the blink of an eye.
PATIENCE_SECONDS = 60

T = TypeVar("T")


@cache
def whose() -> str:
    """PyTorch, the processor and who asks."""
    here = Path(__file__).resolve().parent
    sources = hashlib.sha256(b"".join((here / f"{name}.py").read_bytes() for name in ASKING))
    cpu = (
        f"{platform.machine()} {torch.backends.cpu.get_cpu_capability()} {processor.first_cache()}"
    )
    amx = torch.cpu._is_amx_tile_supported(), torch.cpu._is_avx512_bf16_supported()
    return f"{torch.__version__} {DEVICE} {cpu} {amx} {sources.hexdigest()}"


def key_of(kind: str, call: object) -> bytes:
    return hashlib.sha256(f"{whose()}\n{kind}\n{call}".encode()).digest()


def kept(keys: Sequence[bytes]) -> Iterator[Seen | None]:
    """The answer to each, None where there is none."""
    with closing(opened()) as store:
        for key in keys:
            row = store.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
            yield None if row is None else json.loads(zlib.decompress(row[0]))


def keep(keys: Sequence[bytes], answers: Sequence[Seen]) -> None:
    rows = [
        (key, zlib.compress(json.dumps(answer).encode()))
        for key, answer in zip(keys, answers, strict=True)
    ]
    with closing(opened()) as store, store:
        store.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", rows)


def opened() -> sqlite3.Connection:
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    store = sqlite3.connect(KEPT, timeout=PATIENCE_SECONDS)
    store.execute(
        "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, answer BLOB) WITHOUT ROWID"
    )
    return store


def remembered(
    kind: str, ask: Callable[[Sequence[T]], list[Seen]], calls: Sequence[T]
) -> list[Seen]:
    """What `ask`, named `kind`, says of each call; asked are those not asked before."""
    keys = [key_of(kind, call) for call in calls]
    found = list(kept(keys))
    missing = [i for i, seen in enumerate(found) if seen is None]
    new = ask([calls[i] for i in missing])
    keep([keys[i] for i in missing], new)
    told = dict(zip(missing, new, strict=True))
    return [told[i] if seen is None else seen for i, seen in enumerate(found)]
