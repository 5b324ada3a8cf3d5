#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes torch importable where it was installed without NVIDIA's wheels, for machines with no GPU.

usage: cpu_torch.py SITE_PACKAGES

The torch wheel that PyPI serves for Linux is the CUDA build. It brings some 4 GB of NVIDIA
libraries that a CPU never calls, but the loader wants them by name before `import torch` succeeds.
This script reads which libraries and symbols torch asks for and builds an empty stand-in for each:
every function returns cudaErrorNoDevice, so torch finds no GPU and works on the CPU. Where the real
libraries are installed nothing is missing and nothing is done. Needs a C compiler and readelf.
"""

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

NO_DEVICE = 100  # cudaErrorNoDevice and CUDA_ERROR_NO_DEVICE

# Loaded by torch only once a GPU was found.
LOADED_LATER = {"libcaffe2_nvrtc.so", "libtorch_cuda_linalg.so"}

SYSTEM_LIBRARY = re.compile(r"(lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|gomp)|ld-linux.*)\.so")

# The libraries of NVIDIA's that give their symbols no version.
UNVERSIONED_PREFIXES = "nccl|cusparseLt|cuFile"


class Library:
    """What one shared library needs and defines, as readelf tells it."""

    def __init__(self, path: Path) -> None:
        text = subprocess.run(
            ["readelf", "-W", "--dynamic", "--version-info", "--dyn-syms", str(path)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        self.needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", text))
        self.unversioned = set(
            re.findall(rf" UND ((?:{UNVERSIONED_PREFIXES})\w+)$", text, re.MULTILINE)
        )
        self.versioned = set(re.findall(r" UND (\w+)@(\S+)", text))
        self.soname_of_version = {}
        soname = ""
        for line in text.splitlines():
            if found := re.search(r"Version: \d+  File: (\S+)", line):
                soname = found[1]
            elif found := re.search(r"Name: (\S+)  Flags:.*Version:", line):
                self.soname_of_version[found[1]] = soname


def build_stand_in(path: Path, unversioned: set[str], versioned: dict[str, set[str]]) -> None:
    """Writes a library with the soname `path.name` whose functions all say: no device."""
    names = unversioned.union(*versioned.values())
    source = "".join(f"long {name}(void) {{ return {NO_DEVICE}; }}\n" for name in sorted(names))
    versions = "".join(
        f"{version} {{ global: {'; '.join(sorted(members))}; }};\n"
        for version, members in versioned.items()
    )
    with tempfile.TemporaryDirectory() as folder:
        source_file, version_file = Path(folder, "stand_in.c"), Path(folder, "versions.map")
        source_file.write_text(source)
        version_file.write_text(versions)
        subprocess.run(
            [
                "cc",
                "-shared",
                "-fPIC",
                "-w",
                f"-Wl,-soname,{path.name}",
                "-o",
                str(path),
                str(source_file),
            ]
            + ([f"-Wl,--version-script,{version_file}"] if versions else []),
            check=True,
        )


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    site_packages = Path(sys.argv[1])
    folder = site_packages / "torch" / "lib"
    libraries = [
        Library(path) for path in sorted(folder.glob("*.so")) if path.name not in LOADED_LATER
    ]
    missing = {
        soname
        for soname in set().union(*(library.needed for library in libraries))
        if not SYSTEM_LIBRARY.match(soname)
        and not (folder / soname).exists()
        and not any(site_packages.glob(f"nvidia/*/lib/{soname}"))
    }
    versioned: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for library in libraries:
        for name, version in library.versioned:
            versioned[library.soname_of_version[version]][version].add(name)
    # Nothing tells which library an unversioned name belongs to. The loader looks through all of
    # them, so each library without versions defines them all.
    unversioned = set().union(*(library.unversioned for library in libraries))
    for soname in sorted(missing):
        build_stand_in(
            folder / soname, set() if versioned[soname] else unversioned, versioned[soname]
        )
    print(f"{len(missing)} stand-ins for CUDA libraries built in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
