// SPDX-License-Identifier: Apache-2.0
//
// A sample is Σ w · I over the pixels I around a place, its taps, with weights w(x, y, z) of the
// place. The gradient of the image is linear in grad_output, that of the grid in grad_output and
// the image, so that what arrives for the first is sampled again. What arrives for the second, h in
// pixels, meets slopes of weights:
//
//   of grad_output  Σ I · Σ_a h_a ∂w/∂a,    of the image  the same without I, scattered,
//   of the grid     Σ_b h_b Σ grad_output · I · ∂²w/∂a∂b
//
// Linear weights bend only across two axes, and the nearest pixel has no slope at all. What is
// computed in which order is observed in PyTorch: of a cubic image all 16 taps at once, of a cubic
// volume 4 at a time. Axes are x, y, z, as in the grid; dimensions of an image lie the other way.

#include "ops/gradients/grid_sample_backward.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ops/gradients/expression.h"
#include "ops/gradients/grid_sample_taps.h"

namespace steelyard::gradients {
namespace {

using grid_sample::Axes, grid_sample::Axis, grid_sample::Distances, grid_sample::Padding;
using grid_sample::InSizes, grid_sample::InType, grid_sample::Returned, grid_sample::Selected;
using grid_sample::Sampling, grid_sample::Scope, grid_sample::Stacked, grid_sample::Taps;
using grid_sample::Tensors, grid_sample::Unsqueezed;

enum class Interpolation : std::uint8_t { kLinear, kNearest, kCubic };

Expression SumOfProducts(const Expression& values, const Expression& weights) {
  return Returned(SumOver(values * Unsqueezed(weights, 1), -1, false));
}

// sum + a · b, by a method of the sum, whose arguments come last first.
Expression PlusProduct(const Expression& sum, const Expression& a, const Expression& b) {
  return Expression([=](Dispatcher& d, Expression::Temporaries& temporaries) {
    const Tensor object = sum.Part(d, temporaries);
    const Tensor right = b.Part(d, temporaries);
    return d.Call("aten::addcmul", object, a.Part(d, temporaries), right);
  });
}

void AddProductInto(Dispatcher& d, const Tensor& sum, const Expression& a, const Expression& b) {
  Method("aten::addcmul_", sum, a, b).Value(d);
}

void Join(Dispatcher& d, Tensor& total, Tensor part) {
  total = total.defined() ? (total + part).Value(d) : std::move(part);
}

Tensors Next(Scope& scope, const Axes& axes) {
  Tensors next;
  next.reserve(axes.size());
  for (const Axis& axis : axes) next.push_back(scope.Let(axis.base + Number(1)));
  return next;
}

// Of the weights along one axis, with their derivatives.
struct Cubic {
  Tensor weights, slopes, curvatures;
  const Tensor& by(std::size_t order) const {
    return order == 0 ? weights : order == 1 ? slopes : curvatures;
  }
};

// --- Both gradients ------------------------------------------------------------------------------

class Twice {
 public:
  Twice(Dispatcher& d, const Backward& b)
      : d_(d),
        spatial_(b.op().self().rank() - 2),
        mode_(b.op().arg(3)),
        padding_mode_(b.op().arg(4)),
        align_(b.op().arg(5)),
        interpolation_(static_cast<Interpolation>(b.op().integer(3))),
        wants_{b.needs(0), b.needs(1), b.needs(2)},
        of_input_(b.grad(0)),
        of_grid_(b.grad(1)),
        grad_output_(b.saved(0)),
        input_(b.saved(1)),
        grid_(b.saved(2)),
        sampling_(d, input_,
                  {.padding = static_cast<Padding>(b.op().integer(4)),
                   .aligns = b.op().boolean(5),
                   .is_cubic = interpolation_ == Interpolation::kCubic}) {}

  Tensors Gradients() {
    if (of_input_.defined()) Again();
    if (of_grid_.defined() && interpolation_ != Interpolation::kNearest) {
      if (interpolation_ == Interpolation::kLinear) {
        Linear();
      } else {
        spatial_ == 2 ? CubicImage() : CubicVolume();
      }
    }
    return {std::move(out_grad_output_), std::move(out_input_), std::move(out_grid_)};
  }

