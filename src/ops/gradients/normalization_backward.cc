// SPDX-License-Identifier: Apache-2.0
//
// layer_norm_double_backward and batchnorm_double_backward of FunctionsManual.cpp, step by step. A
// row, or a channel, of n elements is x̂ = (x - mean) / σ; `of_input`, `of_weight` and `of_bias`
// are what arrives for the three gradients.

#include "ops/gradients/normalization_backward.h"

#include <functional>
#include <utility>

#include "ops/gradients/expression.h"

namespace steelyard::gradients {
namespace {

// Sums of what is normalized together, which stay as dimensions of size 1.
using Summing = std::function<Expression(const Expression& of)>;

// What both need, of tensors in shapes that fit each other.
struct Normalized {
  Tensor centred;                        // x - mean
  Tensor inverse, inverse_2, inverse_3;  // 1 / σ, its square and cube
  std::int64_t count = 1;                // n
  Summing sum;
};

// The gradient of the input, of a backward pass without weights and bias.
Tensor FirstGradient(Dispatcher& d, const Normalized& of, const Tensor& gradient,
                     const Tensor& weight, const Expression& times_count) {
  const Tensor scale = DivideInto(weight * of.inverse, of.count).Value(d);
  const Tensor parts = SubtractFrom(SubtractFrom(times_count, of.sum(gradient)),
                                    Method("aten::mul.Tensor", of.centred, of.inverse_2) *
                                        of.sum(gradient * of.centred))
                           .Value(d);
  return (scale * parts).Value(d);
}

// The gradient of the input by what arrives for its own gradient: `scaled` is the gradient of the
// output times weights, and `factor` what else it is multiplied by.
struct Curvature {
  Tensor scaled, scaled_sum, scaled_centred_sum, factor;
};
Tensor OfCurvature(Dispatcher& d, const Normalized& of, const Tensor& cubed, const Curvature& c,
                   const Tensor& of_input, const Expression& joint_sum) {
  const Tensor sum = of.sum(of_input).Value(d);
  const Tensor centred_sum = of.sum(of_input * of.centred).Value(d);
  const double three = 3. / static_cast<double>(of.count);
  const Tensor all = AddInto(SubtractFrom(DivideInto(sum * c.scaled_sum, of.count), joint_sum),
                             MultiplyInto(of.inverse_2 * c.scaled_centred_sum * centred_sum, three))
                         .Value(d);
  const Tensor first = DivideInto(cubed * all, of.count).Value(d);
  const Tensor second = (DivideInto(centred_sum * of.inverse_3, of.count) *
                         (Method("aten::div.Scalar", c.scaled_sum, Number(of.count)) - c.scaled))
                            .Value(d);
  const Tensor third = (DivideInto(c.scaled_centred_sum * of.inverse_3, of.count) *
                        (Method("aten::div.Scalar", sum, Number(of.count)) - of_input))
                           .Value(d);
  const Expression joint = AddInto(AddInto(first, second), third);
  return c.factor.defined() ? (c.factor * joint).Value(d) : joint.Value(d);
}

Tensor Joined(Dispatcher& d, const Tensor& sum, const Tensor& term) {
  return sum.defined() ? d.Call("aten::add_.Tensor", sum, term) : term;
}

}  // namespace

// --- Layer norm ----------------------------------------------------------------------------------

namespace {

// Rows of a matrix, whatever the tensor's shape.
class LayerNormAgain {
 public:
  LayerNormAgain(Dispatcher& d, const Backward& b)
      : d_(d), input_view_(b.saved(1)), weight_(b.saved(5)) {
    const int rank = input_view_.rank();
    const int axis = rank - b.op().ints(2).size();
    for (int i = 0; i < rank; ++i) (i < axis ? rows_ : of_.count) *= input_view_.size(i);
    const Dims whole{rows_, of_.count}, column{rows_, 1}, row{1, of_.count};
    const auto shaped = [&](const Tensor& t, const Dims& sizes) {
      return t.defined() ? d.Call("aten::reshape", t, sizes) : Tensor();
    };
    const Tensor input = shaped(input_view_, whole);
    grad_out_ = shaped(b.saved(0), whole);
    const Tensor mean = shaped(b.saved(3), column), inverse = shaped(b.saved(4), column);
    if (weight_.defined()) {
      scale_ = shaped(weight_, row);
      of_weight_ = shaped(b.grad(1), row);
      of_bias_ = shaped(b.grad(2), row);
    } else {
      scale_ = d.Call("aten::ones", Dims{1}, input.dtype());
      of_weight_ = b.grad(1);
    }
    of_input_ = shaped(b.grad(0), whole);
    of_.sum = [](const Expression& e) { return SumOver(e, 1); };
    mean_ = d.Call("aten::to.dtype", mean, input.dtype());
    of_.centred = (input - mean_).Value(d);
    of_.inverse = d.Call("aten::to.dtype", inverse, input.dtype());
    of_.inverse_2 = Power(of_.inverse, 2).Value(d);
    of_.inverse_3 = Power(of_.inverse, 3).Value(d);
  }

