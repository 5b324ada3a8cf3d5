// SPDX-License-Identifier: Apache-2.0
//
// Optimizers that treat a parameter as a matrix: torch.optim.Adafactor (torch/optim/_adafactor.py),
// which keeps row and column factors of the second moment, and Muon (torch/optim/_muon.py).

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/optimizers/step.h"
#include "ops/registry.h"
#include "ops/rules/shape.h"
#include "support/choices.h"

namespace steelyard::ops {
namespace {

// --- Adafactor ----------------------------------------------------------------------------------

// By parameter; vectors have no factors, and only they a variance.
struct Factors {
  Tensors counters, rows, columns, variances;
};

Factors FactorsOf(Step& step) {
  Factors factors;
  for (const Tensor& gradient : step.gradients) {
    factors.counters.push_back(step.Counter());
    const int rank = gradient.rank();
    Tensor rows, columns, variance;
    if (rank > 1) {
      Dims row_sizes(gradient.sizes()), column_sizes(gradient.sizes());
      row_sizes[rank - 1] = 1;
      column_sizes[rank - 2] = 1;
      rows = step.Zeros("row_var", row_sizes, gradient.dtype());
      columns = step.Zeros("col_var", column_sizes, gradient.dtype());
    } else {
      variance = step.Like(gradient, "variance");
    }
    factors.rows.push_back(std::move(rows));
    factors.columns.push_back(std::move(columns));
    factors.variances.push_back(std::move(variance));
  }
  return factors;
}

// `tensor.norm(2).item()`
void NormOf(Dispatcher& d, const Tensor& tensor) { d.Call("aten::linalg_vector_norm", tensor, 2); }

Tensor NormAlong(Dispatcher& d, const Tensor& gradient, int dim) {
  return d.Call("aten::linalg_vector_norm", gradient, 2, Dims{dim}, true);
}

// (gradient * gradient).mean(dim), without the product
Tensor MeanSquare(Dispatcher& d, const Tensor& gradient, int dim) {
  Tensor mean = NormAlong(d, gradient, dim);
  d.Call("aten::square_", mean);
  d.Call("aten::div_.Tensor", mean, gradient.size(dim));
  return mean;
}

Tensor MeanOfRows(Dispatcher& d, const Tensor& rows) {
  return d.Call("aten::mean.dim", rows, Dims{-2}, true);
}

// Python's variables in the order in which they are first set.
struct Variables {
  Tensor gradient, row_mean, column_mean, estimate, squared, update;
};

void EstimateMatrix(Dispatcher& d, const Tensor& rows, const Tensor& columns, Variables& v) {
  v.row_mean = MeanSquare(d, v.gradient, -1);
  d.Call("aten::lerp_.Scalar", rows, v.row_mean, kAnyNumber);
  v.column_mean = MeanSquare(d, v.gradient, -2);
  d.Call("aten::lerp_.Scalar", columns, v.column_mean, kAnyNumber);
  v.estimate = d.Call("aten::matmul", rows, columns);
  const Tensor mean = MeanOfRows(d, rows);
  d.Call("aten::clamp_", mean, kAnyNumber);
  d.Call("aten::div_.Tensor", v.estimate, mean);
}

void EstimateVector(Dispatcher& d, const Tensor& variance, Variables& v) {
  v.squared = d.Call("aten::mul.Tensor", v.gradient, v.gradient);
  d.Call("aten::lerp_.Scalar", variance, v.squared, kAnyNumber);
  v.estimate = d.Call("aten::clone", variance);
}

void AdafactorOneByOne(Dispatcher& d, Step& step) {
  const Factors states = FactorsOf(step);
  Variables v;
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    const Tensor& parameter = step.parameters[i];
    v.gradient = GradientAt(d, step, i);
    d.Call("aten::add_.Tensor", states.counters[i], 1);
    NormOf(d, parameter);
    if (step.On("weight_decay")) d.Call("aten::mul_.Tensor", parameter, kAnyNumber);
    if (states.rows[i].defined()) {
      EstimateMatrix(d, states.rows[i], states.columns[i], v);
    } else {
      EstimateVector(d, states.variances[i], v);
    }
    d.Call("aten::clamp_", v.estimate, kAnyNumber);
    d.Call("aten::rsqrt_", v.estimate);
    v.update = v.estimate;
    d.Call("aten::mul_.Tensor", v.update, v.gradient);
    NormOf(d, v.update);
    d.Call("aten::add_.Tensor", parameter, v.update, -kAnyNumber);
  }
  Return(v.gradient, v.row_mean, v.column_mean, v.estimate, v.squared, v.update);
}

// The same for lists; `estimates` and `updates` are one list under two names.
struct ListVariables {
  Tensors gradients, estimates, updates;
};

// Means of squares along a dimension, of which `factors` are averages.
void FactorList(Dispatcher& d, const Tensors& factors, const Tensors& gradients, int dim) {
  Tensors means;
  for (const Tensor& gradient : gradients) means.push_back(NormAlong(d, gradient, dim));
  d.CallMany("aten::_foreach_mul_.List", means, means);
  d.CallMany("aten::_foreach_div_.ScalarList", means, ForEach(means, kAnyNumber));
  d.CallMany("aten::_foreach_lerp_.ScalarList", factors, means, ForEach(means, kAnyNumber));
  Drop(means);
}

void EstimateMatrices(Dispatcher& d, const Tensors& rows, const Tensors& columns,
                      ListVariables& v) {
  FactorList(d, rows, v.gradients, -1);
  FactorList(d, columns, v.gradients, -2);
  Tensors products, means;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    products.push_back(d.Call("aten::matmul", rows[i], columns[i]));
  }
  Set(v.estimates, std::move(products));
  for (const Tensor& of_rows : rows) means.push_back(MeanOfRows(d, of_rows));
  d.CallMany("aten::_foreach_clamp_min_.Scalar", means, kAnyNumber);
  d.CallMany("aten::_foreach_div_.List", v.estimates, means);
  Drop(means);
}

