# SPDX-License-Identifier: Apache-2.0
"""The reports of the processes of one program, made one.

Each process that torchrun starts watches itself. When it ends it leaves its report with the store
that torchrun keeps for all of them, which outlives the program's own groups; the first process
gathers them. Records that were written to files are merged alike.
"""

from __future__ import annotations

import datetime
import json
import os
import statistics
import time
import zlib
from collections.abc import Sequence
from typing import Any

from steelyard import _core
from steelyard.data_parallel import aligned, cells, rank_count, spread

SCHEMA = "steelyard.watch_ranks/1"
# How long the first process waits for others when it has ended itself.
PATIENCE = datetime.timedelta(seconds=60)
WAYS = ("forward", "backward")
STAGES = ("forward", "backward", "optimizer", "to_optimizer", "step", "alone")
# A rank that takes so much longer than the median of the others holds them up.
STRAGGLES = 1.1
SIZES = ("data", "tensor", "pipeline", "expert", "context")


def rank() -> int:
    """Of this process, as torchrun numbers them."""
    return int(os.environ.get("RANK", "0"))


def has_store() -> bool:
    """Whether there is a store that outlives the program's processes."""
    return os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"


def gathered(
    data: dict[str, Any], patience: datetime.timedelta = PATIENCE
) -> list[dict[str, Any] | None]:
    """The reports of all ranks, in the first one; none in others, which leave theirs. A rank that
    has left none in time has None."""
    from torch.distributed import TCPStore

    store = TCPStore(
        os.environ["MASTER_ADDR"],
        int(os.environ["MASTER_PORT"]),
        is_master=False,
        timeout=PATIENCE,
    )
    run = os.environ.get("TORCHELASTIC_RUN_ID", "")
    run += "/" + os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    if rank() > 0:
        store.set(f"steelyard/{run}/{rank()}", zlib.compress(json.dumps(data).encode(), 1))
        return []
    end = time.monotonic() + patience.total_seconds()
    reports: list[dict[str, Any] | None] = [data]
    for other in range(1, rank_count()):
        key = f"steelyard/{run}/{other}"
        try:
            left = max(end - time.monotonic(), 0.1)
            store.wait([key], datetime.timedelta(seconds=left))
            reports.append(json.loads(zlib.decompress(store.get(key))))
        except RuntimeError:  # it did not come
            reports.append(None)
    return reports


def in_order(reports: Sequence[dict[str, Any]]) -> list[dict[str, Any] | None]:
    """Reports of records, by rank; as they were given where they do not say which they are."""
    ranks = [report.get("distributed", {}).get("rank") for report in reports]
    if None in ranks or len(set(ranks)) < len(ranks):
        return list(reports)
    count = max(max(ranks) + 1, *(report["distributed"]["ranks"] for report in reports))
    by_rank = dict(zip(ranks, reports, strict=True))
    return [by_rank.get(number) for number in range(count)]


def merged(reports: Sequence[dict[str, Any] | None]) -> dict[str, Any]:
    """One report of those of all ranks, in their order; None is a rank that has told nothing."""
    told = {number: report for number, report in enumerate(reports) if report is not None}
    medians = {number: _medians(report) for number, report in told.items()}
    by_rank = [
        {"rank": number, "model": report["model"], "steps": len(report["steps"])}
        | {stage: medians[number][stage] for stage in STAGES}
        | {"peak": report["memory"]["peak"], "parameters": report["parameters"]["count"]}
        | _work(report)
        for number, report in told.items()
    ]
    has_work = all("flops_forward" in row for row in by_rank)
    sizes = _sizes(list(told.values()))
    # In a pipeline ranks wait for each other all over a step.
    stragglers = [] if "pipeline_parallel" in sizes else _stragglers(medians)
    return {
        "schema": SCHEMA,
        "model": next(iter(told.values()))["model"],
        "torch": next(iter(told.values()))["torch"],
        "ranks": len(reports),
        "silent": [number for number, report in enumerate(reports) if report is None],
        "distributed": sizes,
        "time": {stage: _spread_of(by_rank, stage) for stage in STAGES},
        "work": {way: _spread_of(by_rank, f"flops_{way}") for way in WAYS} if has_work else {},
        "memory": {"peak": _spread_of(by_rank, "peak"), "at_peak": _at_peak(told)},
        "parameters": _spread_of(by_rank, "parameters"),
        "modules": _modules(told),
        "stragglers": stragglers,
        "by_rank": by_rank,
        "reports": list(told.values()),
    }


