#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the direction of dependency: every #include points to the same folder or to the left.

usage: check_layers.py [ROOT]

ARCHITECTURE.md shows the layers as a picture; this table is what is enforced. CMake's link lines
say the same for what is linked, this script says it for what is only included.
"""

import re
import sys
from pathlib import Path

# What each layer may include directly; what those may include, it may too.
LAYERS = {
    "support": [],
    "timeline": ["support"],
    "memory": ["timeline"],
    "hardware": ["support"],
    "document": ["support"],
    "ir": ["support"],
    "ops": ["ir"],
    "models": ["ops"],
    "import": ["models"],
    "pass": ["ops", "timeline"],
    "runtime": ["ops", "timeline", "memory"],
    "execute": ["runtime"],
    "record": ["ir", "timeline"],
    "analyze": ["ops", "memory", "hardware"],
    "render": ["document"],
    "present": ["analyze", "runtime", "execute", "record", "document"],
    "session": ["present", "import", "pass", "render"],
}

# The faces of Steelyard see the session alone, not what it is made of, and what writes messages;
# Python's has the command line, too.
FACES = {"cli": ["session", "support"], "python": ["cli", "session", "support"]}

# The layer that implements each public header.
PUBLIC_HEADERS = {
    "error.h": "support",
    "units.h": "support",
    "tables.h": "support",
    "program.h": "ir",
    "builder.h": "ir",
    "op.h": "ops",
    "import.h": "import",
    "pass.h": "pass",
    "timeline.h": "timeline",
    "report.h": "document",
    "weigh.h": "session",
    "steelyard.h": "session",
}

ROOT = Path(__file__).resolve().parent.parent

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')


def reachable(layer: str) -> set[str]:
    """Returns the layers that `layer` may include, itself among them."""
    found = {layer}
    for left in LAYERS[layer]:
        found |= reachable(left)
    return found


def allowed(layer: str, public: bool) -> set[str]:
    """Returns the layers whose headers (only the public ones, if `public`) `layer` may include."""
    if layer not in FACES:
        return reachable(layer)
    if public:
        return set(LAYERS)
    return {layer, *FACES[layer]}


def layer_of(path: Path) -> str | None:
    """Returns the layer of a file or of what an #include names; None if it is not ours."""
    parts = path.parts
    if parts[:2] == ("include", "steelyard"):
        parts = parts[1:]
    if parts[0] == "steelyard":
        return PUBLIC_HEADERS.get(parts[-1], "?")
    if parts[0] == "src":
        parts = parts[1:]
    elif parts[:2] == ("python", "src"):
        return "python"
    return parts[0] if len(parts) > 1 and parts[0] in LAYERS | FACES else None


def importer_of(path: Path) -> str | None:
    """Returns which importer a file belongs to, if it belongs to one alone."""
    parts = path.parts[1:] if path.parts[0] == "src" else path.parts
    return parts[1] if len(parts) > 2 and parts[0] == "import" else None


def check_include(file: Path, target: Path) -> str | None:
    """Returns what is wrong with `file` including `target`, if anything is."""
    if ".." in target.parts:
        return "goes through a parent folder; name it from src/ or include/"
    source, wanted = layer_of(file), layer_of(target)
    if source is None or wanted is None:
        return None
    if "?" in (source, wanted):
        return "is a public header of no known layer; add it to PUBLIC_HEADERS"
    if wanted not in allowed(source, public=target.parts[0] == "steelyard"):
        return f"points to the right: {source} must not know {wanted}"
    mine, other = importer_of(file), importer_of(target)
    if mine and other and mine != other:
        return f"joins two importers: {mine} must not know {other}"
    return None


def violations(root: Path) -> list[str]:
    """Returns one line for each #include that points the wrong way."""
    found = []
    for folder in ("include", "src", "python/src"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in (".h", ".cc"):
                continue
            relative = file.relative_to(root)
            for number, line in enumerate(file.read_text().splitlines(), 1):
                if include := INCLUDE.match(line):
                    problem = check_include(relative, Path(include[1]))
                    if problem:
                        found.append(f'{relative}:{number}: "{include[1]}" {problem}')
    return found


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    found = violations(root)
    print("\n".join([*found, f"layers: {len(found)} violations"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