void EstimateVectors(Dispatcher& d, const Tensors& variances, ListVariables& v) {
  Tensors squared = d.CallMany("aten::_foreach_mul.List", v.gradients, v.gradients);
  d.CallMany("aten::_foreach_lerp_.ScalarList", variances, squared, ForEach(squared, kAnyNumber));
  Drop(squared);
  Tensors clones;
  for (const Tensor& variance : variances) clones.push_back(d.Call("aten::clone", variance));
  Set(v.estimates, std::move(clones));
}

// Groups of one dtype, and in them the matrices and the vectors, in the order of their firsts.
std::vector<std::vector<std::size_t>> ByDTypeAndKind(Dispatcher& d, const Step& step) {
  std::vector<std::vector<std::size_t>> out;
  for (const std::vector<std::size_t>& group : ByDType(d, step.parameters)) {
    const auto is_matrix = [&](std::size_t i) { return step.gradients[i].rank() > 1; };
    std::vector<std::size_t> ordered = group;
    const bool first = is_matrix(group.front());
    const auto rest = std::ranges::stable_partition(
        ordered, [&](std::size_t i) { return is_matrix(i) == first; });
    out.emplace_back(ordered.begin(), rest.begin());
    if (!rest.empty()) out.emplace_back(rest.begin(), rest.end());
  }
  return out;
}

void AdafactorLists(Dispatcher& d, Step& step) {
  const Factors all = FactorsOf(step);
  ListVariables v;
  for (const std::vector<std::size_t>& places : ByDTypeAndKind(d, step)) {
    const Tensors parameters = Pick(step.parameters, places);
    SetGradients(d, step, places, v.gradients);
    CountUp(d, Pick(all.counters, places));
    for (const Tensor& parameter : parameters) NormOf(d, parameter);
    if (step.On("weight_decay")) d.CallMany("aten::_foreach_mul_.Scalar", parameters, kAnyNumber);
    if (all.rows[places[0]].defined()) {
      EstimateMatrices(d, Pick(all.rows, places), Pick(all.columns, places), v);
    } else {
      EstimateVectors(d, Pick(all.variances, places), v);
    }
    d.CallMany("aten::_foreach_clamp_min_.Scalar", v.estimates, kAnyNumber);
    d.CallMany("aten::_foreach_rsqrt_", v.estimates);
    d.CallMany("aten::_foreach_mul_.List", v.estimates, v.gradients);
    Set(v.updates, v.estimates);
    for (const Tensor& update : v.updates) NormOf(d, update);
    d.CallMany("aten::_foreach_mul_.ScalarList", v.updates, ForEach(v.updates, kAnyNumber));
    d.CallMany("aten::_foreach_add_.List", parameters, v.updates);
  }
  Return(v.gradients, v.estimates, v.updates);
}

std::vector<Tensor> Adafactor(Dispatcher& d, const OpView& op) {
  Step step(d, op, "Adafactor");
  d.UseStandIns();  // numbers of Python that the norms of parameters and updates tell
  for (const Tensor& gradient : step.gradients) {
    if (!IsComplex(gradient.dtype())) continue;
    Contradict("Adafactor takes no complex parameters, such as " + shape::Text(gradient.view()));
  }
  RunForm(d, step,
          {.one_by_one = AdafactorOneByOne, .foreach = AdafactorLists, .lists_unasked = false});
  return {};
}

// --- Muon ---------------------------------------------------------------------------------------

// PyTorch's own limit.
constexpr int kMostOrthogonalSteps = 99;

