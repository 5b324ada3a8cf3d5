#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports the models of hf_models.py, for comparison with what is built from their configs.

For each NAME it writes OUT/NAME/config.json, as transformers saves it, and, exported on the meta
device and without weights, forward.pt2 (evaluation mode, no labels) and, of models that take
labels, train.pt2 (training mode); sizes.json holds what steelyard is to be told of the inputs'
sizes, and export.json what else a row says of an export.

usage: export_hf.py OUT [NAME...]
needs: torch, transformers
"""

import json
import warnings
from pathlib import Path

import hf_flash  # noqa: F401
import torch
from hf_models import MODELS
from recording import measure_named, save_structure

warnings.filterwarnings("ignore")


def export(name: str, out: Path) -> None:
    folder = out / name
    folder.mkdir(exist_ok=True)
    model = MODELS[name]()
    model.config.use_cache = False
    model.config.architectures = [model.make.__name__]
    model.config.save_pretrained(folder)
    (folder / "sizes.json").write_text(json.dumps(model.sizes) + "\n")
    if model.data_sizes or model.events or model.device:
        said: dict[str, list[str] | str] = {"data_sizes": model.data_sizes, "events": model.events}
        if model.device:
            said["device"] = model.device
        (folder / "export.json").write_text(json.dumps(said) + "\n")
    for file, labelled in (("forward.pt2", False), ("train.pt2", True)):
        with torch.device("meta"):
            module = model.make._from_config(model.config).train(labelled)
            inputs = model.inputs(labelled)
        if labelled and inputs.keys() == model.inputs(False).keys():
            continue  # nothing to train with
        save_structure(torch.export.export(module, (), inputs, strict=False), folder / file)
    print(name, flush=True)


if __name__ == "__main__":
    measure_named(export, MODELS, __doc__)
