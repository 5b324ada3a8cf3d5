# SPDX-License-Identifier: Apache-2.0
"""Writes files of weights from descriptions: headers as they are told, data as a hole of zeros.

Golden tests, the corpora of the fuzzers and benchmarks are made with it, right files and wrong ones
alike; that right ones are right is held against the packages safetensors and gguf by
tests/python/test_weights_peers.py.
"""

import json
import struct
from pathlib import Path
from typing import Any

# By the names that descriptions use: the number of a value's type, and how one is packed.
VALUE_TYPES = {
    "uint8": (0, "B"),
    "int8": (1, "b"),
    "uint16": (2, "H"),
    "int16": (3, "h"),
    "uint32": (4, "I"),
    "int32": (5, "i"),
    "float32": (6, "f"),
    "bool": (7, "?"),
    "string": (8, ""),
    "array": (9, ""),
    "uint64": (10, "Q"),
    "int64": (11, "q"),
    "float64": (12, "d"),
}


def safetensors_header(header: str, claimed: int | None = None) -> bytes:
    """Returns the first bytes of a file with that header, which claims to be `claimed` long."""
    text = header.encode()
    return struct.pack("<Q", len(text) if claimed is None else claimed) + text


def gguf_header(description: dict[str, Any]) -> bytes:
    """Returns the header that `description` tells, padded to where data begins.

    Keys: metadata, a list of [key, type, value] (of an array: [key, "array", [type, values]]);
    tensors, a list of [name, sizes as ggml has them, number of the type, offset]. Lies are told by
    `version`, `metadata_count`, `tensor_count`; `big_endian` turns the bytes, `cut` ends the header
    after so many of them.
    """
    order = ">" if description.get("big_endian") else "<"
    metadata = description.get("metadata", [])
    tensors = description.get("tensors", [])

    def string(text: str) -> bytes:
        return struct.pack(order + "Q", len(text.encode())) + text.encode()

    def value(kind: str, content: Any) -> bytes:
        if kind == "string":
            return string(content)
        return struct.pack(order + VALUE_TYPES[kind][1], content)

    out = b"GGUF" + struct.pack(
        order + "IQQ",
        description.get("version", 3),
        description.get("tensor_count", len(tensors)),
        description.get("metadata_count", len(metadata)),
    )
    alignment = 32
    for key, kind, content in metadata:
        number = kind if isinstance(kind, int) else VALUE_TYPES[kind][0]
        out += string(key) + struct.pack(order + "I", number)
        if kind == "array":
            inner, values = content
            number = VALUE_TYPES[inner][0]
            length = values if isinstance(values, int) else len(values)
            out += struct.pack(order + "IQ", number, length)
            if not isinstance(values, int):
                out += b"".join(value(inner, one) for one in values)
        elif not isinstance(kind, int):
            out += value(kind, content)
        if key == "general.alignment" and isinstance(content, int) and content > 0:
            alignment = content
    for name, sizes, kind, offset in tensors:
        out += string(name) + struct.pack(order + "I", len(sizes))
        out += b"".join(struct.pack(order + "Q", size) for size in sizes)
        out += struct.pack(order + "IQ", kind, offset)
    if "cut" in description:
        return out[: description["cut"]]
    return out + b"\0" * (-len(out) % alignment)


def write(path: Path, header: bytes, data_bytes: int) -> None:
    """Writes a header and a hole after it, which takes no room on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(header)
        file.truncate(len(header) + data_bytes)


def write_described(path: Path, words: list[str], text: str) -> None:
    """Writes the file that a golden test describes.

    A .safetensors is its header, with `data=BYTES` behind it and `claims=LENGTH` before it; a .gguf
    is JSON for `gguf_header`, with `data=BYTES`; anything else is the text.
    """
    options = dict(word.split("=", 1) for word in words)
    data = int(options.get("data", 0))
    if path.suffix == ".safetensors":
        claimed = int(options["claims"]) if "claims" in options else None
        write(path, safetensors_header(text.strip(), claimed), data)
    elif path.suffix == ".gguf":
        write(path, gguf_header(json.loads(text)), data)
    else:
        write(path, text.encode(), data)
