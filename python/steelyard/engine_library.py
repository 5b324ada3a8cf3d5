# SPDX-License-Identifier: Apache-2.0
"""The engine's library for the PyTorch that is installed: found, or built once and kept.

The package has the engine's sources. They are compiled against PyTorch's headers when something is
to be run or watched for the first time; the library is kept by what it was made of, so that another
PyTorch or another Steelyard gets one of its own.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from steelyard import _core
from steelyard.errors import UnsupportedError

# Names the library, where it is neither beside the package nor to be built.
ENGINE = "STEELYARD_ENGINE"
FILE = "libsteelyard_engine.so"
PACKAGE = Path(_core.__file__).parent
SOURCES = PACKAGE / "engine_source"
# This one needs what is no interface of PyTorch's: without it only CUDA's memory is not heard of.
CUDA = "cuda_tap.cc"
COMPILERS = ("c++", "g++", "clang++")
# The release of PyTorch that engines are tested with; much older ones lack what they need.
TRIED = "2.15"
# PyTorch's headers take so much to compile, in GiB.
GIB_OF_COMPILER = 1.5
# As PyTorch itself is built: without NDEBUG its structures have other fields.
FLAGS = ("-std=c++20", "-O2", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-w")


def path() -> str:
    """Where the engine is; "": beside the package. Builds it, which takes a minute or two, where
    there is none of the PyTorch that is installed.

    UnsupportedError: without PyTorch, a compiler, or a place to keep the library.
    """
    named = os.environ.get(ENGINE, "")
    return named if named or (PACKAGE / FILE).exists() else _built()


def observer() -> _core.Observer:
    """The observer of the engine that is there, or else of one that is built."""
    named = path()
    try:
        return _core.load_observer(named)
    except UnsupportedError:
        if named:
            raise
    return _core.load_observer(_built())  # the one beside the package is of another PyTorch


def _built() -> str:
    torch = _torch()
    library = cache_folder() / _key(torch) / FILE
    if not library.exists():
        _build(torch, library)
    return str(library)


def cache_folder() -> Path:
    """Where built engines are kept."""
    root = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(root) if root else Path.home() / ".cache") / "steelyard"


def _sources() -> list[Path]:
    return sorted(SOURCES.glob("engine/**/*.cc"))


def _key(torch: Path) -> str:
    """What the library depends on, as a name."""
    key = hashlib.sha256()
    for file in sorted(SOURCES.rglob("*.[ch]*")):
        key.update(file.relative_to(SOURCES).as_posix().encode() + b"\0" + file.read_bytes())
    key.update((torch / "version.py").read_bytes())
    key.update(str(torch).encode())  # where its libraries are found
    return f"torch-{version('torch')}-{platform.machine()}-{key.hexdigest()[:16]}"


def _torch() -> Path:
    """The folder of PyTorch, which takes a second to import."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise UnsupportedError(
            "PyTorch is not there, in which programs run",
            "the engine",
            f"Install it for {sys.executable}: python -m pip install torch",
        )
    return Path(spec.submodule_search_locations[0])


def _compiler() -> list[str]:
    """The command, as CXX has it: "ccache g++"."""
    named = os.environ.get("CXX", "")
    for name in (named,) if named else COMPILERS:
        words = name.split()
        if words and shutil.which(words[0]) is not None:
            return words
    raise UnsupportedError(
        f"there is no C++ compiler ({named or ', '.join(COMPILERS)})",
        "the engine, which is built for the PyTorch that is installed",
        "Install one (apt install g++), name it with CXX, or name an engine that is built with "
        f"{ENGINE}.",
    )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Of several processes one builds, and the others wait for it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR)
    except OSError as reason:
        raise UnsupportedError(
            f"the engine cannot be kept ({reason.strerror})",
            str(folder),
            "Name a folder that can be written to with XDG_CACHE_HOME.",
        ) from reason
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _build(torch: Path, library: Path) -> None:
    compiler = _compiler()
    with _alone(library.parent), tempfile.TemporaryDirectory(dir=library.parent) as scratch:
        if library.exists():  # another process was first
            return
        made = Path(scratch) / FILE
        _compile(compiler, torch, made)
        made.replace(library)


def _workers() -> int:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES") / 2**30
    return max(1, min(len(os.sched_getaffinity(0)), int(memory / GIB_OF_COMPILER)))


def _compile(compiler: Sequence[str], torch: Path, library: Path) -> None:
    flags = [
        *FLAGS,
        f"-I{SOURCES / 'engine'}",
        f"-I{SOURCES / 'src'}",
        f"-I{SOURCES / 'engine' / 'cuda_names'}",
        "-isystem",
        str(torch / "include"),
    ]
    sources = _sources()
    objects = [library.parent / f"{i}.o" for i in range(len(sources))]

    def compile_one(number: int) -> None:
        source = sources[number]
        command = [*compiler, *flags, "-c", str(source), "-o", str(objects[number])]
        try:
            _run(command)
        except UnsupportedError:
            if source.name != CUDA:
                raise
            _run([*command, "-DSTEELYARD_NO_CUDA"])

    _tell(0, len(sources))
    with ThreadPoolExecutor(_workers()) as workers:
        for done, _ in enumerate(workers.map(compile_one, range(len(sources))), 1):
            _tell(done, len(sources))
    linked = [f"-L{torch / 'lib'}", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{torch / 'lib'}"]
    _run([*compiler, "-shared", *map(str, objects), "-o", str(library), *linked])


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return
    lines = [line for line in done.stderr.splitlines() if "error" in line] or ["no reason given"]
    raise UnsupportedError(
        f"the engine cannot be compiled ({lines[0].strip()})",
        command[0],
        f"It needs GCC 12 or Clang 16, or newer (CXX names one). PyTorch {TRIED} has been tried: "
        f"{sys.executable} -m pip install --upgrade torch. {ENGINE} names an engine that is there.",
    )


def _tell(done: int, count: int) -> None:
    """On a terminal line by line in place, elsewhere at the beginning only."""
    text = f"steelyard: building the engine for PyTorch {version('torch')}, once: {done} of {count}"
    if sys.stderr.isatty():
        print(f"\r{text}", end="\n" if done == count else "", file=sys.stderr, flush=True)
    elif done == 0:
        print(f"{text} files", file=sys.stderr, flush=True)
