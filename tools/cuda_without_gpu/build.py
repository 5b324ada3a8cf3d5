#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds stand-ins for every NVIDIA library that the torch of this python is linked to.

usage: python build.py OUT [--torch DIR] [--include DIR]...
  OUT              a folder, new or empty
  --torch DIR      a torch package folder (with lib/ in it) instead of the one this python imports
  --include DIR    where cuda_runtime_api.h lies, if not in the nvidia wheels next to torch

needs: g++ and binutils (nm, readelf), and the CUDA headers of the wheels that torch depends on. Takes seconds.
The functions that matter are in stubs/; all others are generated from the undefined symbols of torch's libraries:
each returns 0 and does nothing, under the symbol version that torch asks for.
"""

import argparse
import glob
import importlib.util
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NVIDIA = re.compile(r"lib(cu|nccl|nvrtc|nvshmem|nvToolsExt|nvJitLink|nvidia)")
UNVERSIONED = (
    ("cusparseLt", "libcusparseLt"),
    ("cuFile", "libcufile"),
    ("cupti", "libcupti"),
    ("curand", "libcurand"),
    ("nccl", "libnccl"),
    ("nvshmem", "libnvshmem_host"),
    ("nvtx", "libnvToolsExt"),
    ("cudnn", "libcudnn"),
)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def wanted(libraries):
    """{soname: {symbol version or None: symbols}} of what `libraries` need from NVIDIA's."""
    need, loose = {"libcuda.so.1": {}, "libnvidia-ml.so.1": {}}, set()
    for library in libraries:
        for name in re.findall(r"\(NEEDED\).*\[(.*?)\]", output("readelf", "-dW", library)):
            if NVIDIA.match(name) and not os.path.exists(
                os.path.join(os.path.dirname(library), name)
            ):  # some wheels bring one along
                need.setdefault(name, {})
        files, file = {}, None  # version node -> file
        for line in output("readelf", "-VW", library).splitlines():
            found = re.search(r"Version: \d+\s+File: (\S+)", line)
            file = found.group(1) if found else file
            found = re.search(r"Name: (\S+)\s+Flags", line)
            if found and file:
                files[found.group(1)] = file
        for symbol, version in re.findall(
            r" [Uw] (\w+)(?:@(\S+))?$", output("nm", "-D", "--undefined-only", library), re.M
        ):
            if files.get(version) in need:
                need[files[version]].setdefault(version, set()).add(symbol)
            elif not version:
                loose.add(symbol)
    for symbol in loose:
        for prefix, file in UNVERSIONED + (("cu[A-Z]", "libcuda"),):
            if re.match(prefix, symbol):
                for name in need:
                    if name.startswith(file + ".so"):
                        need[name].setdefault(None, set()).add(symbol)
                break
    return need


def headers(folders):
    found = {}
    for folder in folders:
        for name, pattern in (
            ("cuda_runtime_api.h", r"define CUDART_VERSION\s+(\d+)"),
            ("cublas_api.h", r"define CUBLAS_VER_(?:MAJOR|MINOR|PATCH)\s+(\d+)"),
            ("cudnn_version.h", r"define CUDNN_(?:MAJOR|MINOR|PATCHLEVEL)\s+(\d+)"),
            ("cuda.h", r"\b(cu[A-Z]\w+)"),
        ):
            path = os.path.join(folder, name)
            if name not in found and os.path.exists(path):
                with open(path, errors="replace") as f:
                    found[name] = folder, re.findall(pattern, f.read())
    return found


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    arguments.add_argument("out")
    arguments.add_argument("--torch")
    arguments.add_argument("--include", action="append", default=[])
    a = arguments.parse_args()
    if os.path.exists(a.out) and os.listdir(a.out):
        sys.exit("%s is not empty" % a.out)
    torch = (
        a.torch
        or getattr(importlib.util.find_spec("torch"), "submodule_search_locations", [None])[0]
    )
    if not torch:
        sys.exit("this python has no torch")
    libraries = sorted(glob.glob(os.path.join(torch, "lib", "*.so")))
    need = wanted(libraries)
    cudart = [n for n in need if n.startswith("libcudart.so")]
    if not cudart:
        sys.exit("%s is not a CUDA build of torch" % torch)
    found = headers(
        a.include + sorted(glob.glob(os.path.join(torch, "..", "nvidia", "*", "include")))
    )
    if "cuda_runtime_api.h" not in found:
        sys.exit("cuda_runtime_api.h not found: give its folder with --include")
    number = lambda name, otherwise, scale: (
        sum(int(x) * s for x, s in zip(found[name][1], scale)) if name in found else otherwise
    )
    cuda = int(found["cuda_runtime_api.h"][1][0])
    if cudart[0] != "libcudart.so.%d" % (cuda // 1000):
        sys.exit(
            "torch wants %s but the headers in %s are of CUDA %d.%d"
            % (cudart[0], found["cuda_runtime_api.h"][0], cuda // 1000, cuda % 1000 // 10)
        )
    if "cuda.h" in found:  # so that what loads the driver by name (Triton) finds every function
        names = set(found["cuda.h"][1])
        need["libcuda.so.1"].setdefault(None, set()).update(
            n for n in names if not n.endswith("_t") and not n.startswith("cuuint")
        )
    cxx = [
        "g++",
        "-std=c++17",
        "-O1",
        "-fPIC",
        "-w",
        "-DCUDA_VERSION_NUMBER=%d" % cuda,
        "-DCUBLAS_VERSION_NUMBER=%d"
        % number("cublas_api.h", cuda // 1000 * 10000, (10000, 100, 1)),
        "-DCUDNN_VERSION_NUMBER=%d" % number("cudnn_version.h", 92600, (10000, 100, 1)),
    ]
    cxx += [
        "-I" + f
        for f in dict.fromkeys(
            [found["cuda_runtime_api.h"][0]] + a.include + [os.path.join(HERE, "stubs")]
        )
    ]
    os.makedirs(a.out, exist_ok=True)
    for name, versions in sorted(need.items()):
        stem = os.path.join(a.out, name)
        own, objects, have = os.path.join(HERE, "stubs", name.split(".so")[0] + ".cc"), [], set()
        if os.path.exists(own):
            objects = [stem + ".o"]
            subprocess.run(cxx + ["-c", own, "-o", objects[0]], check=True)
            have = set(
                re.findall(r" [TW] (\w+)$", output("nm", "--defined-only", objects[0]), re.M)
            )
        symbols = sorted(set().union(*versions.values()) - have)
        with open(stem + ".c", "w") as f:
            f.write("".join("int %s(void){return 0;}\n" % s for s in symbols))
        subprocess.run(
            [
                "g++",
                "-x",
                "c",
                "-O1",
                "-fPIC",
                "-w",
                "-fno-builtin",
                "-c",
                stem + ".c",
                "-o",
                stem + ".rest.o",
            ],
            check=True,
        )
        link = ["g++", "-shared", "-o", stem] + objects + [stem + ".rest.o", "-Wl,-soname," + name]
        node = [v for v in versions if v]
        if node:
            with open(stem + ".map", "w") as f:
                f.write("%s { global: *; };\n" % node[0])
            link.append("-Wl,--version-script=" + stem + ".map")
        subprocess.run(link, check=True)
        for path in objects + [stem + end for end in (".c", ".rest.o", ".map")]:
            if os.path.exists(path):
                os.remove(path)
        print(
            "%-24s %4d functions, %3d of them written by hand"
            % (name, len(symbols) + len(have), len(have))
        )


if __name__ == "__main__":
    main()