 private:
  bool is_volume() const { return spatial_ == 3; }

  // What arrives for the gradient of the image is an image itself.
  void Again() {
    if (wants_[0]) {
      out_grad_output_ =
          d_.Call(is_volume() ? OpName("aten::grid_sampler_3d") : OpName("aten::grid_sampler_2d"),
                  of_input_, grid_, mode_, padding_mode_, align_);
    }
    if (!wants_[2]) return;
    out_grid_ = std::move(d_.CallMany(is_volume() ? OpName("aten::grid_sampler_3d_backward")
                                                  : OpName("aten::grid_sampler_2d_backward"),
                                      grad_output_, of_input_, grid_, mode_, padding_mode_, align_,
                                      d_.Mask({false, true}))[1]);
  }

  // --- What arrives for the grid, in slopes of weights ------------------------------------------

  static Expression Weighed(const std::vector<Expression>& sums, const Axes& axes) {
    Expression all = sums[0] * Unsqueezed(axes[0].arriving, 1);
    for (std::size_t i = 1; i < axes.size(); ++i) {
      all = PlusProduct(all, sums[i], Unsqueezed(axes[i].arriving, 1));
    }
    return all;
  }
  void ToGradOutput(const Tensor& values, const Tensors& slopes, const Axes& axes) {
    Scope scope(d_);
    std::vector<Expression> sums;
    sums.reserve(slopes.size());
    for (const Tensor& slope : slopes) {
      sums.emplace_back(scope.Let(SumOfProducts(values, slope)));
    }
    Join(d_, out_grad_output_, Weighed(sums, axes).Value(d_));
  }

  void ToInput(const Tensor& grad_output, const Tensors& slopes, const Taps& taps,
               const Axes& axes) {
    const Tensor weights = (Unsqueezed(axes[0].arriving, -1) * slopes[0]).Value(d_);
    for (std::size_t i = 1; i < axes.size(); ++i) {
      AddProductInto(d_, weights, Unsqueezed(axes[i].arriving, -1), slopes[i]);
    }
    Join(d_, out_input_, sampling_.Scattered(grad_output, weights, taps, axes));
  }

  // By two axes, the lower one first.
  struct Second {
    std::array<std::array<Tensor, 3>, 3> by;
    Tensor& at(std::size_t a, std::size_t b) { return by.at(a).at(b); }
    const Tensor& of(std::size_t a, std::size_t b) const {
      return a < b ? by.at(a).at(b) : by.at(b).at(a);
    }
  };
  // Of one coordinate of the grid, in pixels; what does not bend is left out.
  Tensor Row(const Second& second, const Axes& axes, std::size_t a) {
    Tensor row;
    for (std::size_t b = 0; b < axes.size(); ++b) {
      const Tensor& bend = second.of(a, b);
      if (!bend.defined()) continue;
      if (row.defined()) {
        AddProductInto(d_, row, axes[b].arriving, bend);
      } else {
        row = (axes[b].arriving * bend).Value(d_);
      }
    }
    return row;
  }
  Tensor CubicGrid(const Second& second, const Axes& axes) {
    std::vector<Expression> rows;
    rows.reserve(axes.size());
    for (std::size_t a = 0; a < axes.size(); ++a) {
      rows.emplace_back([&, a](Dispatcher& d, Expression::Temporaries&) {
        return MultiplyInto(Row(second, axes, a), Number(axes[a].scale)).Value(d);
      });
    }
    return Stacked(d_, rows);
  }

  // --- Linear ------------------------------------------------------------------------------------

  void Linear() {
    Scope scope(d_);
    Axes axes = sampling_.NewAxes();
    for (Axis& axis : axes) sampling_.PlaceOn(scope, grid_, axis);
    Tensors next;
    Sampling::FindBases(scope, axes);
    if (is_volume()) next = Next(scope, axes);
    Sampling::FindFractions(scope, axes);
    for (Axis& axis : axes) axis.arriving = scope.Let(Selected(of_grid_, axis.index) * axis.slope);
    if (!is_volume()) next = Next(scope, axes);
    const Taps taps = LinearTaps(scope, axes, next);
    const Tensor values = scope.Let(sampling_.Gathered(taps, axes));
    Tensors slopes;
    if (wants_[0] || wants_[1]) slopes = LinearSlopes(scope, axes);
    if (wants_[0]) ToGradOutput(values, slopes, axes);
    if (wants_[1]) ToInput(grad_output_, slopes, taps, axes);
    if (wants_[2]) is_volume() ? LinearVolumeGrid(values, axes) : LinearImageGrid(values, axes);
  }

