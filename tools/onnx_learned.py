#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/onnx/learned: models of scikit-learn as skl2onnx writes them (ai.onnx.ml).

usage: onnx_learned.py

Beside them stands what ONNX Runtime gives for a batch of seven rows: dtypes and sizes. Needs
scikit-learn, skl2onnx and onnxruntime. `trees5.onnx` has the operator of version 5, by its
definition.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from skl2onnx import to_onnx
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import SVC, NuSVR, OneClassSVM

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "onnx" / "learned"
ROWS = 7
random = np.random.RandomState(0)
X = random.rand(90, 6).astype(np.float32)
WHOLE = (X * 3).astype(np.int64)
THREE, TWO, REAL = np.arange(90) % 3, np.arange(90) % 2, X[:, 1]

MODELS = {
    "ada": AdaBoostClassifier(n_estimators=3).fit(X, TWO),
    "bayes": GaussianNB().fit(X, THREE),
    "binary": Binarizer(threshold=0.5).fit(X),
    "boost": GradientBoostingRegressor(n_estimators=5, max_depth=3).fit(X, REAL),
    "extra": ExtraTreesClassifier(3, max_depth=4, random_state=0).fit(X, THREE),
    "filled": make_pipeline(SimpleImputer(), LinearRegression()).fit(X, X[:, :4]),
    "forest": RandomForestClassifier(4, max_depth=3, random_state=0).fit(X, TWO),
    "linear3": LogisticRegression().fit(X, THREE),
    "linear2": LogisticRegression().fit(X, TWO),
    "mlp": MLPClassifier((8, 4), random_state=0).fit(X, TWO),
    "nearest": KNeighborsClassifier().fit(X, TWO),
    "normal": Normalizer("l1").fit(X),
    "onehot": OneHotEncoder().fit(WHOLE),
    "ridge": make_pipeline(StandardScaler(), PolynomialFeatures(2), Ridge()).fit(X, REAL),
    "svm1": OneClassSVM().fit(X),
    "svm2": SVC(kernel="poly").fit(X, TWO),
    "svm3": SVC(probability=True).fit(X, THREE),
    "svmr": NuSVR(kernel="sigmoid").fit(X, REAL),
}


def exported(name: str) -> onnx.ModelProto:
    example = WHOLE[:1] if name == "onehot" else X[:1]
    try:
        return to_onnx(MODELS[name], example, options={"zipmap": False})
    except NameError:  # it has no such option
        return to_onnx(MODELS[name], example)


def trees_of_version_5() -> onnx.ModelProto:
    """Two decisions and three leaves of two targets."""

    def tensor(values: list[float], dtype: type) -> TensorProto:
        return numpy_helper.from_array(np.array(values, dtype))

    node = helper.make_node(
        "TreeEnsemble",
        ["X"],
        ["Y"],
        domain="ai.onnx.ml",
        n_targets=2,
        aggregate_function=1,
        post_transform=0,
        tree_roots=[0],
        nodes_featureids=[0, 4],
        nodes_modes=tensor([0, 0], np.uint8),
        nodes_splits=tensor([0.5, 0.25], np.float32),
        nodes_truenodeids=[1, 1],
        nodes_trueleafs=[0, 1],
        nodes_falsenodeids=[0, 2],
        nodes_falseleafs=[1, 1],
        leaf_targetids=[0, 1, 0],
        leaf_weights=tensor([1, 2, 3], np.float32),
    )
    graph = helper.make_graph(
        [node],
        "trees",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["rows", 6])],
        [helper.make_tensor_value_info("Y", TensorProto.FLOAT, ["rows", 2])],
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 5)]
    )


def results_of(model: onnx.ModelProto) -> list[list[object]]:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    given = session.get_inputs()[0]
    rows = np.resize(WHOLE if "int" in given.type else X, (ROWS, given.shape[1]))
    return [[str(y.dtype), list(y.shape)] for y in session.run(None, {given.name: rows})]


def main() -> None:
    warnings.filterwarnings("ignore")
    FOLDER.mkdir(parents=True, exist_ok=True)
    results = {}
    models = {name: exported(name) for name in MODELS} | {"trees5": trees_of_version_5()}
    for name, model in models.items():
        (FOLDER / f"{name}.onnx").write_bytes(model.SerializeToString())
        results[name] = results_of(model)
    (FOLDER / "results.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