  std::vector<Tensor> Gradients() {
    Tensor input = Input();
    Tensor weight = Weight();
    Tensor grad_out = GradOut();
    return {std::move(input), std::move(weight), std::move(grad_out)};
  }

 private:
  Tensor Input() {
    Tensor sum;
    cubed_ = (of_.centred * of_.inverse_3).Value(d_);
    if (of_input_.defined()) {
      Curvature c;
      c.scaled = (grad_out_ * scale_).Value(d_);
      c.scaled_centred_sum = SumOver(c.scaled * of_.centred, 1).Value(d_);
      c.scaled_sum = SumOver(c.scaled, 1).Value(d_);
      sum = OfCurvature(d_, of_, cubed_, c, of_input_, SumOver(of_input_ * c.scaled, 1));
    }
    if (weight_.defined() && of_weight_.defined()) sum = Joined(d_, sum, OfWeight());
    return sum.defined() ? d_.Call("aten::reshape_as", sum, input_view_) : sum;
  }

  Tensor OfWeight() {
    const Tensor first = (grad_out_ * of_weight_ * of_.inverse).Value(d_);
    const Tensor second =
        DivideInto(of_.inverse * SumOver(grad_out_ * of_weight_, 1), -of_.count).Value(d_);
    const Tensor third =
        DivideInto(cubed_ * SumOver(grad_out_ * of_weight_ * of_.centred, 1), -of_.count).Value(d_);
    return AddInto(AddInto(first, second), third).Value(d_);
  }

  Tensor Again(const Tensor& gradient, const Tensor& weight) {
    return FirstGradient(d_, of_, gradient, weight,
                         Method("aten::mul.Scalar", gradient, Number(of_.count)));
  }

  Tensor Weight() {
    if (!weight_.defined() || !of_input_.defined()) return {};
    Tensor gradient;
    {
      const Tensor one = d_.Call("aten::ones", Dims(), of_.inverse.dtype());
      gradient = Again(of_input_, one);
    }
    gradient = SumOver(grad_out_ * gradient, 0, false).Value(d_);
    return d_.Call("aten::reshape_as", gradient, weight_);
  }

  Tensor GradOut() {
    Tensor sum;
    if (of_input_.defined()) sum = Again(of_input_, scale_);
    if (of_weight_.defined()) {
      const Tensor term = (of_weight_ * of_.centred * of_.inverse).Value(d_);
      sum = Joined(d_, sum, term);
    }
    if (of_bias_.defined()) {
      const Tensor term = std::exchange(of_bias_, {});
      sum = Joined(d_, sum, term);
    }
    if (!sum.defined()) return sum;
    const Tensor whole = d_.Call("aten::expand", sum, Dims{rows_, of_.count});
    return d_.Call("aten::reshape_as", whole, input_view_);
  }

  Dispatcher& d_;
  Tensor input_view_, weight_;
  std::int64_t rows_ = 1;
  Tensor grad_out_, scale_, of_weight_, of_bias_, of_input_, mean_;
  Normalized of_;
  Tensor cubed_;
};

}  // namespace

std::vector<Tensor> LayerNormTwice(Dispatcher& d, const Backward& b) {
  return LayerNormAgain(d, b).Gradients();
}

// --- Batch norm ----------------------------------------------------------------------------------

namespace {

// The first dimension goes first, then the last ones; that of channels stays.
Expression SumOfChannels(const Expression& of, bool keep) {
  return Expression([=](Dispatcher& d, Expression::Temporaries& temporaries) {
    const Tensor whole = of.Part(d, temporaries);
    Tensor sum = d.Call("aten::sum.dim_IntList", whole, Dims{0}, keep);
    for (int dim = sum.rank() - 1; dim > (keep ? 1 : 0); --dim) {
      sum = d.Call("aten::sum.dim_IntList", sum, Dims{dim}, keep);
    }
    return sum;
  });
}

class BatchNormAgain {
 public:
  BatchNormAgain(Dispatcher& d, const Backward& b)
      : d_(d),
        trains_(b.op().boolean(7)),
        input_(b.saved(1)),
        weight_(b.saved(2)),
        grad_out_(b.saved(0)),
        of_input_(b.grad(0)),
        of_weight_(b.grad(1)),
        of_bias_(b.grad(2)) {
    const bool affine = weight_.defined();
    scale_ = affine ? Spread(weight_) : d.Call("aten::ones", Dims(), input_.dtype());
    if (affine && of_weight_.defined()) of_weight_ = Spread(of_weight_);
    if (affine && of_bias_.defined()) of_bias_ = Spread(of_bias_);
    for (int i = 0; i < input_.rank(); ++i) of_.count *= i == 1 ? 1 : input_.size(i);
    const auto as_input = [&](int i) {
      return d.Call("aten::to.dtype", b.saved(i), input_.dtype());
    };
    mean_ = trains_ ? as_input(5) : b.saved(3);
    inverse_ = trains_ ? as_input(6) : Inverse(b);
    of_.sum = [](const Expression& e) { return SumOfChannels(e, true); };
    const Tensor mean = Columns(mean_);
    of_.centred = (input_ - mean).Value(d);
    of_.inverse = Columns(inverse_);
    of_.inverse_2 = Power(of_.inverse, 2).Value(d);
    of_.inverse_3 = Power(of_.inverse, 3).Value(d);
  }