  // Corner k is the next pixel along an axis whose bit k has.
  static constexpr bool IsNext(std::size_t corner, std::size_t axis) {
    return ((corner >> axis) & 1) != 0;
  }
  std::size_t corners() const { return std::size_t{1} << static_cast<unsigned>(spatial_); }

  Taps LinearTaps(Scope& scope, const Axes& axes, const Tensors& next) {
    Taps taps(axes.size());
    for (std::size_t a = axes.size(); a-- > 0;) {
      std::vector<Expression> list;
      list.reserve(corners());
      for (std::size_t k = 0; k < corners(); ++k) {
        list.emplace_back(IsNext(k, a) ? next[a] : axes[a].base);
      }
      taps[a] = scope.Let(Stacked(d_, list));
    }
    return taps;
  }

  // Of the weights of corners, products over axes, by each of these.
  Tensors LinearSlopes(Scope& scope, const Axes& axes) {
    Scope block(d_);
    Tensors rests;
    rests.reserve(axes.size());
    for (const Axis& axis : axes) rests.push_back(block.Let(1.0 - Expression(axis.fraction)));
    Tensors slopes;
    slopes.reserve(axes.size());
    for (std::size_t a = 0; a < axes.size(); ++a) {
      std::vector<Expression> list;
      list.reserve(corners());
      for (std::size_t k = 0; k < corners(); ++k) {
        const auto factor = [&](std::size_t b) {
          return Expression(IsNext(k, b) ? axes[b].fraction : rests[b]);
        };
        const std::size_t first = a == 0 ? 1 : 0;
        Expression product = IsNext(k, a) ? factor(first) : -factor(first);
        for (std::size_t b = first + 1; b < axes.size(); ++b) {
          if (b != a) product = product * factor(b);
        }
        list.push_back(std::move(product));
      }
      slopes.push_back(scope.Let(Stacked(d_, list)));
    }
    return slopes;
  }

  Tensors Corners(Scope& scope, const Tensor& values) {
    Tensors out;
    out.reserve(corners());
    for (std::size_t k = 0; k < corners(); ++k) {
      out.push_back(scope.Let(Selected(values, static_cast<std::int64_t>(k))));
    }
    return out;
  }

  void LinearImageGrid(const Tensor& values, const Axes& axes) {
    Scope scope(d_);
    const Tensors at = Corners(scope, values);
    const Tensor bend =
        scope.Let(SumOver(grad_output_ * (Expression(at[0]) - at[1] - at[2] + at[3]), 1, false));
    Tensor part = Stacked(d_, {Returned(axes[0].slope * axes[1].arriving * bend),
                               Returned(axes[1].slope * axes[0].arriving * bend)});
    Join(d_, out_grid_, std::move(part));
  }

  void LinearVolumeGrid(const Tensor& values, const Axes& axes) {
    Scope scope(d_);
    Tensors fractions;
    fractions.reserve(axes.size());
    for (const Axis& axis : axes) fractions.push_back(scope.Let(Unsqueezed(axis.fraction, 1)));
    const Tensors at = Corners(scope, values);
    Second second;
    const auto across = [&](std::size_t a, std::size_t b, std::size_t from) {
      const std::size_t step_a = std::size_t{1} << a, step_b = std::size_t{1} << b;
      Tensor bend = scope.Let(at[from] - Expression(at[from + step_a]));
      d_.Call("aten::sub_.Tensor", bend, at[from + step_b]);
      d_.Call("aten::add_.Tensor", bend, at[from + step_a + step_b]);
      return bend;
    };
    for (std::size_t c = axes.size(); c-- > 0;) {
      const std::size_t a = c == 0 ? 1 : 0, b = c == 2 ? 1 : 2;
      const Tensor before = across(a, b, 0), after = across(a, b, std::size_t{1} << c);
      const Tensor bend = scope.Let((1 - Expression(fractions[c])) * before);
      if (c == 2) {
        AddInto(bend, fractions[c] * after).Value(d_);
      } else {
        AddProductInto(d_, bend, fractions[c], after);
      }
      second.at(a, b) = bend;
    }
    for (std::size_t c = axes.size(); c-- > 0;) {
      Tensor& bend = second.at(c == 0 ? 1 : 0, c == 2 ? 1 : 2);
      bend = scope.Let(SumOver(grad_output_ * bend, 1, false));
    }
    std::vector<Expression> rows;
    rows.reserve(axes.size());
    for (std::size_t a = 0; a < axes.size(); ++a) {
      rows.emplace_back([&, a](Dispatcher& d, Expression::Temporaries&) {
        return d.Call("aten::mul_.Tensor", Row(second, axes, a), axes[a].slope);
      });
    }
    Join(d_, out_grid_, Stacked(d_, rows));
  }

