// SPDX-License-Identifier: Apache-2.0
//
// A convolution is linear in both operands, so that all is convolutions again
// (_convolution_double_backward in ATen/native/Convolution.cpp): what arrives for the gradient of
// the input is convolved as the input was, and what arrives for that of the weight is a weight.

#include "ops/gradients/convolution_backward.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"

namespace steelyard::gradients {
namespace {

struct Form {
  Dims stride, padding, dilation;
  bool transposed = false;
  Dims output_padding;
  std::int64_t groups = 1;
};

Dims Each(const OpView& op, int argument, int dims) {
  const Dims given = op.ints(argument);
  return given.size() == 1 ? Dims::Filled(dims, given[0]) : given;
}

Tensor Convolved(Dispatcher& d, const Tensor& input, const Tensor& weight, const Form& form) {
  return d.Call("aten::convolution", input, weight, std::nullopt, form.stride, form.padding,
                form.dilation, form.transposed, form.output_padding, form.groups);
}

// Kernels on CUDA are given what lies densely.
Tensor Dense(Dispatcher& d, const Tensor& t) {
  return d.target().device == Device::kCuda ? d.Call("aten::contiguous", t) : t;
}

// Sizes beyond those of an image are cut off.
Tensor CutTo(Dispatcher& d, Tensor t, const TensorView& like) {
  for (int i = 2; i < t.rank(); ++i) {
    if (t.size(i) > like.size(i)) t = d.Call("aten::narrow", t, i, 0, like.size(i));
  }
  return t;
}

class Twice {
 public:
  Twice(Dispatcher& d, const Backward& b, Form form)
      : d_(d),
        form_(std::move(form)),
        of_input_(b.grad(0)),
        of_weight_(b.grad(1)),
        of_bias_(b.grad(2)),
        grad_output_(b.saved(0)),
        input_(b.saved(1)),
        weight_(b.saved(2)) {}

  std::vector<Tensor> Gradients() {
    Tensor grad_output = GradOutput();
    Tensor weight = Weight();
    Tensor input = Input();
    return {std::move(grad_output), std::move(input), std::move(weight)};
  }

 private:
  bool is_empty() const { return input_.count() == 0; }

  Tensor GradOutput() {
    Tensor sum;
    if (!is_empty() && of_input_.defined()) {
      weight_ = Dense(d_, weight_);
      sum = Convolved(d_, of_input_, weight_, form_);
    }
    if (!is_empty() && of_weight_.defined()) {
      of_weight_ = Dense(d_, of_weight_);
      const Tensor term = Convolved(d_, input_, of_weight_, form_);
      sum = sum.defined() ? d_.Call("aten::add.Tensor", sum, term) : term;
    }
    if (!of_bias_.defined()) return sum;
    Dims sizes = Dims::Filled(grad_output_.rank(), 1);
    sizes[1] = of_bias_.size(0);
    const Tensor dense = d_.Call("aten::contiguous", of_bias_);
    const Tensor spread =
        d_.Call("aten::expand", d_.Call("aten::view", dense, sizes), Dims(grad_output_.sizes()));
    sum = sum.defined() ? d_.Call("aten::add.Tensor", sum, spread) : spread;
    return sum;
  }

  // What arrives is convolved with the gradient that the output had, batch and channels exchanged.
  Tensor Weight() {
    if (!of_input_.defined() || is_empty()) return {};
    Form form = form_;
    form.groups = 1;
    form.transposed = false;
    std::swap(form.dilation, form.stride);
    const Tensor outputs = d_.Call("aten::transpose.int", grad_output_, 0, 1);
    const Tensor inputs = d_.Call("aten::transpose.int", of_input_, 0, 1);
    Tensor all;
    if (form_.groups == 1) {
      all = Correlated(Dense(d_, outputs), inputs, form);
    } else {
      std::vector<Tensor> parts;
      parts.reserve(static_cast<std::size_t>(form_.groups));
      for (std::int64_t g = 0; g < form_.groups; ++g) {
        const Tensor in = GroupOf(inputs, g), out = GroupOf(outputs, g);
        parts.push_back(Correlated(Dense(d_, out), in, form));
      }
      all = d_.Call("aten::cat", parts, 1);
    }
    return CutTo(d_, d_.Call("aten::transpose.int", all, 0, 1), weight_.view());
  }

  Tensor GroupOf(const Tensor& t, std::int64_t group) {
    const std::int64_t size = t.size(0) / form_.groups;
    return d_.Call("aten::narrow", t, 0, size * group, size);
  }

  Tensor Correlated(const Tensor& output, const Tensor& input, const Form& form) {
    return form_.transposed ? Convolved(d_, output, input, form)
                            : Convolved(d_, input, output, form);
  }

  Tensor Input() {
    if (is_empty() || !of_weight_.defined()) return {};
    Form form = form_;
    form.transposed = !form_.transposed;
    if (!form_.transposed) {
      // As many outputs as there were inputs, also where windows did not reach the last ones.
      for (int i = 0; i < weight_.rank() - 2; ++i) {
        const std::int64_t reached = (weight_.size(i + 2) - 1) * form.dilation[i] -
                                     2 * form.padding[i] +
                                     form.stride[i] * (grad_output_.size(i + 2) - 1) + 1;
        if (reached != input_.size(i + 2)) form.output_padding[i] = input_.size(i + 2) - reached;
      }
    }
    grad_output_ = Dense(d_, grad_output_);
    const Tensor gradient = Convolved(d_, grad_output_, of_weight_, form);
    return form_.transposed ? CutTo(d_, gradient, input_.view()) : gradient;
  }

  Dispatcher& d_;
  Form form_;
  Tensor of_input_, of_weight_, of_bias_, grad_output_, input_, weight_;
};

std::vector<Tensor> TwiceOf(Dispatcher& d, const Backward& b, Form form) {
  const TensorView input = b.op().tensor(1), weight = b.op().tensor(2);
  // Groups of volumes are told from the channels.
  if (!form.transposed && input.rank() > 4) {
    form.groups = weight.size(1) > 0 ? input.size(1) / weight.size(1) : -1;
  }
  const Dispatcher::Inside frame(d, "aten::_convolution_double_backward");
  return Twice(d, b, std::move(form)).Gradients();
}

}  // namespace

// grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding,
// groups, output_mask
std::vector<Tensor> ConvolutionTwice(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const int dims = op.tensor(2).rank() - 2;
  return TwiceOf(d, b,
                 {.stride = Each(op, 4, dims),
                  .padding = Each(op, 5, dims),
                  .dilation = Each(op, 6, dims),
                  .transposed = op.boolean(7),
                  .output_padding = Each(op, 8, dims),
                  .groups = op.integer(9)});
}

// grad_output, self, weight, kernel_size, stride, padding, output_mask
std::vector<Tensor> SlowTwice(Dispatcher& d, const Backward& b) {
  constexpr int kDims = 2;
  return TwiceOf(d, b,
                 {.stride = Each(b.op(), 4, kDims),
                  .padding = Each(b.op(), 5, kDims),
                  .dilation = Dims::Filled(kDims, 1),
                  .output_padding = Dims::Filled(kDims, 0)});
}

}  // namespace steelyard::gradients