  std::vector<Tensor> Gradients() {
    cubed_ = (of_.centred * of_.inverse_3).Value(d_);
    centred_sum_ = of_.sum(grad_out_ * of_.centred).Value(d_);
    sum_ = of_.sum(grad_out_).Value(d_);
    Tensor input = Input();
    Tensor weight = Weight();
    Tensor grad_out = GradOut();
    return {std::move(input), std::move(weight), std::move(grad_out)};
  }

 private:
  // Over the dimensions of the input, as views.
  Tensor Spread(const Tensor& channels) {
    Tensor t = channels;
    while (t.rank() < input_.rank() - 1) t = d_.Call("aten::unsqueeze", t, 1);
    return d_.Call("aten::expand_as", t, input_);
  }
  Tensor Columns(const Tensor& channels) {
    Tensor t = channels;
    while (t.rank() < input_.rank() - 1) t = d_.Call("aten::unsqueeze", t, 1);
    return t.rank() == input_.rank() - 1 ? d_.Call("aten::unsqueeze", t, 0) : t;
  }

  Tensor Inverse(const Backward& b) {
    return Method("aten::pow_.Scalar",
                  Method("aten::add.Scalar", b.saved(4), Number(b.op().arg(8))), Number(-0.5))
        .Value(d_);
  }

  Tensor Input() {
    Tensor sum;
    if (of_input_.defined() && trains_) {
      const Curvature c{grad_out_, sum_, centred_sum_, scale_};
      sum = OfCurvature(d_, of_, cubed_, c, of_input_, of_.sum(grad_out_ * of_input_));
    }
    if (!weight_.defined() || !of_weight_.defined()) return sum;
    of_weight_term_ = trains_ ? OfWeight() : (of_weight_ * of_.inverse * grad_out_).Value(d_);
    return Joined(d_, sum, of_weight_term_);
  }

  Tensor OfWeight() {
    const Tensor first = (grad_out_ * of_.inverse).Value(d_);
    const Tensor second = DivideInto(of_.inverse * sum_, -of_.count).Value(d_);
    const Tensor third =
        DivideInto(cubed_ * of_.sum(grad_out_ * of_.centred), -of_.count).Value(d_);
    return (of_weight_ * AddInto(AddInto(first, second), third)).Value(d_);
  }

  Tensor Again(const Tensor& gradient, const Tensor& weight) {
    return FirstGradient(d_, of_, gradient, weight, Number(of_.count) * gradient);
  }

  Tensor Weight() {
    if (!weight_.defined() || !of_input_.defined()) return {};
    if (!trains_) return SumOfChannels(of_input_ * grad_out_ * of_.inverse, false).Value(d_);
    const Tensor product = [&] {
      const Tensor one = d_.Call("aten::ones", Dims(), of_.inverse.dtype());
      const Tensor again = Again(grad_out_, one);
      return Times(d_, of_input_, again);
    }();
    return SumOfChannels(product, false).Value(d_);
  }

  Tensor GradOut() {
    Tensor sum;
    if (of_input_.defined()) {
      sum = trains_ ? Again(of_input_, scale_) : (of_input_ * of_.inverse * scale_).Value(d_);
    }
    if (of_weight_.defined()) {
      const Tensor term = (of_weight_ * of_.centred * of_.inverse).Value(d_);
      sum = Joined(d_, sum, term);
    }
    if (of_bias_.defined()) {
      const Tensor term = std::exchange(of_bias_, {});
      sum = Joined(d_, sum, term);
    }
    return sum;
  }

  Dispatcher& d_;
  bool trains_;
  Tensor input_, weight_, grad_out_, of_input_, of_weight_, of_bias_;
  Tensor scale_, mean_, inverse_;
  Normalized of_;
  Tensor cubed_, centred_sum_, sum_, of_weight_term_;
};

}  // namespace

std::vector<Tensor> BatchNormTwice(Dispatcher& d, const Backward& b) {
  return BatchNormAgain(d, b).Gradients();
}

}  // namespace steelyard::gradients
