#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/pass/transformers_plans.cc: how transformers has processes share the layers of each
causal language model that has a plan for it (`tp_plan="auto"`).

A model's plan is that of its configuration's class (`base_model_tp_plan`), below the name of the
model within the class, with what the class adds (`_tp_plan`) and the table of words, which
transformers shares by rows where a plan does not name it (distributed/mixin.py).

usage: gen_tp_plans.py
needs: transformers, torch
"""

import importlib
from pathlib import Path
from typing import Any

import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

TARGET = Path(__file__).resolve().parents[1] / "src" / "pass" / "transformers_plans.cc"
WORDS = {"embed_tokens": "embedding_rowwise"}
HEAD = """// SPDX-License-Identifier: Apache-2.0
//
// Made by tools/gen_tp_plans.py of transformers {version}: `base_model_tp_plan` of the
// configurations, `_tp_plan` of the classes.

#include "pass/transformers_plans.h"

#include <array>

namespace steelyard {{
namespace {{

"""


def plan_of(config_class: Any, model_class: Any) -> dict[str, str]:
    base: dict[str, str] = getattr(config_class, "base_model_tp_plan", None) or {}
    if not base:
        return {}
    prefix = model_class.base_model_prefix
    inner = {f"{prefix}.{modules}": style for modules, style in (WORDS | base).items()}
    return inner | (getattr(model_class, "_tp_plan", None) or {})


def plans() -> dict[str, str]:
    """By the name of a class, in the words of a plan."""
    found = {}
    for kind, name in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.items():
        if not isinstance(name, str) or kind not in CONFIG_MAPPING:
            continue
        config_class = CONFIG_MAPPING[kind]
        package = config_class.__module__.rpartition(".")[0]
        try:
            module = importlib.import_module(f"{package}.modeling_{package.rpartition('.')[2]}")
        except ImportError:  # needs what is not installed
            continue
        plan = plan_of(config_class, getattr(module, name)) if hasattr(module, name) else {}
        if plan:
            found[name] = ",".join(f"{modules}={style}" for modules, style in plan.items())
    return dict(sorted(found.items()))


def quoted(text: str, width: int = 90) -> str:
    """As string literals, one for each entry or for as many as a line has room for."""
    lines = [""]
    for entry in text.split(","):
        piece = entry if lines == [""] else f",{entry}"
        if len(lines[-1]) + len(piece) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(f'    "{line}"' for line in lines)


def main() -> None:
    by_class = plans()
    distinct = list(dict.fromkeys(by_class.values()))
    text = HEAD.format(version=transformers.__version__)
    for number, plan in enumerate(distinct):
        text += f"constexpr std::string_view kPlan{number} =\n{quoted(plan)};\n"
    text += "\nconstexpr std::array kPlans{\n"
    for name, plan in by_class.items():
        text += f'    TransformersPlan{{"{name}", kPlan{distinct.index(plan)}}},\n'
    text += "};\n\n}  // namespace\n\n"
    text += "std::span<const TransformersPlan> TransformersPlans() { return kPlans; }\n\n"
    text += "}  // namespace steelyard\n"
    TARGET.write_text(text)
    print(len(by_class), "classes,", len(distinct), "plans")


if __name__ == "__main__":
    main()
