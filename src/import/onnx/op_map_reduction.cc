// SPDX-License-Identifier: Apache-2.0
//
// Sums, extremes and norms over dimensions, and running sums along one.
#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>

#include "import/onnx/op_map.h"
#include "import/onnx/shapes.h"

namespace steelyard::onnx {
namespace {

struct Reduction {
  std::vector<int> axes;
  bool keep = true;
  bool nothing = false;  // no axes, which here means that no dimension is reduced
  Like like;
  Builder::Shape list() const { return {axes.begin(), axes.end()}; }
};

Reduction ReductionOf(Call& call) {
  Reduction out;
  const int rank = call.rank(0);
  const auto written = call.axes(1);
  for (const std::int64_t axis : written.value_or(std::vector<std::int64_t>())) {
    out.axes.push_back(call.axis(axis, rank));
  }
  if (out.axes.empty()) {
    out.nothing = call.integer("noop_with_empty_axes", 0) != 0;
    out.axes.resize(static_cast<std::size_t>(out.nothing ? 0 : rank));
    std::iota(out.axes.begin(), out.axes.end(), 0);
  }
  out.keep = call.integer("keepdims", 1) != 0;
  out.like = {call.dtype(0),
              shapes::Reduce(call.shape(0), out.axes,
                             out.keep ? shapes::Reduced::kKept : shapes::Reduced::kDropped)};
  return out;
}

// Of a constant list, all of it.
template <class Join>
bool Fold(Call& call, const Reduction& reduction, const Join& join) {
  const auto numbers = call.item(0).numbers;
  if (!numbers || numbers->empty() || reduction.nothing || call.rank(0) > 1) return false;
  Dim out = numbers->front();
  for (std::size_t i = 1; i < numbers->size(); ++i) out = join(out, (*numbers)[i]);
  call.GiveNumbers({out}, reduction.like);
  return true;
}

Tensor Total(Call& call, Tensor x, const Reduction& reduction) {
  return call.Emit("aten::sum.dim_IntList", x, reduction.list(), reduction.keep,
                   Builder::Named("dtype", reduction.like.dtype));
}

void RequireFloats(Call& call) {
  if (!IsFloating(call.dtype(0))) Call::GiveUp("operands that are no floats");
}

void Sum(Call& call) {
  const Reduction reduction = ReductionOf(call);
  if (reduction.nothing) return call.GiveItem(call.item(0));
  const auto add = [&](Dim a, Dim b) { return call.sizes().Sum(a, b); };
  if (Fold(call, reduction, add)) return;
  call.Give(Total(call, call.tensor(0), reduction), reduction.like);
}

// Of floats, by the row's operator.
void OfFloats(Call& call) {
  RequireFloats(call);
  const Reduction reduction = ReductionOf(call);
  if (reduction.nothing) return call.GiveItem(call.item(0));
  call.Give(call.Emit(call.row().target, call.tensor(0), reduction.list(), reduction.keep),
            reduction.like);
}

// Of no elements it is the least or the most that there can be, which PyTorch refuses to say.
Tensor ExtremeOfNothing(Call& call, const Like& like, bool largest) {
  const Builder::Arg dtype = Builder::Named("dtype", like.dtype);
  const Builder::Shape sizes = ToSizes(like.shape);
  if (like.dtype == DType::kBool) return call.Emit("aten::full", sizes, !largest, dtype);
  if (!IsFloating(like.dtype)) Call::GiveUp("an extreme of no integers");
  const double most = std::numeric_limits<double>::infinity();
  return call.Emit("aten::full", sizes, largest ? -most : most, dtype);
}

void Extreme(Call& call) {
  const Reduction reduction = ReductionOf(call);
  if (reduction.nothing) return call.GiveItem(call.item(0));
  const bool largest = call.row().target == "aten::amax";
  const auto join = [&](Dim a, Dim b) {
    return largest ? call.sizes().Maximum(a, b) : call.sizes().Minimum(a, b);
  };
  if (Fold(call, reduction, join)) return;
  const auto is_empty = [&](int axis) {
    return call.shape(0)[static_cast<std::size_t>(axis)] == Dim(0);
  };
  if (std::ranges::any_of(reduction.axes, is_empty)) {
    return call.Give(ExtremeOfNothing(call, reduction.like, largest), reduction.like);
  }
  call.Give(call.Emit(call.row().target, call.tensor(0), reduction.list(), reduction.keep),
            reduction.like);
}

// PyTorch multiplies along one dimension at a time.
void Product(Call& call) {
  const Reduction reduction = ReductionOf(call);
  if (reduction.nothing) return call.GiveItem(call.item(0));
  const auto multiply = [&](Dim a, Dim b) { return call.sizes().Product(a, b); };
  if (Fold(call, reduction, multiply)) return;
  std::vector<int> axes = reduction.axes;
  std::ranges::sort(axes, std::greater<>());
  Tensor out = call.tensor(0);
  for (const int axis : axes) {
    out = call.Emit("aten::prod.dim_int", out, axis, reduction.keep,
                    Builder::Named("dtype", reduction.like.dtype));
  }
  call.Give(out, reduction.like);
}

template <int kOrder>
void Norm(Call& call) {
  RequireFloats(call);
  const Reduction reduction = ReductionOf(call);
  if (reduction.nothing) return call.Give(call.Emit("aten::abs", call.tensor(0)), reduction.like);
  call.Give(call.Emit("aten::linalg_vector_norm", call.tensor(0), kOrder, reduction.list(),
                      reduction.keep),
            reduction.like);
}

void LogSum(Call& call) {
  RequireFloats(call);
  const Reduction reduction = ReductionOf(call);
  const Tensor x = call.tensor(0);
  const Tensor sum = reduction.nothing ? x : Total(call, x, reduction);
  call.Give(call.Emit("aten::log", sum), reduction.like);
}

void SumSquare(Call& call) {
  const Reduction reduction = ReductionOf(call);
  const Tensor x = call.tensor(0);
  const Tensor square = call.Emit("aten::mul.Tensor", x, x);
  call.Give(reduction.nothing ? square : Total(call, square, reduction), reduction.like);
}

void ArgExtreme(Call& call) {
  const int axis = call.axis(call.integer("axis", 0), call.rank(0));
  const bool keep = call.integer("keepdims", 1) != 0;
  const Shape to = shapes::Reduce(call.shape(0), {axis},
                                  keep ? shapes::Reduced::kKept : shapes::Reduced::kDropped);
  call.Give(call.Emit(call.row().target, call.tensor(0), axis, keep), {DType::kInt64, to});
}

// An exclusive sum is the inclusive one without the element itself.
void Running(Call& call) {
  const std::vector<std::int64_t> axes = call.known_integers(1);
  if (axes.size() != 1) Call::GiveUp("several axes");
  const int axis = call.axis(axes.at(0), call.rank(0));
  const bool reverse = call.integer("reverse", 0) != 0;
  const Tensor x = call.tensor(0);
  Tensor out = reverse ? call.Emit("aten::flip", x, Builder::Shape{axis}) : x;
  out = call.Emit(call.row().target, out, axis, Builder::Named("dtype", call.dtype(0)));
  if (reverse) out = call.Emit("aten::flip", out, Builder::Shape{axis});
  if (call.integer("exclusive", 0) != 0) {
    const bool sum = call.row().target == "aten::cumsum";
    out = sum ? call.Emit("aten::sub.Tensor", out, x)
              : call.Emit("aten::div.Tensor_mode", out, x,
                          Builder::Named("rounding_mode", IsFloating(call.dtype(0))
                                                              ? Builder::Arg(std::nullopt)
                                                              : Builder::Arg("trunc")));
  }
  call.Give(out, call.like(0));
}

constexpr std::array kRows{
    OpRow{"ArgMax", 1, ArgExtreme, "aten::argmax"},
    OpRow{"ArgMin", 1, ArgExtreme, "aten::argmin"},
    OpRow{"CumProd", 26, Running, "aten::cumprod"},
    OpRow{"CumSum", 11, Running, "aten::cumsum"},
    OpRow{"ReduceL1", 1, Norm<1>},
    OpRow{"ReduceL2", 1, Norm<2>},
    OpRow{"ReduceLogSum", 1, LogSum},
    OpRow{"ReduceLogSumExp", 1, OfFloats, "aten::logsumexp"},
    OpRow{"ReduceMax", 1, Extreme, "aten::amax"},
    OpRow{"ReduceMean", 1, OfFloats, "aten::mean.dim"},
    OpRow{"ReduceMin", 1, Extreme, "aten::amin"},
    OpRow{"ReduceProd", 1, Product},
    OpRow{"ReduceSum", 1, Sum},
    OpRow{"ReduceSumSquare", 1, SumSquare},
};

}  // namespace

std::span<const OpRow> ReductionRows() { return kRows; }

}  // namespace steelyard::onnx