  // --- Cubic -------------------------------------------------------------------------------------

  static constexpr std::int64_t kTaps = 4;  // along an axis
  struct Pair {
    int a, b;  // axes
  };

  // Taps begin one pixel before the base.
  Tensor Offsets(Scope& scope) {
    return scope.Let(d_.Call("aten::arange.start", -1, kTaps - 1, DType::kInt64));
  }

  // The second derivatives go like variables that were declared in this order.
  static void Declare(Scope& scope, Second& second, std::span<const Pair> pairs) {
    for (const Pair pair : pairs) {
      Tensor& sum = second.at(static_cast<std::size_t>(pair.a), static_cast<std::size_t>(pair.b));
      sum = scope.Let(sum);
    }
  }
  // How often along this axis.
  static std::size_t Order(int axis, Pair pair) {
    return (pair.a == axis ? std::size_t{1} : 0) + (pair.b == axis ? std::size_t{1} : 0);
  }

  void CubicImage() {
    Scope scope(d_);
    Axes padded = sampling_.NewAxes();  // as linear ones, and not used
    for (Axis& axis : padded) sampling_.PlaceOn(scope, grid_, axis);
    Sampling::FindBases(scope, padded);
    Sampling::FindFractions(scope, padded);
    for (const Axis& axis : padded) scope.Let(Selected(of_grid_, axis.index) * axis.slope);
    Axes axes = sampling_.NewAxes();
    for (Axis& axis : axes) {
      axis.place = scope.Let(sampling_.Shifted(Sampling::Unscaled(grid_, axis)));
    }
    Sampling::FindBases(scope, axes);
    for (Axis& axis : axes) {
      axis.arriving = scope.Let(Selected(of_grid_, axis.index) * Number(axis.scale));
    }
    Sampling::FindFractions(scope, axes);
    std::vector<Distances> distances;
    distances.reserve(axes.size());
    for (const Axis& axis : axes) distances.push_back(DistancesOf(scope, axis.fraction));
    std::vector<Cubic> cubic(axes.size());
    for (std::size_t a = 0; a < axes.size(); ++a) {
      cubic[a].weights = scope.Let(CubicWeights(d_, distances[a]));
      cubic[a].slopes = scope.Let(CubicSlopes(d_, distances[a]));
    }
    const Taps taps = ImageTaps(scope, axes);
    const Tensor values = scope.Let(sampling_.Gathered(taps, axes));
    Tensors slopes;
    if (wants_[0] || wants_[1]) {
      slopes = {scope.Let(Outer(cubic[0].slopes, cubic[1].weights)),
                scope.Let(Outer(cubic[0].weights, cubic[1].slopes))};
    }
    if (wants_[0]) ToGradOutput(values, slopes, axes);
    if (wants_[1]) ToInput(grad_output_, slopes, taps, axes);
    if (wants_[2]) CubicImageGrid(values, axes, distances, cubic);
  }

