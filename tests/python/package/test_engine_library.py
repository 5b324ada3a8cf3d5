# SPDX-License-Identifier: Apache-2.0
"""Where the engine's library is found, and how it is built where there is none.

A stand-in for a compiler writes down what it is asked for: the real one takes minutes. That it has
all sources it needs is read from them.
"""

from __future__ import annotations

import os
import re
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from steelyard import engine_library
from steelyard.errors import UnsupportedError

COMPILER = """#!/bin/sh
echo "$@" >> {log}
case "$*" in *{unless}*) ;; *{failing}*) echo "x.cc:1:2: error: no such thing" >&2; exit 1;; esac
while [ $# -gt 1 ]; do [ "$1" = -o ] && echo made > "$2"; shift; done
exit 0
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """What a compiler was called with, of a package without an engine."""
    monkeypatch.setattr(engine_library, "FILE", "none.so")
    monkeypatch.delenv(engine_library.ENGINE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CXX", str(compiler(tmp_path)))
    yield tmp_path / "log"


def compiler(folder: Path, failing: str = "nothing", unless: str = "nothing") -> Path:
    path = folder / "c++"
    path.write_text(COMPILER.format(log=folder / "log", failing=failing, unless=unless))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_it_is_built_once_for_all(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    threads = [threading.Thread(target=engine_library.path) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    library = Path(engine_library.path())
    assert library.read_text() == "made\n"
    assert library.is_relative_to(os.environ["XDG_CACHE_HOME"])
    lines = log.read_text().splitlines()
    assert len(lines) == len(list(engine_library.SOURCES.glob("engine/**/*.cc"))) + 1
    assert lines[-1].startswith("-shared ")
    assert f"0 of {len(lines) - 1} files" in capsys.readouterr().err
    assert not list(library.parent.glob("tmp*"))


def test_without_the_names_of_cuda_it_is_built_all_the_same(log: Path, tmp_path: Path) -> None:
    compiler(tmp_path, "cuda_tap.cc", unless="STEELYARD_NO_CUDA")
    assert Path(engine_library.path()).exists()
    assert sum("STEELYARD_NO_CUDA" in line for line in log.read_text().splitlines()) == 1


def test_what_cannot_be_compiled_is_said(log: Path, tmp_path: Path) -> None:
    compiler(tmp_path, "session.cc")
    with pytest.raises(UnsupportedError, match=r"cannot be compiled \(x\.cc:1:2: error: no such"):
        engine_library.path()
    assert not list(Path(os.environ["XDG_CACHE_HOME"]).rglob("*.so"))


def test_a_compiler_that_is_not_there_is_said(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler -O2")
    with pytest.raises(UnsupportedError, match=r"no C\+\+ compiler \(no-such-compiler -O2\)"):
        engine_library.path()


def test_a_folder_that_cannot_be_written_to_is_said(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(UnsupportedError, match=r"cannot be kept .*XDG_CACHE_HOME"):
        engine_library.path()


def test_what_is_named_is_taken(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(engine_library.ENGINE, "/there/engine.so")
    assert engine_library.path() == "/there/engine.so"
    assert not log.exists()


def test_the_package_has_all_that_the_engine_includes() -> None:
    root = engine_library.SOURCES
    folders = [root / "engine", root / "src"]
    files = [file for pattern in ("*.cc", "*.h") for file in root.rglob(pattern)]
    assert len(files) > 20
    for file in files:
        for name in re.findall(r'^#include "(.*)"', file.read_text(), re.MULTILINE):
            found = any((folder / name).exists() for folder in [*folders, file.parent])
            assert found, f"{file.name} includes {name}"
