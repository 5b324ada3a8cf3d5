# SPDX-License-Identifier: Apache-2.0
"""The JSON report keeps the contract that docs/report.schema.json states."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SCHEMA = json.loads((ROOT / "docs/report.schema.json").read_text())
COMPARISON = json.loads((ROOT / "docs/comparison.schema.json").read_text())

MODEL = """
module "": models.Perceptron
module first: torch.nn.modules.linear.Linear
module act: torch.nn.modules.activation.GELU
parameter %w: f32[8,4] "first.weight"
parameter %b: f32[8] "first.bias"
input %x: f32[batch,4]
%h: f32[batch,8] = aten::linear(%x, %w, %b) in first
%g: f32[batch,8] = aten::gelu(%h) in act
return %g
"""

# What a training step needs for --recompute and --advise to have something to say: blocks.
BLOCKS = (
    """
module "": models.Tower
module block: torch.nn.modules.container.ModuleList
"""
    + "".join(
        f"""
module block.{i}: models.Block
parameter %w{i}: f32[64,64] "block.{i}.weight"
"""
        for i in range(4)
    )
    + """
input %h0: f32[batch,64]
"""
    + "".join(
        f"""
%a{i}: f32[batch,64] = aten::linear(%h{i}, %w{i}) in block.{i}
%g{i}: f32[batch,64] = aten::gelu(%a{i}) in block.{i}
%h{i + 1}: f32[batch,64] = aten::add.Tensor(%g{i}, %h{i}) in block.{i}
"""
        for i in range(4)
    )
    + """
return %h4
"""
)
STEP = ("--train", "adamw", "--loss", "sum")

UNMODELLED = """
input %x: f32[4,8]
%y: f32[4,8] = my::own_op(%x)
return %y
"""


@pytest.fixture
def weigh(steelyard: str, tmp_path: Path) -> Any:
    def run(model: str, *options: str) -> dict[str, Any]:
        path = tmp_path / "model.syt"
        path.write_text(model)
        done = subprocess.run(
            [steelyard, "weigh", str(path), "--format", "json", *options],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    return run


WEIGHTS = """
fact "architecture" "llama"
fact "context_length" 4096
parameter %blk.0.w: f32[1,256] frozen packed "q4_k" 144
parameter %norm.w: f32[8]
weights_only
"""


def test_weights_have_no_keys_of_what_runs(weigh: Any) -> None:
    report = weigh(WEIGHTS)
    jsonschema.validate(report, SCHEMA)
    assert report["model"]["holds"] == "weights"
    assert report["parameters"]["by_dtype"]["q4_k"] == {"count": 256, "bytes": 144}
    assert report["parameters"]["bits_each"] == 8 * (144 + 8 * 4) / (256 + 8)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**report, "memory": {"peak": 0}}, SCHEMA)


def objects_of(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object with named keys that a schema describes."""
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
            yield schema
        for part in schema.values():
            yield from objects_of(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects_of(part)


@pytest.mark.parametrize("schema", [SCHEMA, COMPARISON], ids=["report", "comparison"])
def test_the_schema_is_one(schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    for described in objects_of(schema):
        assert "additionalProperties" in described, f"other keys pass: {list(described)}"


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from objects_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from objects_in(part)


def test_a_key_that_no_schema_names_is_refused_everywhere(weigh: Any) -> None:
    report = weigh(BLOCKS, "--batch", "2", *STEP, "--recompute", "block.*", "--table", "calls")
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert validator.is_valid(report)
    for described in objects_in(report):
        described["key_of_nobody"] = "text"
        assert not validator.is_valid(report), described
        del described["key_of_nobody"]


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--events",),
        ("--count", "raf"),
        ("--runtime", "graph", "--table", "kernels"),
        ("--count", "all"),
        ("--count", "deepspeed"),
        ("--batch", "0"),
        ("--table", "calls"),
        ("--table", "events"),
        ("--table", "held"),
        ("--table", "tensors"),
        ("--device", "h100"),
        ("--device", "h100", "--torch", "2.9", "--events"),
        ("--devices", "h100,a100-80gb", "--torch", "2.9"),
    ],
)
def test_reports_follow_it(weigh: Any, options: tuple[str, ...]) -> None:
    batch = () if "--batch" in options else ("--batch", "2")
    jsonschema.validate(weigh(MODEL, *batch, *options), SCHEMA)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--first-step", "--events"),
        ("--recompute", "block.*"),
        ("--recompute", "block.*", "--count", "all"),
        ("--recompute", "block.*", "--count", "raf"),
        ("--recompute", "block.*", "--count", "xla"),
        ("--advise",),
        ("--fit", "1MB", "--advise"),
        ("--fit", "1MB"),
        ("--accumulate", "2", "--clip-norm", "1", "--freeze", "block.0"),
        ("--at", "gelu"),
        ("--classes", "--detailed"),
        ("--count", "all"),
        ("--runtime", "graph", "--table", "kernels"),
        ("--runtime", "graph", "--schedule", "memory", "--events"),
        ("--table", "calls"),
        ("--table", "events"),
        ("--table", "held"),
        ("--table", "tensors"),
        ("--device", "h100", "--torch", "2.9"),
        ("--parallel", "ddp", "--ranks", "2"),
        ("--device", "h100", "--parallel", "fsdp", "--ranks", "2"),
    ],
)
def test_reports_of_training_steps_follow_it(weigh: Any, options: tuple[str, ...]) -> None:
    batch = () if "--fit" in options else ("--batch", "8")
    report = weigh(BLOCKS, *batch, *STEP, *options)
    jsonschema.validate(report, SCHEMA)
    assert report["run"]["step"] == "training"
    assert ("step" in report) == ("--recompute" in options)
    assert ("fit" in report["memory"]) == ("--fit" in options)
    assert ("advice" in report) == ("--advise" in options)
    assert report.get("advice") != [], "there are blocks that can run again"
    for convention in report.get("conventions", []):
        assert ("recompute" in convention) == ("--recompute" in options)