  // All 16, a row of pixels after the other.
  Taps ImageTaps(Scope& scope, const Axes& axes) {
    const Tensor offsets = Offsets(scope);
    Tensors along;
    for (const Axis& axis : axes) along.push_back(scope.Let(Unsqueezed(axis.base, -1) + offsets));
    const TensorView base = axes[0].base.view();
    const Dims square{-1, -1, -1, kTaps, kTaps};
    const Dims row{-1, base.size(1), base.size(2), kTaps * kTaps};
    const auto spread = [&](const Tensor& t, std::int64_t dim) {
      return scope.Let(InSizes(Method("aten::expand", Unsqueezed(t, dim), square), row));
    };
    Tensor x = spread(along[0], -2);
    Tensor y = spread(along[1], -1);
    return {std::move(x), std::move(y)};
  }
  // Weights of 16 taps, of those along x and y.
  static Expression Outer(const Tensor& x, const Tensor& y) {
    Dims sizes(x.sizes());
    sizes[sizes.size() - 1] *= y.size(-1);
    return InSizes(Unsqueezed(y, -1) * Unsqueezed(x, -2), sizes);
  }

  void CubicImageGrid(const Tensor& values, const Axes& axes,
                      const std::vector<Distances>& distances, std::vector<Cubic>& cubic) {
    static constexpr std::array<Pair, 3> kPairs{{{0, 0}, {1, 1}, {0, 1}}};
    Scope scope(d_);
    for (std::size_t a = 0; a < axes.size(); ++a) {
      cubic[a].curvatures = scope.Let(CubicCurvatures(d_, distances[a]));
    }
    Second second;
    for (std::int64_t j = 0; j < kTaps; ++j) {
      Scope row(d_);
      std::array<Tensor, 3> along_y;
      for (std::size_t order = 0; order < 3; ++order) {
        along_y.at(order) = row.Let(Selected(cubic[1].by(order), j));
      }
      for (std::int64_t i = 0; i < kTaps; ++i) {
        Scope tap(d_);
        const Tensor dot =
            tap.Let(SumOver(grad_output_ * Selected(values, kTaps * j + i), 1, false));
        std::array<Tensor, 3> terms;
        for (std::size_t p = 0; p < kPairs.size(); ++p) {
          const Pair pair = kPairs.at(p);
          terms.at(p) =
              tap.Let(dot * Selected(cubic[0].by(Order(0, pair)), i) * along_y.at(Order(1, pair)));
        }
        for (std::size_t p = 0; p < kPairs.size(); ++p) {
          Tensor& sum = second.at(static_cast<std::size_t>(kPairs.at(p).a),
                                  static_cast<std::size_t>(kPairs.at(p).b));
          if (!sum.defined()) {
            sum = terms.at(p);
          } else {
            d_.Call("aten::add_.Tensor", sum, terms.at(p));
          }
        }
      }
    }
    Declare(scope, second, kPairs);
    Join(d_, out_grid_, CubicGrid(second, axes));
  }

  // A volume's places and sums are as wide as its kernels sum.
  void CubicVolume() {
    Scope scope(d_);
    const DType type = SumType(grid_.dtype());
    const Tensor grid = scope.Let(InType(grid_, type)), of_grid = scope.Let(InType(of_grid_, type));
    Tensor grad_output;
    if (wants_[1] || wants_[2]) grad_output = scope.Let(InType(grad_output_, type));
    Axes axes = sampling_.NewAxes();
    for (Axis& axis : axes) {
      axis.place = scope.Let(sampling_.Shifted(Returned(Sampling::Unscaled(grid, axis))));
    }
    Sampling::FindBases(scope, axes);
    Sampling::FindFractions(scope, axes);
    for (Axis& axis : axes) {
      axis.arriving = scope.Let(Selected(of_grid, axis.index) * Number(axis.scale));
    }
    std::vector<Cubic> cubic(axes.size());
    for (std::size_t a = 0; a < axes.size(); ++a) {
      Scope block(d_);
      const Distances distances = DistancesOf(block, axes[a].fraction);
      cubic[a].weights = scope.Let(CubicWeights(d_, distances));
      cubic[a].slopes = scope.Let(CubicSlopes(d_, distances));
    }
    const Tensor offsets = Offsets(scope);
    const Tensor along_x = scope.Let(Unsqueezed(axes[0].base, -1) + offsets);
    for (std::size_t a = 0; wants_[2] && a < axes.size(); ++a) {
      Scope block(d_);
      const Distances distances = DistancesOf(block, axes[a].fraction);
      cubic[a].curvatures = scope.Let(CubicCurvatures(d_, distances));
    }
    Second second;
    for (std::int64_t z = 0; z < kTaps; ++z) {
      for (std::int64_t y = 0; y < kTaps; ++y) {
        FourTaps({along_x, y, z}, grad_output, axes, cubic, second);
      }
    }
    if (wants_[2]) {
      Declare(scope, second, kVolumePairs);
      Join(d_, out_grid_, CubicGrid(second, axes));
    }
    const auto convert = [this](Tensor& t, const Tensor& like) {
      if (t.defined()) t = InType(t, like.dtype()).Value(d_);
    };
    convert(out_grad_output_, grad_output_);
    convert(out_input_, input_);
    convert(out_grid_, grid_);
  }