def _medians(report: dict[str, Any]) -> dict[str, float]:
    """Of the steps that count; `alone` is what a step takes without waiting for others before the
    optimizer."""
    steps = report["steps"][report["first_counted_step"] :]
    columns = {stage: [step[stage] for step in steps] for stage in STAGES[:4]}
    columns["step"] = [step["seconds"] for step in steps]
    columns["alone"] = [step["seconds"] - step["to_optimizer"] for step in steps]
    return {stage: statistics.median(values) for stage, values in columns.items()}


def _work(report: dict[str, Any]) -> dict[str, int]:
    """Operations of products, of one step; nothing where no operators were heard."""
    return {f"flops_{way}": report["flops"][way] for way in WAYS if "flops" in report}


def _at_peak(told: dict[int, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What each category holds where a rank's memory is highest."""
    held = {number: report["memory"]["at_peak"] for number, report in told.items()}
    categories = dict.fromkeys(category for each in held.values() for category in each)
    return {
        category: _spread_of(
            [{"rank": n, category: each.get(category, 0)} for n, each in held.items()], category
        )
        for category in categories
    }


def _spread_of(rows: Sequence[dict[str, Any]], key: str) -> dict[str, Any]:
    """With the rank of the highest."""
    out = spread([row[key] for row in rows])
    which = "slowest" if "slowest" in out else "most"
    return out | {which: rows[out[which]]["rank"]}


def _sizes(reports: Sequence[dict[str, Any]]) -> dict[str, int]:
    """What all ranks say alike; of pipelines not every one knows."""
    sizes: dict[str, int] = {}
    for report in reports:
        for key, value in report.get("distributed", {}).items():
            if key != "rank":
                sizes[key] = max(value, sizes.get(key, 1))
    return sizes


def _modules(told: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """Of those that all ranks have."""
    columns = []
    for number, report in told.items():
        rows = {(row["path"], row["class"]): row for row in report["modules"]}
        columns.append((number, rows))
    out = []
    for place, first in columns[0][1].items():
        if not all(place in rows for _, rows in columns):
            continue
        here = [_of_module(number, rows[place]) for number, rows in columns]
        keys = [key for key in here[0] if key != "rank" and all(key in row for row in here)]
        out.append(
            {"path": place[0], "class": place[1], "depth": first["depth"]}
            | {key: _spread_of(here, key) for key in keys}
        )
    return out


def _of_module(rank: int, row: dict[str, Any]) -> dict[str, Any]:
    seconds = row["seconds"]
    return {
        "rank": rank,
        "forward": seconds["forward"],
        "backward": seconds["backward"] + seconds["recompute"],
        "at_peak": sum(row["at_peak"].values()),
    } | _work(row)


def _stragglers(medians: dict[int, dict[str, float]]) -> list[dict[str, Any]]:
    """Ranks that take longer for what they do alone than the median of the others, and where."""
    out = []
    for number, own in medians.items():
        others = [each for other, each in medians.items() if other != number]
        if not others:
            continue
        typical = {stage: statistics.median(each[stage] for each in others) for stage in STAGES}
        if own["alone"] <= STRAGGLES * typical["alone"]:
            continue
        more = {stage: own[stage] - typical[stage] for stage in STAGES[:3]}
        more["between"] = own["alone"] - typical["alone"] - sum(more.values())
        where = max(more, key=lambda stage: more[stage])
        out.append(
            {
                "rank": number,
                "alone": own["alone"],
                "others": typical["alone"],
                "where": where,
                "more": more[where],
            }
        )
    return sorted(out, key=lambda row: -row["alone"])


WORDS = {
    "to_optimizer": "backward to optimizer",
    "alone": "step without that",
    "between": "what is in none of these (data, losses, Python)",
}


def told(report: dict[str, Any], depth: int = 2) -> str:
    """The merged report for people."""
    sizes = report["distributed"]
    words = [
        f"{name} parallel {sizes[key]}" for name in SIZES if (key := f"{name}_parallel") in sizes
    ]
    lines = [
        f"{report['model']}   watched in PyTorch {report['torch']} by {report['ranks']} ranks"
        + (f": {', '.join(words)}" if words else ""),
        "",
    ]
    seconds, count, size = _core.Unit.SECONDS, _core.Unit.COUNT, _core.Unit.BYTES
    rows = [("Of a step", "lowest", "median", "highest", "of rank")]
    rows += [(f"  {WORDS.get(s, s)}", *cells(report["time"][s], seconds)) for s in STAGES]
    rows.append(("  parameters", *cells(report["parameters"], count)))
    rows += [
        (f"  flops {way}", *cells(row, _core.Unit.FLOPS)) for way, row in report["work"].items()
    ]
    rows.append(("  peak of memory", *cells(report["memory"]["peak"], size)))
    rows += [
        (f"    {category.replace('_', ' ')}", *cells(row, size))
        for category, row in report["memory"]["at_peak"].items()
        if row["highest"] > 0
    ]
    lines += [*aligned(rows), ""]
    lines += [*aligned(_rows_of_ranks(report)), ""]
    if modules := _rows_of_modules(report, depth):
        lines += [*aligned(modules), ""]
    return "\n".join(lines + _remarks(report)) + "\n"


def _rows_of_ranks(report: dict[str, Any]) -> list[tuple[str, ...]]:
    seconds = _core.Unit.SECONDS
    rows: list[tuple[str, ...]] = [
        ("By rank", "steps", "step", "forward", "backward", "optimizer", "alone", "peak")
    ]
    if report["work"]:
        rows = [(*rows[0], "flops")]
    for row in report["by_rank"]:
        times = (row[key] for key in ("step", "forward", "backward", "optimizer", "alone"))
        rows.append(
            (
                f"  {row['rank']}",
                str(row["steps"]),
                *(_core.format(each, seconds) for each in times),
                _core.format(row["peak"], _core.Unit.BYTES),
                *_flops_of_rank(report, row),
            )
        )
    return rows


def _flops_of_rank(report: dict[str, Any], row: dict[str, Any]) -> tuple[str, ...]:
    if not report["work"]:
        return ()
    return (_core.format(sum(row[f"flops_{way}"] for way in WAYS), _core.Unit.FLOPS),)


def _rows_of_modules(report: dict[str, Any], depth: int) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for row in report["modules"]:
        if row["depth"] > depth or not row["path"]:
            continue
        if row["forward"]["highest"] + row["backward"]["highest"] == 0:
            continue
        forward, backward = (cells(row[way], _core.Unit.SECONDS) for way in ("forward", "backward"))
        rows.append(("  " * row["depth"] + row["path"], *forward, *backward))
    head = ("By module", "forward", "median", "highest", "of rank")
    return [(*head, "backward", "median", "highest", "of rank"), *rows] if rows else []


def _remarks(report: dict[str, Any]) -> list[str]:
    lines = [
        f"Rank {number} has told nothing: it was ended, or is not done yet."
        for number in report["silent"]
    ]
    for row in report["stragglers"]:
        own, others, more = (
            _core.format(row[key], _core.Unit.SECONDS) for key in ("alone", "others", "more")
        )
        where = WORDS.get(row["where"], row["where"])
        lines.append(
            f"Straggler: rank {row['rank']} takes {own} for what it does alone, "
            f"the others {others}; most of the difference, {more}, is in {where}."
        )
    if "pipeline_parallel" in report["distributed"]:
        lines.append(
            "Ranks of a pipeline wait for each other all over a step: none is a straggler."
        )
    if len({row["model"] for row in report["by_rank"]}) > 1 or (
        report["parameters"]["lowest"] != report["parameters"]["highest"]
    ):
        lines.append("Ranks have different parameters: modules are told that all of them have.")
    remarks = [remark for each in report["reports"] for remark in each["remarks"]]
    unknown = {op["op"]: None for each in report["reports"] for op in each.get("unmodelled", ())}
    if unknown and report["work"]:
        remarks.append(f"work is at least this: not modelled are {', '.join(unknown)}")
    lines += [f"Note: {remark}" for remark in dict.fromkeys(remarks)]
    return lines