IMAGE = """
symbol h: 2..400 = 8
input %x: f32[2,3,h,8]
%y: f32[2,3,h,8] = aten::relu(%x)
return %y
"""


def test_a_report_of_a_size_with_a_place_follows_it(weigh: Any) -> None:
    report = weigh(IMAGE, "--batch", "2", "--fit", "1MB")
    jsonschema.validate(report, SCHEMA)
    assert report["memory"]["fit"]["place"] == "dimension 2 of x"


@pytest.mark.parametrize("release", ["2.9", "2.15"])
def test_reports_of_devices_name_the_release(weigh: Any, release: str) -> None:
    report = weigh(BLOCKS, "--batch", "2", "--device", "h100", "--torch", release)
    assert report["run"]["torch"] == release
    kept = "libraries" in report["memory"]["at_peak"]
    assert kept == (release == "2.9"), "until 2.15 cuBLAS keeps its workspaces"


def test_a_report_with_unmodelled_operators_follows_it(weigh: Any) -> None:
    report = weigh(UNMODELLED)
    jsonschema.validate(report, SCHEMA)
    assert report["unmodelled"] == [{"op": "my::own_op", "count": 1}]


def test_categories_sum_up_to_the_peak(weigh: Any) -> None:
    memory = weigh(MODEL, "--batch", "2")["memory"]
    assert sum(memory["at_peak"].values()) == memory["peak"]
    assert memory["resident"] + memory["peak_delta"] == memory["peak"]


def test_events_lead_to_the_peak(weigh: Any) -> None:
    memory = weigh(MODEL, "--batch", "2", "--events")["memory"]
    total = highest = 0
    for _, change, _ in memory["events"]:
        total += change
        highest = max(highest, total)
    assert highest == memory["peak_delta"]
    assert total == 0


def test_the_root_module_has_everything(weigh: Any) -> None:
    report = weigh(MODEL, "--batch", "2")
    root = report["modules"][0]
    assert root["path"] == ""
    assert root["parameters"] == report["parameters"]["count"] == 8 * 4 + 8
    assert root["flops"] == report["flops"]["forward"] == 2 * 2 * 4 * 8


def test_a_comparison_follows_its_schema(steelyard: str, tmp_path: Path) -> None:
    a, b = tmp_path / "a.syt", tmp_path / "b.syt"
    a.write_text(MODEL)
    b.write_text(UNMODELLED)
    done = subprocess.run(
        [steelyard, "compare", str(a), str(b), "--input", "x=4x4", "--format", "json"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, "the sizes are for both, and B's are fixed"
    b.write_text(MODEL.replace("gelu", "relu"))
    done = subprocess.run(
        [steelyard, "compare", str(a), str(b), "--batch", "2", "--format", "json"],
        capture_output=True,
        text=True,
    )
    comparison = json.loads(done.stdout)
    jsonschema.validate(comparison, COMPARISON)
    assert {"parameters_a", "parameters_b"} <= comparison["modules"][0].keys()
    differing = {row["op"] for row in comparison["operators"] if row["differs"]}
    assert differing == {"aten::gelu", "aten::relu"}


GENERATION = ("--generate", "6+4", "--batch", "2")


@pytest.mark.parametrize(
    "options",
    [
        ("--beams", "2", "--events"),
        ("--bandwidth", "1TB/s", "--peak-flops", "10T"),
        ("--cache", "paged", "--cache-dtype", "float8", "--shared-prefix", "5", "--fit", "1GB"),
    ],
)
@pytest.mark.parametrize("model", ["deepseek_v3-a", "gemma2-a"])
def test_reports_of_generations_follow_it(
    steelyard: str, model: str, options: tuple[str, ...]
) -> None:
    path = ROOT / "tests/data/hf" / model
    words = [steelyard, "weigh", str(path), "--format", "json", *GENERATION, *options]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    jsonschema.validate(report, SCHEMA)
    assert sum(report["memory"]["at_peak"].values()) == report["memory"]["peak"]
    assert [call["past"] for call in report["generation"]["calls"]] == [0, 6, 8]