// _zeropower_via_newtonschulz
Tensor Orthogonal(Dispatcher& d, const Step& step, const Tensor& update, int steps) {
  const std::vector<double> coefficients = step.Numbers("ns_coefficients");
  const bool tall = update.size(0) > update.size(1);
  Tensor result = d.Call("aten::to.dtype", update, DType::kBFloat16, false, true);
  if (tall) result = d.Call("aten::numpy_T", result);
  {
    const Tensor least =
        d.Call("aten::clamp", d.Call("aten::linalg_vector_norm", result, 2), step.Number("eps"));
    d.Call("aten::div_.Tensor", result, least);
  }
  Tensor gram, gram_update;
  for (int i = 0; i < steps; ++i) {
    gram = d.Call("aten::matmul", result, d.Call("aten::numpy_T", result));
    gram_update = d.Call("aten::addmm", gram, gram, gram, coefficients[1], coefficients[2]);
    result = d.Call("aten::addmm", result, gram_update, result, coefficients[0]);
  }
  if (tall) result = d.Call("aten::numpy_T", result);
  Return(gram, gram_update);
  return result;
}

// How it scales its learning rate for a matrix.
struct Adjustment {
  std::string_view name;
  double (*factor)(double rows, double columns);
};
constexpr std::array kAdjustments{
    Adjustment{"original", [](double m, double n) { return std::sqrt(std::max(1.0, m / n)); }},
    Adjustment{"match_rms_adamw",
               [](double m, double n) { return 0.2 * std::sqrt(std::max(m, n)); }},
    Adjustment{"spectral_unclamped", [](double m, double n) { return std::sqrt(m / n); }},
};

double AdjustmentOf(const Step& step, const Tensor& parameter) {
  const std::string_view asked =
      step.IsGiven("adjust_lr_fn") ? step.Word("adjust_lr_fn") : kAdjustments[0].name;
  const auto* const found = std::ranges::find(kAdjustments, asked, &Adjustment::name);
  if (found == kAdjustments.end()) {
    Contradict(fmt::format("Muon has no adjust_lr_fn \"{}\"", asked),
               fmt::format("It has: {}.", fmt::join(NamesOf(kAdjustments), ", ")));
  }
  return found->factor(static_cast<double>(parameter.size(0)),
                       static_cast<double>(parameter.size(1)));
}

void MuonOneByOne(Dispatcher& d, Step& step) {
  const double lr = step.Number("lr"), momentum = step.Number("momentum");
  Tensors buffers;
  for (const Tensor& gradient : step.gradients) {
    if (gradient.rank() != 2) {
      Contradict("Muon takes matrices only, not " + shape::Text(gradient.view()));
    }
    buffers.push_back(step.Like(gradient, "momentum_buffer"));
  }
  const int steps = static_cast<int>(step.Number("ns_steps"));
  if (steps > kMostOrthogonalSteps) {
    Contradict(fmt::format("Muon takes at most {} steps of Newton and Schulz, not {}",
                           kMostOrthogonalSteps, steps));
  }
  Tensor update;
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    const Tensor& parameter = step.parameters[i];
    d.Call("aten::lerp_.Scalar", buffers[i], step.gradients[i], 1 - momentum);
    update = step.On("nesterov")
                 ? d.Call("aten::lerp.Scalar", step.gradients[i], buffers[i], momentum)
                 : buffers[i];
    update = Orthogonal(d, step, update, steps);
    d.Call("aten::mul_.Tensor", parameter, 1 - lr * step.Number("weight_decay"));
    d.Call("aten::add_.Tensor", parameter, update, -lr * AdjustmentOf(step, parameter));
  }
  Return(update);
}

std::vector<Tensor> Muon(Dispatcher& d, const OpView& op) {
  Step step(d, op, "Muon");
  RunForm(d, step, {.one_by_one = MuonOneByOne});
  return {};
}

constexpr std::array kRows{
    OptimizerRow("steelyard::adafactor", "torch.optim.Adafactor.",
                 "(Tensor[] parameters, bool first_step, *, float lr=0.01, float beta2_decay=-0.8, "
                 "float?[2] eps=(None, 0.001), float d=1, float weight_decay=0, bool "
                 "maximize=False, bool? foreach=None, bool master_weights=False) -> ()",
                 Adafactor),
    OptimizerRow(
        "steelyard::muon", "torch.optim.Muon, for matrices.",
        "(Tensor[] parameters, bool first_step, *, float lr=0.001, float weight_decay=0.1, "
        "float momentum=0.95, bool nesterov=True, float[3] ns_coefficients=(3.4445, "
        "-4.775, 2.0315), float eps=1e-07, int ns_steps=5, str? adjust_lr_fn=None, bool "
        "master_weights=False) -> ()",
        Muon),
};

}  // namespace

std::span<const OpDef> Factored() { return kRows; }

}  // namespace steelyard::ops
