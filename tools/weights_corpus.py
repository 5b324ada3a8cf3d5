#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of fuzz/corpus/safetensors and fuzz/corpus/gguf: the files of the golden tests.

What a fuzzer found besides stays where it is.
"""

import hashlib
import sys
import tempfile
from pathlib import Path

from run_golden import ROOT, WEIGHTS
from weights_files import write_described

# Data are zeros, of which a seed needs no more.
MAX_SEED_BYTES = 4096


def seeds() -> dict[Path, bytes]:
    """Returns the content of each seed under its path."""
    found = {}
    for test in sorted((ROOT / "tests/golden/weights").glob("*.test")):
        given = test.read_text().split("\n# OUT\n")[0].split("\n# EXIT:")[0]
        for part in given.split(WEIGHTS)[1:]:
            line, _, text = part.partition("\n")
            name, *words = line.split()
            kind = Path(name).suffix.removeprefix(".")
            if kind not in ("safetensors", "gguf"):
                continue
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "seed").with_suffix("." + kind)
                write_described(path, words, text)
                content = path.read_bytes()[:MAX_SEED_BYTES]
            digest = hashlib.sha1(content).hexdigest()[:16]
            found[ROOT / "fuzz/corpus" / kind / digest] = content
    return found


def main() -> int:
    for path, content in seeds().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    print(f"{len(seeds())} seeds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
