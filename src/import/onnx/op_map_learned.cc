// SPDX-License-Identifier: Apache-2.0
//
// Models that are no networks (ai.onnx.ml): what each reads of rows of features, as PyTorch
// computes it. Trees are walked down all at once, level by level, by tables of their nodes: the
// tree traversal of Hummingbird (Nakandala et al., OSDI 2020). Texts and maps are nothing that
// tensors hold.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "import/onnx/op_map.h"
#include "import/onnx/shapes.h"

namespace steelyard::onnx {
namespace {

constexpr std::string_view kDomain = "ai.onnx.ml";
// Trees that are deeper are not written down level by level.
constexpr std::size_t kDeepest = 128;
constexpr std::int64_t kMostVectors = std::int64_t{1} << 31;

// What was learned lies in attributes; here it is a parameter of the call's.
Tensor Learned(Call& call, std::string_view name, DType dtype, const Builder::Shape& sizes) {
  Builder& builder = call.workshop().builder;
  const Builder::Scope root = builder.Within(0);
  const std::string path = std::string(call.output_name(0)) + "." + std::string(name);
  return IsFloating(dtype) ? builder.Parameter(path, dtype, sizes, false)
                           : builder.Buffer(path, dtype, sizes, true);
}

std::size_t CountOf(const Call& call, std::string_view name) {
  const auto attribute = call.attribute(name);
  if (!attribute) return 0;
  return std::max({attribute->integers.size(), attribute->reals.size(), attribute->texts.size()});
}

std::int64_t Length(const Call& call, std::string_view name) {
  return static_cast<std::int64_t>(CountOf(call, name));
}

// [rows, features]; a row alone is one of them.
Tensor Rows(Call& call, std::size_t operand, Shape* shape) {
  *shape = call.shape(operand);
  if (shape->size() > 2 || shape->empty()) Call::GiveUp("other than rows of features");
  Tensor rows = call.tensor(operand);
  if (shape->size() == 1) {
    rows = call.Emit("aten::unsqueeze", rows, 0);
    shape->insert(shape->begin(), Dim(1));
  }
  if (call.dtype(operand) != DType::kFloat32) {
    rows = call.Emit("aten::to.dtype", rows, DType::kFloat32);
  }
  return rows;
}

std::int64_t FeaturesIn(const Shape& rows) {
  if (!rows.back().is_number()) Call::GiveUp("a number of features that is not known");
  return rows.back().number();
}

Tensor Transformed(Call& call, Tensor scores) {
  const std::string how = call.text("post_transform", "NONE");
  if (how == "NONE") return scores;
  if (how == "LOGISTIC") return call.Emit("aten::sigmoid", scores);
  if (how == "SOFTMAX" || how == "SOFTMAX_ZERO") return call.Emit("aten::softmax.int", scores, -1);
  if (how == "PROBIT") return call.Emit("aten::special_ndtri", scores);
  Call::GiveUp("a transformation that there is none of");
}

// The classes' numbers of the best scores, and the scores. Of two classes one score says it all.
void GiveClasses(Call& call, Tensor scores, std::int64_t columns, std::int64_t classes,
                 const Shape& rows) {
  if (columns == 1 && classes == 2) {
    const Tensor other = call.Emit("aten::rsub.Scalar", scores, 1);
    scores = call.Emit("aten::cat", std::vector<Tensor>{other, scores}, 1);
    columns = 2;
  }
  const Tensor best = call.Emit("aten::argmax", scores, 1);
  const Tensor numbers = Learned(call, "classes", DType::kInt64, Builder::Shape{classes});
  const Tensor labels = call.Emit("aten::index.Tensor", numbers, std::vector<Tensor>{best});
  call.Give(labels, {DType::kInt64, {rows[0]}});
  call.Give(scores, {DType::kFloat32, {rows[0], Dim(columns)}});
}

std::int64_t ClassesOf(const Call& call, std::string_view integers, std::string_view texts) {
  if (CountOf(call, texts) > 0) Call::GiveUp("classes that are texts, which no tensor holds");
  return Length(call, integers);
}

// --- Linear models ------------------------------------------------------------------------------

Tensor LinearScores(Call& call, Tensor rows, std::int64_t columns, std::int64_t features) {
  const Tensor weight =
      Learned(call, "coefficients", DType::kFloat32, Builder::Shape{columns, features});
  if (CountOf(call, "intercepts") == 0) return call.Emit("aten::linear", rows, weight);
  const Tensor bias = Learned(call, "intercepts", DType::kFloat32, Builder::Shape{columns});
  return call.Emit("aten::linear", rows, weight, bias);
}

std::int64_t ColumnsOf(const Call& call, std::int64_t features) {
  const std::int64_t numbers = Length(call, "coefficients");
  if (features == 0 || numbers == 0 || numbers % features != 0) {
    Call::GiveUp("coefficients that are not as many for each feature");
  }
  return numbers / features;
}

void LinearClassifier(Call& call) {
  Shape shape;
  const Tensor rows = Rows(call, 0, &shape);
  const std::int64_t features = FeaturesIn(shape), columns = ColumnsOf(call, features);
  const std::int64_t classes = ClassesOf(call, "classlabels_ints", "classlabels_strings");
  GiveClasses(call, Transformed(call, LinearScores(call, rows, columns, features)), columns,
              classes, shape);
}

void LinearRegressor(Call& call) {
  Shape shape;
  const Tensor rows = Rows(call, 0, &shape);
  const std::int64_t features = FeaturesIn(shape), columns = ColumnsOf(call, features);
  const Tensor y = Transformed(call, LinearScores(call, rows, columns, features));
  call.Give(y, {DType::kFloat32, {shape[0], Dim(columns)}});
}

// --- Support vectors ----------------------------------------------------------------------------

// [rows, vectors]
Tensor Likeness(Call& call, Tensor rows, std::int64_t vectors, std::int64_t features) {
  const Tensor support =
      Learned(call, "support_vectors", DType::kFloat32, Builder::Shape{vectors, features});
  const std::string kind = call.text("kernel_type", "LINEAR");
  if (kind == "RBF") {
    const Tensor apart = call.Emit("aten::cdist", rows, support);
    const Tensor squared = call.Emit("aten::pow.Tensor_Scalar", apart, 2);
    return call.Emit("aten::exp", call.Emit("aten::mul.Scalar", squared, -1.0));
  }
  const Tensor products = call.Emit("aten::linear", rows, support);
  if (kind == "LINEAR") return products;
  const Tensor moved =
      call.Emit("aten::add.Scalar", call.Emit("aten::mul.Scalar", products, 1.0), 0.0);
  if (kind == "POLY") return call.Emit("aten::pow.Tensor_Scalar", moved, 3.0);
  if (kind == "SIGMOID") return call.Emit("aten::tanh", moved);
  Call::GiveUp("a kernel of support vectors that there is none of");
}

void SupportVectorRegressor(Call& call) {
  Shape shape;
  const Tensor rows = Rows(call, 0, &shape);
  const std::int64_t features = FeaturesIn(shape), vectors = call.integer("n_supports", 0);
  Tensor y;
  if (vectors > 0) {
    const Tensor weight =
        Learned(call, "coefficients", DType::kFloat32, Builder::Shape{1, vectors});
    const Tensor bias = Learned(call, "rho", DType::kFloat32, Builder::Shape{1});
    y = call.Emit("aten::linear", Likeness(call, rows, vectors, features), weight, bias);
  } else {
    y = LinearScores(call, rows, 1, features);
  }
  if (call.integer("one_class", 0) != 0) y = call.Emit("aten::sign", y);
  call.Give(Transformed(call, y), {DType::kFloat32, {shape[0], Dim(1)}});
}

// One against one: a decision for each pair of classes, or, as probabilities, for each class.
void SupportVectorClassifier(Call& call) {
  Shape shape;
  const Tensor rows = Rows(call, 0, &shape);
  const std::int64_t features = FeaturesIn(shape);
  const std::int64_t classes = ClassesOf(call, "classlabels_ints", "classlabels_strings");
  const auto each = call.integers("vectors_per_class");
  std::int64_t vectors = 0;
  for (const std::int64_t count : each.value_or(std::vector<std::int64_t>())) {
    if (count < 0 || count > kMostVectors - vectors) Call::GiveUp("more vectors than there can be");
    vectors += count;
  }
  if (vectors == 0 || classes < 2) Call::GiveUp("no support vectors of two classes");
  const std::int64_t pairs = classes * (classes - 1) / 2;
  const Tensor weight =
      Learned(call, "coefficients", DType::kFloat32, Builder::Shape{pairs, vectors});
  const Tensor bias = Learned(call, "rho", DType::kFloat32, Builder::Shape{pairs});
  Tensor scores = call.Emit("aten::linear", Likeness(call, rows, vectors, features), weight, bias);
  std::int64_t columns = pairs;
  if (CountOf(call, "prob_a") > 0) {
    const Tensor a = Learned(call, "prob_a", DType::kFloat32, Builder::Shape{pairs});
    const Tensor b = Learned(call, "prob_b", DType::kFloat32, Builder::Shape{pairs});
    scores = call.Emit("aten::addcmul", b, scores, a);
    scores = call.Emit("aten::sigmoid", scores);
    if (pairs > 1) {
      const Tensor votes = Learned(call, "pairs", DType::kFloat32, Builder::Shape{classes, pairs});
      scores = call.Emit("aten::linear", scores, votes);
      columns = classes;
    }
  } else {
    scores = Transformed(call, scores);
  }
  GiveClasses(call, scores, columns, classes, shape);
}

// --- Trees --------------------------------------------------------------------------------------

struct Forest {
  std::int64_t nodes = 0, trees = 0;
  std::size_t depth = 0;  // decisions on the longest way down
};

// The longest way from a root along `next`, by the places of nodes. Gives up on circles.
std::size_t DepthOf(const std::vector<std::vector<std::size_t>>& next, std::size_t root) {
  std::vector<std::size_t> level{root};
  std::size_t depth = 0;
  while (true) {
    std::vector<std::size_t> below;
    for (const std::size_t node : level) {
      below.insert(below.end(), next[node].begin(), next[node].end());
    }
    if (below.empty()) return depth;
    if (++depth > kDeepest || below.size() > next.size()) {
      Call::GiveUp("trees of more than 128 levels, or none");
    }
    level = std::move(below);
  }
}

// By the attributes of versions 1 to 4: nodes by their trees and numbers.
Forest ForestOf(const Call& call) {
  const auto trees = call.integers("nodes_treeids"), ids = call.integers("nodes_nodeids");
  const auto yes = call.integers("nodes_truenodeids"), no = call.integers("nodes_falsenodeids");
  const auto modes = call.attribute("nodes_modes");
  if (!trees || !ids || !yes || !no || !modes) Call::GiveUp("trees without nodes");
  const std::size_t count = ids->size();
  if (trees->size() != count || yes->size() != count || no->size() != count ||
      modes->texts.size() != count) {
    Call::GiveUp("trees whose attributes are not of one length");
  }
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> places;
  for (std::size_t i = 0; i < count; ++i) places.try_emplace({(*trees)[i], (*ids)[i]}, i);
  std::vector<std::vector<std::size_t>> next(count);
  std::vector<bool> is_child(count, false);
  for (std::size_t i = 0; i < count; ++i) {
    if (modes->texts[i] == "LEAF") continue;
    for (const std::int64_t id : {(*yes)[i], (*no)[i]}) {
      const auto child = places.find({(*trees)[i], id});
      if (child == places.end()) Call::GiveUp("trees with nodes that there are none of");
      next[i].push_back(child->second);
      is_child[child->second] = true;
    }
  }
  Forest forest{.nodes = static_cast<std::int64_t>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    if (is_child[i]) continue;
    ++forest.trees;
    forest.depth = std::max(forest.depth, DepthOf(next, i));
  }
  if (forest.trees == 0) Call::GiveUp("trees without a root");
  return forest;
}

// Version 5: decisions and leaves apart, each decision with a place of either.
Forest ForestOfPlaces(const Call& call) {
  const auto yes = call.integers("nodes_truenodeids"), no = call.integers("nodes_falsenodeids");
  const auto yes_leaf = call.integers("nodes_trueleafs"),
             no_leaf = call.integers("nodes_falseleafs");
  const auto roots = call.integers("tree_roots");
  if (!yes || !no || !yes_leaf || !no_leaf || !roots) Call::GiveUp("trees without nodes");
  const std::size_t count = yes->size();
  if (no->size() != count || yes_leaf->size() != count || no_leaf->size() != count) {
    Call::GiveUp("trees whose attributes are not of one length");
  }
  std::vector<std::vector<std::size_t>> next(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (const auto& [to, leaf] :
         {std::pair((*yes)[i], (*yes_leaf)[i] != 0), std::pair((*no)[i], (*no_leaf)[i] != 0)}) {
      if (leaf) continue;
      if (to < 0 || static_cast<std::size_t>(to) >= count) {
        Call::GiveUp("trees with nodes that there are none of");
      }
      next[i].push_back(static_cast<std::size_t>(to));
    }
  }
  Forest forest{.nodes = static_cast<std::int64_t>(count) + Length(call, "leaf_targetids"),
                .trees = static_cast<std::int64_t>(roots->size())};
  for (const std::int64_t root : *roots) {
    if (root < 0 || static_cast<std::size_t>(root) >= count) Call::GiveUp("trees without a root");
    forest.depth = std::max(forest.depth, DepthOf(next, static_cast<std::size_t>(root)) + 1);
  }
  return forest;
}

// The sums over all trees: [rows, columns].
Tensor Walked(Call& call, Tensor rows, const Shape& shape, const Forest& forest,
              std::int64_t columns) {
  const Builder::Shape all{forest.nodes};
  const Tensor features = Learned(call, "features", DType::kInt64, all);
  const Tensor thresholds = Learned(call, "thresholds", DType::kFloat32, all);
  const Tensor yes = Learned(call, "yes", DType::kInt64, all);
  const Tensor no = Learned(call, "no", DType::kInt64, all);
  const Tensor leaves =
      Learned(call, "leaves", DType::kFloat32, Builder::Shape{forest.nodes, columns});
  const Tensor roots = Learned(call, "roots", DType::kInt64, Builder::Shape{1, forest.trees});
  Tensor at = call.Emit("aten::expand", roots, ToSizes({shape[0], Dim(forest.trees)}));
  const auto looked_up = [&](Tensor table) {
    return call.Emit("aten::index.Tensor", table, std::vector<Tensor>{at});
  };
  for (std::size_t level = 0; level < forest.depth; ++level) {
    const Tensor values = call.Emit("aten::gather", rows, 1, looked_up(features));
    const Tensor goes = call.Emit("aten::le.Tensor", values, looked_up(thresholds));
    at = call.Emit("aten::where.self", goes, looked_up(yes), looked_up(no));
  }
  return call.Emit("aten::sum.dim_IntList", looked_up(leaves), Builder::Shape{1});
}

void TreeClassifier(Call& call) {
  Shape shape;
  const Tensor rows = Rows(call, 0, &shape);
  const std::int64_t classes = ClassesOf(call, "classlabels_int64s", "classlabels_strings");
  const Tensor scores = Walked(call, rows, shape, ForestOf(call), classes);
  GiveClasses(call, Transformed(call, scores), classes, classes, shape);
}

void TreeRegressor(Call& call) {
  Shape shape;
  const Tensor rows = Rows(call, 0, &shape);
  const std::int64_t targets = call.integer("n_targets", 1);
  if (targets < 1) Call::GiveUp("no targets");
  const Tensor y = Walked(call, rows, shape, ForestOf(call), targets);
  call.Give(Transformed(call, y), {DType::kFloat32, {shape[0], Dim(targets)}});
}

void Trees(Call& call) {
  Shape shape;
  const DType dtype = call.dtype(0);
  const Tensor rows = Rows(call, 0, &shape);
  const std::int64_t targets = call.integer("n_targets", 1);
  if (targets < 1) Call::GiveUp("no targets");
  Tensor y = Walked(call, rows, shape, ForestOfPlaces(call), targets);
  if (dtype != DType::kFloat32) y = call.Emit("aten::to.dtype", y, dtype);
  call.Give(y, {dtype, {shape[0], Dim(targets)}});
}

// --- Features -----------------------------------------------------------------------------------

void ChooseFeatures(Call& call) {
  Shape to = call.shape(0);
  if (to.empty()) Call::GiveUp("a number alone");
  const Shape& of = call.shape(1);
  const Tensor places = of.size() == 1
                            ? call.tensor(1)
                            : call.Emit("aten::reshape", call.tensor(1), Builder::Shape{-1});
  Tensor chosen = call.Emit("aten::index_select", call.tensor(0), -1, places);
  to.back() = shapes::Count(call.sizes(), of);
  if (to.size() == 1) {
    chosen = call.Emit("aten::unsqueeze", chosen, 0);
    to.insert(to.begin(), Dim(1));
  }
  call.Give(chosen, {call.dtype(0), to});
}

void Binarize(Call& call) {
  const Tensor above = call.Emit("aten::gt.Scalar", call.tensor(0), call.real("threshold", 0.0));
  call.Give(call.Emit("aten::to.dtype", above, call.dtype(0)), call.like(0));
}

// (x - offset) * scale, each by one number or by one of each feature.
void Scale(Call& call) {
  Tensor x = call.tensor(0);
  if (call.dtype(0) != DType::kFloat32) x = call.Emit("aten::to.dtype", x, DType::kFloat32);
  for (const auto& [name, op] :
       {std::pair("offset", "aten::sub.Tensor"), std::pair("scale", "aten::mul.Tensor")}) {
    const std::int64_t count = Length(call, name);
    if (count == 0) continue;
    x = call.Emit(op, x, Learned(call, name, DType::kFloat32, Builder::Shape{count}));
  }
  call.Give(x, {DType::kFloat32, call.shape(0)});
}

void Impute(Call& call) {
  const std::size_t values =
      std::max(CountOf(call, "imputed_value_floats"), CountOf(call, "imputed_value_int64s"));
  if (values == 0) Call::GiveUp("nothing to put in");
  const Tensor x = call.tensor(0);
  const bool real = IsFloating(call.dtype(0));
  const Tensor lacks =
      real ? call.Emit("aten::isnan", x)
           : call.Emit("aten::eq.Scalar", x, call.integer("replaced_value_int64", 0));
  const Tensor put =
      Learned(call, "imputed", call.dtype(0), Builder::Shape{static_cast<std::int64_t>(values)});
  call.Give(call.Emit("aten::where.self", lacks, put, x), call.like(0));
}

void Normalize(Call& call) {
  Tensor x = call.tensor(0);
  if (call.dtype(0) != DType::kFloat32) x = call.Emit("aten::to.dtype", x, DType::kFloat32);
  const std::string norm = call.text("norm", "MAX");
  const int axis = call.rank(0) == 1 ? 0 : 1;
  const Tensor size = norm == "MAX" ? call.Emit("aten::amax", x, Builder::Shape{axis}, true)
                                    : call.Emit("aten::linalg_vector_norm", x, norm == "L1" ? 1 : 2,
                                                Builder::Shape{axis}, true);
  call.Give(call.Emit("aten::div.Tensor", x, size), {DType::kFloat32, call.shape(0)});
}

void OneHot(Call& call) {
  const std::int64_t kinds = ClassesOf(call, "cats_int64s", "cats_strings");
  const Tensor known = Learned(call, "categories", DType::kInt64, Builder::Shape{kinds});
  const Tensor x = call.Emit("aten::unsqueeze", call.tensor(0), -1);
  Shape to = call.shape(0);
  to.emplace_back(kinds);
  const Tensor same = call.Emit("aten::eq.Tensor", x, known);
  call.Give(call.Emit("aten::to.dtype", same, DType::kFloat32), {DType::kFloat32, to});
}

// The numbers that stand for numbers: looked up among the sorted ones.
void Relabel(Call& call) {
  const auto dtype_of = [&](std::string_view floats) {
    return CountOf(call, floats) > 0 ? DType::kFloat32 : DType::kInt64;
  };
  const DType from = dtype_of("keys_floats"), to = dtype_of("values_floats");
  const std::int64_t keys = std::max(Length(call, "keys_int64s"), Length(call, "keys_floats"));
  const std::int64_t values =
      std::max(Length(call, "values_int64s"), Length(call, "values_floats"));
  if (keys == 0 || values != keys) Call::GiveUp("labels that are texts, which no tensor holds");
  const Tensor known = Learned(call, "keys", from, Builder::Shape{keys});
  Tensor at = call.Emit("aten::searchsorted.Tensor", known, call.tensor(0));
  at = call.Emit("aten::clamp_max", at, keys - 1);
  const Tensor table = Learned(call, "values", to, Builder::Shape{values});
  const auto found = [&](Tensor of) {
    return call.Emit("aten::index.Tensor", of, std::vector<Tensor>{at});
  };
  const Tensor is_known = call.Emit("aten::eq.Tensor", found(known), call.tensor(0));
  const Tensor otherwise = call.Emit("aten::scalar_tensor", -1, Builder::Named("dtype", to));
  const Tensor y = call.Emit("aten::where.self", is_known, found(table), otherwise);
  call.Give(y, {to, call.shape(0)});
}

void JoinFeatures(Call& call) {
  std::vector<Tensor> columns;
  Dim total(0), rows(1);
  for (std::size_t i = 0; i < call.count(); ++i) {
    Shape shape;
    columns.push_back(Rows(call, i, &shape));
    rows = shape[0];
    total = call.sizes().Sum(total, shape[1]);
  }
  if (columns.empty()) Call::GiveUp("no features");
  call.Give(call.Emit("aten::cat", columns, 1), {DType::kFloat32, {rows, total}});
}

// A list of maps, which holds the same numbers.
void Zip(Call& call) { call.GiveItem(call.item(0)); }

constexpr OpRow Of(std::string_view name, void (*translate)(Call& call), std::int64_t since = 1) {
  return {.name = name, .since = since, .translate = translate, .target = {}, .domain = kDomain};
}

constexpr std::array kRows{
    Of("ArrayFeatureExtractor", ChooseFeatures),
    Of("Binarizer", Binarize),
    Of("FeatureVectorizer", JoinFeatures),
    Of("Imputer", Impute),
    Of("LabelEncoder", Relabel, 2),
    Of("LinearClassifier", LinearClassifier),
    Of("LinearRegressor", LinearRegressor),
    Of("Normalizer", Normalize),
    Of("OneHotEncoder", OneHot),
    Of("SVMClassifier", SupportVectorClassifier),
    Of("SVMRegressor", SupportVectorRegressor),
    Of("Scaler", Scale),
    Of("TreeEnsemble", Trees, 5),
    Of("TreeEnsembleClassifier", TreeClassifier),
    Of("TreeEnsembleRegressor", TreeRegressor),
    Of("ZipMap", Zip),
};

}  // namespace

std::span<const OpRow> LearnedRows() { return kRows; }

}  // namespace steelyard::onnx