  static DType SumType(DType dtype) {
    return dtype == DType::kFloat16 || dtype == DType::kBFloat16 ? DType::kFloat32 : dtype;
  }

  static constexpr std::array<Pair, 6> kVolumePairs{
      {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}}};

  // The taps along x, of one y and one z.
  struct Line {
    Tensor along_x;
    std::int64_t y, z;
  };
  void FourTaps(const Line& line, const Tensor& grad_output, const Axes& axes,
                const std::vector<Cubic>& cubic, Second& second) {
    Scope scope(d_);
    const auto spread = [&](const Axis& axis, std::int64_t tap) {
      return scope.Let(
          Method("aten::expand_as", Unsqueezed(axis.base + Number(tap - 1), -1), line.along_x));
    };
    const Tensor y = spread(axes[1], line.y), z = spread(axes[2], line.z);
    const Taps taps{line.along_x, y, z};
    Tensor values;
    if (wants_[0] || wants_[2]) values = scope.Let(sampling_.Gathered(taps, axes));
    // Of y and z by order of the derivative.
    std::array<std::vector<Expression>, 2> across;
    for (std::size_t i = 0; i < across.size(); ++i) {
      const Cubic& of = cubic[i + 1];
      const std::int64_t tap = i == 0 ? line.y : line.z;
      across.at(i) = {scope.Let(Selected(of.weights, tap)), scope.Let(Selected(of.slopes, tap))};
      if (wants_[2]) across.at(i).push_back(Selected(of.curvatures, tap));
    }
    const auto product = [&](Pair pair) {
      return across[0][Order(1, pair)] * across[1][Order(2, pair)];
    };
    Tensors slopes;
    for (int a = 0; (wants_[0] || wants_[1]) && a < spatial_; ++a) {
      const Pair once{a, -1};
      slopes.push_back(scope.Let(cubic[0].by(Order(0, once)) * Unsqueezed(product(once), -1)));
    }
    if (wants_[0]) {
      std::vector<Expression> sums;
      sums.reserve(slopes.size());
      for (const Tensor& slope : slopes) sums.push_back(SumOfProducts(values, slope));
      Join(d_, out_grad_output_, Weighed(sums, axes).Value(d_));
    }
    if (wants_[1]) ToInput(grad_output, slopes, taps, axes);
    if (!wants_[2]) return;
    const Tensor dot = scope.Let(SumOver(Unsqueezed(grad_output, -1) * values, 1, false));
    for (const Pair pair : kVolumePairs) {
      const Tensor other = product(pair).Value(d_);
      const Expression weights = Returned(cubic[0].by(Order(0, pair)) * Unsqueezed(other, -1));
      Join(d_, second.at(static_cast<std::size_t>(pair.a), static_cast<std::size_t>(pair.b)),
           SumOver(dot * weights, -1, false).Value(d_));
    }
  }

  Dispatcher& d_;
  int spatial_;
  Argument mode_, padding_mode_, align_;
  Interpolation interpolation_;
  std::array<bool, 3> wants_;
  Tensor of_input_, of_grid_;  // what arrives for the two gradients
  Tensor grad_output_, input_, grid_;
  Sampling sampling_;
  Tensor out_grad_output_, out_input_, out_grid_;
};

}  // namespace

std::vector<Tensor> GridSampleTwice(Dispatcher& d, const Backward& b) {
  const auto is_known = [&b](int argument) {
    return b.op().integer(argument) >= 0 && b.op().integer(argument) <= 2;
  };
  if (!is_known(3) || !is_known(4)) Refuse("no such interpolation, or padding");
  return Twice(d, b).Gradients();
}

}  // namespace steelyard::gradients
