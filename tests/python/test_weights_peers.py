# SPDX-License-Identifier: Apache-2.0
"""Files of weights as the packages that own the formats see them: safetensors and gguf."""

import json
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weights_files import gguf_header, safetensors_header, write

gguf = pytest.importorskip("gguf")
safetensors = pytest.importorskip("safetensors")
pytest.importorskip("safetensors.numpy")

ROOT = Path(__file__).resolve().parent.parent.parent


# What PyTorch calls the types that are no blocks.
PLAIN = {
    **{f"F{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    "BF16": "bfloat16",
}


def weigh(steelyard: str, path: Path, *options: str) -> dict[str, Any]:
    command = [steelyard, "weigh", str(path), "--format", "json", "--table", "tensors", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def tensors_of(report: dict[str, Any]) -> dict[str, tuple[str, list[int], int]]:
    return {
        t["name"]: (
            t["dtype"],
            [int(n) for n in t["shape"].split("\u00d7")] if t["shape"] != "scalar" else [],
            t["bytes"],
        )
        for t in report["tensors"]
    }


def test_every_type_of_gguf_is_as_large_as_in_its_package(steelyard: str, tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(str(tmp_path / "all.gguf"), "llama")
    writer.add_context_length(4096)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_K_M)
    for kind, (elements, size) in gguf.GGML_QUANT_SIZES.items():
        data = np.zeros((3, 2 * size), dtype=np.uint8)
        writer.add_tensor(f"blk.0.{kind.name}", data, raw_dtype=kind)
        assert data.nbytes // size * elements == 6 * elements
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    found = tensors_of(weigh(steelyard, tmp_path / "all.gguf"))
    reader = gguf.GGUFReader(str(tmp_path / "all.gguf"))
    assert len(found) == len(reader.tensors) == len(gguf.GGML_QUANT_SIZES)
    for tensor in reader.tensors:
        dtype, shape, size = found[tensor.name]
        assert shape == [int(n) for n in reversed(tensor.shape)], tensor.name
        assert size == tensor.n_bytes, tensor.name
        assert dtype == PLAIN.get(tensor.tensor_type.name, tensor.tensor_type.name.lower())


def test_file_types_have_their_names(steelyard: str, tmp_path: Path) -> None:
    path = tmp_path / "typed.gguf"
    for kind in gguf.LlamaFileType:
        if kind.name == "GUESSED":
            continue
        description = {"metadata": [["general.file_type", "uint32", int(kind)]]}
        write(path, gguf_header(description), 0)
        facts = {f["name"]: f.get("text") for f in weigh(steelyard, path)["facts"]}
        assert "MOSTLY_" + facts["quantisation"] == kind.name or kind.name.startswith("ALL_")


@pytest.mark.parametrize("big_endian", [False, True])
def test_the_package_reads_what_tests_write(
    steelyard: str, tmp_path: Path, big_endian: bool
) -> None:
    path = tmp_path / "written.gguf"
    description = {
        "big_endian": big_endian,
        "metadata": [
            ["general.architecture", "string", "llama"],
            ["tokenizer.ggml.tokens", "array", ["string", ["a", "b"]]],
            ["llama.context_length", "uint32", 4096],
        ],
        "tensors": [["a", [256, 3], 12, 0], ["b", [5], 0, 448]],
    }
    write(path, gguf_header(description), 480)
    report = weigh(steelyard, path)
    reader = gguf.GGUFReader(str(path))
    assert {t.name: int(t.n_bytes) for t in reader.tensors} == {
        t["name"]: t["bytes"] for t in report["tensors"]
    }
    assert sum(int(t.n_elements) for t in reader.tensors) == report["parameters"]["count"]


def test_safetensors_are_as_their_package_reads_them(steelyard: str, tmp_path: Path) -> None:
    path = tmp_path / "saved.safetensors"
    arrays = {
        f"layers.{i}.{np.dtype(kind).name}": np.zeros((i + 1, 3), dtype=kind)
        for i, kind in enumerate(
            ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]
        )
    }
    arrays["scalar"] = np.zeros((), dtype="f4")
    arrays["empty"] = np.zeros((0, 4), dtype="f4")
    safetensors.numpy.save_file(arrays, str(path), metadata={"format": "np"})
    found = tensors_of(weigh(steelyard, path))
    assert found == {
        name: (array.dtype.name, list(array.shape), array.nbytes) for name, array in arrays.items()
    }


def entry(dtype: str, shape: list[int], begin: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


RIGHT = {"a": entry("F32", [2, 3], 0, 24), "b": entry("BF16", [4], 24, 32)}


@pytest.mark.parametrize(
    ("header", "data"),
    [
        (RIGHT, 32),
        (RIGHT, 31),
        (RIGHT, 33),
        ({"a": entry("F32", [2, 3], 0, 20)}, 20),
        ({"a": entry("F32", [2], 0, 8), "b": entry("F32", [2], 4, 12)}, 12),
        ({"a": entry("F32", [2], 0, 8), "b": entry("F32", [2], 12, 20)}, 20),
        ({"a": entry("F32", [2], 8, 16)}, 16),
        ({"a": entry("F99", [2], 0, 8)}, 8),
        ({"a": entry("F4", [3], 0, 2)}, 2),
        ({"a": entry("F4", [4], 0, 2)}, 2),
        ({"a": entry("F6_E2M3", [4], 0, 3)}, 3),
        ({"a": entry("F8_E8M0", [4], 0, 4)}, 4),
        ({"a": entry("F32", [-2], 0, 8)}, 8),
        ({"a": entry("F32", [2**62, 4], 0, 8)}, 8),
        ({"a": {"dtype": "F32", "shape": [2]}}, 8),
        ({"a": {"b": entry("F32", [2], 0, 8)}}, 8),
        ({"__metadata__": {"x": 1}}, 0),
        ({"__metadata__": {"x": "1"}}, 0),
    ],
)
def test_what_the_package_refuses_is_refused(
    steelyard: str, tmp_path: Path, header: dict[str, Any], data: int
) -> None:
    path = tmp_path / "model.safetensors"
    write(path, safetensors_header(json.dumps(header)), data)
    try:
        with safetensors.safe_open(str(path), "numpy") as file:
            names = sorted(file.keys())
    except safetensors.SafetensorError:
        names = None
    done = subprocess.run(
        [steelyard, "weigh", str(path), "--format", "csv", "--table", "tensors"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == (0 if names is not None else 1), done.stderr
    if names is not None:
        assert sorted(line.split(",")[0] for line in done.stdout.splitlines()[1:]) == names


@pytest.mark.parametrize("claimed", [2**63, 2**64 - 1, 100_000_001, 1000])
def test_absurd_lengths_are_refused_by_both(steelyard: str, tmp_path: Path, claimed: int) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(struct.pack("<Q", claimed) + b"{}" + b" " * 64)
    with pytest.raises(safetensors.SafetensorError):
        safetensors.safe_open(str(path), "numpy").__enter__()
    done = subprocess.run([steelyard, "weigh", str(path)], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1


def test_one_model_has_its_parameters_whatever_it_is_stored_as(steelyard: str) -> None:
    hidden, inner, layers, keys, vocabulary = 32, 96, 2, 16, 64
    attention = 2 * hidden * hidden + 2 * keys * hidden
    layer = attention + 3 * hidden * inner + 2 * hidden
    count = 2 * vocabulary * hidden + layers * layer + hidden
    for name in (
        "tiny-llama",
        "tiny-llama-nf4",
        "tiny-llama-w4/model.safetensors",
        "tiny-llama-Q4_0.gguf",
    ):
        alone = ("--from", "gguf") if name.endswith(".gguf") else ()
        report = weigh(steelyard, ROOT / "tests/data/weights" / name, *alone)
        assert report["parameters"]["count"] == count, name
        assert report["parameters"]["tensors"] == 3 + layers * 9
        assert report["notes"] == []


def test_a_gguf_is_a_model_whose_parameters_are_as_it_stores_them(steelyard: str) -> None:
    path = ROOT / "tests/data/weights/tiny-llama-Q4_0.gguf"
    alone, model = weigh(steelyard, path, "--from", "gguf"), weigh(steelyard, path)
    for key in ("count", "bytes", "tensors"):
        assert model["parameters"][key] == alone["parameters"][key]
    hidden, inner, layers, keys, vocabulary, seq = 32, 96, 2, 16, 64, 256
    products = 2 * hidden * hidden + 2 * keys * hidden + 3 * hidden * inner
    scores = 2 * hidden * seq  # of queries and keys, and of those and values
    assert model["flops"]["forward"] == 2 * seq * (
        layers * (products + scores) + vocabulary * hidden
    )


@pytest.mark.parametrize("name", ["tiny-llama", "tiny-llama-nf4", "tiny-llama-w4"])
def test_every_byte_of_data_is_told(steelyard: str, name: str) -> None:
    folder = ROOT / "tests/data/weights" / name
    data = 0
    for path in folder.glob("*.safetensors"):
        (header,) = struct.unpack("<Q", path.read_bytes()[:8])
        data += path.stat().st_size - 8 - header
    report = weigh(steelyard, folder, "--from", "safetensors")
    assert report["parameters"]["bytes"] + report["buffers"]["bytes"] == data
