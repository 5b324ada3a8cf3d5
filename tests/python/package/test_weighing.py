# SPDX-License-Identifier: Apache-2.0
import json
import subprocess
import threading
import time
from pathlib import Path

import pytest
import steelyard as package
from programs import F32, INPUTS, OUTPUTS, ROWS, written


def test_totals(tmp_path: Path) -> None:
    totals = package.weigh(written(tmp_path)).totals
    assert totals.parameter_count == INPUTS * OUTPUTS
    assert totals.forward_flops == 2 * ROWS * INPUTS * OUTPUTS
    assert totals.resident_bytes == F32 * (INPUTS * OUTPUTS + ROWS * INPUTS)
    assert totals.peak_bytes - totals.resident_bytes == F32 * ROWS * OUTPUTS


def test_reports_are_the_command_lines(steelyard: str, tmp_path: Path) -> None:
    path = written(tmp_path)
    weighing = package.weigh(path, train="sgd", loss="mse")
    command = [steelyard, "weigh", str(path), "--train", "sgd", "--loss", "mse", "--format", "json"]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for report in (told, weighing.data):
        report.pop("elapsed_seconds", None)
        report.get("timing", {}).clear()
    assert {k for k in told if told[k] != weighing.data[k]} <= {"program", "steelyard"}
    assert weighing.data["memory"] == told["memory"]
    assert "one linear" in weighing.report("text")


def test_what_a_weighing_found_besides(tmp_path: Path) -> None:
    path = written(tmp_path)
    plain = package.weigh(path)
    assert (plain.fit, plain.baseline, plain.advice) == (None, None, [])
    assert plain.times[0].stage == "read"
    assert 0 < sum(time.seconds for time in plain.times) <= plain.elapsed_seconds
    assert "Timings" in plain.report(timings=True)
    low = package.weigh(path, amp="bf16").baseline
    assert low is not None
    assert (low.peak_bytes, sum(low.at_peak.values())) == (plain.totals.peak_bytes,) * 2


def test_tables(tmp_path: Path) -> None:
    weighing = package.weigh(written(tmp_path))
    (row,) = weighing.to_dicts("operators")
    assert (row["op"], row["calls"]) == ("aten::linear", 1)
    assert sum(size for _, size, _ in weighing.events if size > 0) == F32 * ROWS * OUTPUTS
    pandas = pytest.importorskip("pandas")
    frame = weighing.to_pandas("operators")
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["op"]) == ["aten::linear"]


def test_programs_in_memory(tmp_path: Path) -> None:
    program = package.load(written(tmp_path))
    assert (program.name, program.calls) == ("one linear", 1)
    once, twice = package.weigh(program), package.weigh(program, train="sgd", loss="mse")
    assert once.totals.peak_bytes == package.weigh(written(tmp_path)).totals.peak_bytes
    assert twice.data["memory"]["peak"] > once.data["memory"]["peak"]
    with pytest.raises(package.UsageError, match=r"only an nn\.Module is traced"):
        package.weigh(program, args=(1,))


def test_what_is_no_model() -> None:
    with pytest.raises(TypeError, match="list is no kind of model"):
        package.weigh([])  # type: ignore[arg-type, unused-ignore]
    with pytest.raises(TypeError, match=r"Path is a class: pass a module of it, Path\(\.\.\.\)"):
        package.weigh(Path)  # type: ignore[arg-type, unused-ignore]


def test_it_says_where_more_may_come(tmp_path: Path) -> None:
    assert "at least" not in repr(package.weigh(written(tmp_path)))
    unknown = "input %x: f32[2]\n%y: f32[2] = mine::f(%x)\nreturn %y\n"
    assert "peak at least 16 B" in repr(package.weigh(written(tmp_path, unknown)))


def test_a_config_is_a_dictionary() -> None:
    with pytest.raises(package.SteelyardError, match=r"config: "):
        package.weigh({"model_type": "abacus"})


def test_a_config_of_transformers() -> None:
    class PretrainedConfig:
        model_type = "gpt2"

        def to_json_string(self, use_diff: bool = True) -> str:
            assert not use_diff
            heads = {"n_layer": 1, "n_embd": 64, "n_head": 4, "vocab_size": 100}
            return json.dumps({"model_type": "gpt2", "architectures": ["GPT2Model"], **heads})

    config = PretrainedConfig()
    written_out = json.loads(config.to_json_string(use_diff=False))
    weighed, same = (package.weigh(each, batch=2, seq=8) for each in (config, written_out))
    assert weighed.data["memory"] == same.data["memory"]
    with pytest.raises(TypeError, match="is a class"):
        package.weigh(PretrainedConfig)
    with pytest.raises(package.UsageError, match="example inputs"):
        package.weigh(config, args=(1,))


def test_comparisons(tmp_path: Path) -> None:
    a = written(tmp_path)
    b = tmp_path / "report.json"
    b.write_text(package.weigh(a).report("json"))
    comparison = package.compare(a, b)
    peak = next(row for row in comparison.data["totals"] if row["name"] == "memory.peak")
    assert peak["a"] == peak["b"]
    assert "<table>" in comparison._repr_html_()
    with pytest.raises(package.UsageError, match="--train"):
        package.compare(b, b, train="sgd")


def longest_pause_of_a_weighing() -> float:
    """How long this thread was kept from running while another one weighs, as a share of that."""
    model = Path(__file__).parents[3] / "examples/llama-3.1-8b"
    ended = threading.Event()

    def weigh() -> None:
        package.weigh(str(model), batch=1, seq=64, train="adamw")
        ended.set()

    thread = threading.Thread(target=weigh)
    begin = last = time.perf_counter()
    pause = 0.0
    thread.start()
    while not ended.is_set():
        now = time.perf_counter()
        pause = max(pause, now - last)
        last = now
    thread.join()
    return pause / (time.perf_counter() - begin)


def test_the_lock_is_released() -> None:
    # Held, it would stop this thread for nearly all of the time; the least, as others run too.
    assert min(longest_pause_of_a_weighing() for _ in range(5)) < 0.5


def test_threads_weigh_at_once(tmp_path: Path) -> None:
    path = written(tmp_path)
    turns: list[int] = []

    def weigh_often() -> None:
        for _ in range(20):
            turns.append(package.weigh(path).totals.operators)

    threads = [threading.Thread(target=weigh_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert turns == [1] * 80
