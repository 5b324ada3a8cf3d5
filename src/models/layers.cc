// SPDX-License-Identifier: Apache-2.0
//
// Decides which operators a layer calls, and by which class it stands in the tree: one operator for
// what PyTorch has one for, and for what transformers writes in Python, such as RmsNorm, each with
// its temporaries. An activation is a row, found by the name that configs give it.

#include "models/layers.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "models/cache.h"
#include "support/choices.h"

namespace steelyard::models {

// A module of transformers.activations, or of PyTorch, by the name that configs give it.
struct ActivationRow {
  std::string_view name;
  std::string_view class_name;
  Tensor (*apply)(Builder& b, Tensor x);
};

namespace {

constexpr std::string_view kTanh = "tanh";

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), written out.
Tensor NewGelu(Builder& b, Tensor x) {
  const Tensor half = b.Call("aten::mul.Tensor", x, 0.5);
  Tensor inner = b.Call("aten::pow.Tensor_Scalar", x, 3.0);
  inner = b.Call("aten::mul.Tensor", inner, 0.044715);
  inner = b.Call("aten::add.Tensor", x, inner);
  inner = b.Call("aten::mul.Tensor", inner, 0.7978845608028654);
  inner = b.Call("aten::tanh", inner);
  inner = b.Call("aten::add.Tensor", inner, 1.0);
  return b.Call("aten::mul.Tensor", half, inner);
}

// x sigmoid(1.702 x)
Tensor QuickGelu(Builder& b, Tensor x) {
  const Tensor gate = b.Call("aten::sigmoid", b.Call("aten::mul.Tensor", x, 1.702));
  return b.Call("aten::mul.Tensor", x, gate);
}

constexpr std::array kActivations{
    ActivationRow{"gelu", "transformers.activations.GELUActivation",
                  [](Builder& b, Tensor x) { return b.Call("aten::gelu", x); }},
    ActivationRow{"gelu_new", "transformers.activations.NewGELUActivation", NewGelu},
    ActivationRow{"gelu_pytorch_tanh", "transformers.activations.GELUTanh",
                  [](Builder& b, Tensor x) {
                    return b.Call("aten::gelu", x, Builder::Named("approximate", kTanh));
                  }},
    ActivationRow{"quick_gelu", "transformers.activations.QuickGELUActivation", QuickGelu},
    ActivationRow{
        "relu2", "transformers.activations.ReLUSquaredActivation",
        [](Builder& b, Tensor x) { return b.Call("aten::square", b.Call("aten::relu", x)); }},
    ActivationRow{"relu", "torch.nn.modules.activation.ReLU",
                  [](Builder& b, Tensor x) { return b.Call("aten::relu", x); }},
    ActivationRow{"silu", "transformers.activations.SiLUActivation",
                  [](Builder& b, Tensor x) { return b.Call("aten::silu", x); }},
    ActivationRow{"swish", "transformers.activations.SiLUActivation",
                  [](Builder& b, Tensor x) { return b.Call("aten::silu", x); }},
    ActivationRow{"tanh", "torch.nn.modules.activation.Tanh",
                  [](Builder& b, Tensor x) { return b.Call("aten::tanh", x); }},
};

const ActivationRow* RowOf(const Settings& config, std::string_view key, const std::string& name) {
  const auto row = std::ranges::find(kActivations, std::string_view(name), &ActivationRow::name);
  if (row != kActivations.end()) return &*row;
  config.Refuse(key, "there is no activation \"" + name + "\"",
                fmt::format("Known are: {}.", fmt::join(NamesOf(kActivations), ", ")));
  return &kActivations.front();
}

}  // namespace

std::int64_t Admitted(const Settings& config, std::string_view what, std::int64_t count) {
  constexpr std::int64_t kMost = 4096;
  if (count <= kMost) return count;
  config.Refuse(what, std::to_string(count) + " layers, where 4096 are the most");
  return 0;
}

Bias BiasOf(const Settings& config, std::string_view key, bool missing) {
  return config.Flag(key, missing) ? Bias::kOne : Bias::kNone;
}

Tensor Layer::Parameter(std::string_view name, const Shape& sizes, bool requires_grad) const {
  const auto within = b().Within(module_);
  return b().Parameter(name, net_->dtype(), sizes, requires_grad);
}

Tensor Layer::Tied(std::string_view name, Tensor parameter) const {
  const auto within = b().Within(module_);
  return b().Tie(name, parameter);
}

Tensor Layer::Buffer(std::string_view name, DType dtype, const Shape& sizes,
                     bool persistent) const {
  const auto within = b().Within(module_);
  return b().Buffer(name, dtype, sizes, persistent);
}

Linear::Linear(const Layer& parent, std::string_view name, std::int64_t in, std::int64_t out,
               Bias with_bias)
    : Layer(parent, name, "torch.nn.modules.linear.Linear"),
      weight(Parameter("weight", {out, in})),
      bias(with_bias == Bias::kOne ? Parameter("bias", {out}) : Tensor()) {}

Linear::Linear(const Layer& parent, std::string_view name, Tensor tied_weight)
    : Layer(parent, name, "torch.nn.modules.linear.Linear"), weight(Tied("weight", tied_weight)) {}

Linear::Linear(const Layer& parent, std::string_view name, std::int64_t in, std::int64_t out,
               const Ties& ties)
    : Layer(parent, name, "torch.nn.modules.linear.Linear"),
      weight(ties.weight.defined() ? Tied("weight", ties.weight) : Parameter("weight", {out, in})),
      bias(ties.bias.defined() ? Tied("bias", ties.bias) : Parameter("bias", {out})) {}

Tensor Linear::operator()(Tensor x) const {
  const auto call = Enter();
  return b().Call("aten::linear", x, weight, bias);
}

Embedding::Embedding(const Layer& parent, std::string_view name, std::int64_t count,
                     std::int64_t width, std::optional<std::int64_t> padding_index)
    : Layer(parent, name, "torch.nn.modules.sparse.Embedding"),
      weight(Parameter("weight", {count, width})),
      padding(padding_index) {}

Embedding::Embedding(const Layer& parent, std::string_view name, Tensor tied_weight,
                     std::optional<std::int64_t> padding_index)
    : Layer(parent, name, "torch.nn.modules.sparse.Embedding"),
      weight(Tied("weight", tied_weight)),
      padding(padding_index) {}

Tensor Embedding::operator()(Tensor indices) const {
  const auto call = Enter();
  return b().Call("aten::embedding", weight, indices, padding.value_or(-1));
}

LayerNorm::LayerNorm(const Layer& parent, std::string_view name, std::int64_t size, double epsilon,
                     Bias with_bias)
    : Layer(parent, name, "torch.nn.modules.normalization.LayerNorm"),
      weight(Parameter("weight", {size})),
      bias(with_bias == Bias::kOne ? Parameter("bias", {size}) : Tensor()),
      width(size),
      eps(epsilon) {}

Tensor LayerNorm::operator()(Tensor x) const {
  const auto call = Enter();
  return b().Call("aten::layer_norm", x, Shape{width}, weight, bias, eps);
}

Convolution::Convolution(const Layer& parent, std::string_view name, const Plan& with)
    : Layer(parent, name,
            with.kernel.size() == 1 ? "torch.nn.modules.conv.Conv1d"
                                    : "torch.nn.modules.conv.Conv2d"),
      plan(with) {
  Shape sizes{plan.out, plan.in / std::max<std::int64_t>(plan.groups, 1)};
  sizes.insert(sizes.end(), plan.kernel.begin(), plan.kernel.end());
  weight = Parameter("weight", sizes);
  if (plan.bias == Bias::kOne) bias = Parameter("bias", {plan.out});
  if (plan.stride.empty()) plan.stride.assign(plan.kernel.size(), 1);
  if (plan.padding.empty()) plan.padding.assign(plan.kernel.size(), 0);
}

Tensor Convolution::operator()(Tensor x) const {
  const auto call = Enter();
  const Shape dilation(plan.kernel.size(), 1);
  return b().Call(plan.kernel.size() == 1 ? "aten::conv1d" : "aten::conv2d", x, weight, bias,
                  plan.stride, plan.padding, dilation, plan.groups);
}

RmsNorm::RmsNorm(const Layer& parent, std::string_view name, std::string_view class_name,
                 std::int64_t width, double epsilon, RmsWeight weight_form)
    : Layer(parent, name, class_name),
      weight(Parameter("weight", {width})),
      eps(epsilon),
      form(weight_form) {}

Tensor RmsNorm::operator()(Tensor x) const {
  const auto call = Enter();
  const Tensor wide = Cast(net(), x, net().dtype(), DType::kFloat32);
  const Tensor square = b().Call("aten::pow.Tensor_Scalar", wide, 2);
  const Tensor mean = b().Call("aten::mean.dim", square, Shape{-1}, true);
  const Tensor scale = b().Call("aten::rsqrt", b().Call("aten::add.Tensor", mean, eps));
  const Tensor normed =
      b().Call("aten::mul.Tensor", form == RmsWeight::kOfNarrow ? x : wide, scale);
  Leave(net(), {wide});
  if (form == RmsWeight::kOneMore) {
    const Tensor more =
        b().Call("aten::add.Tensor", Cast(net(), weight, net().dtype(), DType::kFloat32), 1.0);
    const Tensor product = b().Call("aten::mul.Tensor", normed, more);
    Leave(net(), {normed});
    const Tensor found = b().Call("aten::type_as", product, x);
    Leave(net(), {product, x});
    return found;
  }
  if (form == RmsWeight::kOfWide) {
    const Tensor product = b().Call("aten::mul.Tensor", weight, normed);
    const Tensor found = Cast(net(), product, DType::kFloat32, net().dtype());
    Leave(net(), {product, normed, mean, x});
    return found;
  }
  const Tensor narrow = Cast(net(), normed, DType::kFloat32, net().dtype());
  const Tensor found = b().Call("aten::mul.Tensor", weight, narrow);
  Leave(net(), {normed, mean, x});
  return found;
}

Dropout::Dropout(const Layer& parent, std::string_view name, double probability)
    : Layer(parent, name, "torch.nn.modules.dropout.Dropout"), p(probability) {}

Tensor Dropout::operator()(Tensor x) const {
  const auto call = Enter();
  return b().Call("aten::dropout", x, p, net().options.training);
}

Activation::Activation(const Layer& parent, std::string_view name, std::string_view config_key,
                       std::string_view missing)
    : Activation(parent, name, Name{config_key, parent.net().config.Text(config_key, missing)}) {}

Activation::Activation(const Layer& parent, std::string_view name, const Name& activation)
    : Layer(parent, name,
            RowOf(parent.net().config, activation.config_key, activation.name)->class_name),
      row_(RowOf(parent.net().config, activation.config_key, activation.name)) {}

Tensor Activation::operator()(Tensor x) const {
  const auto call = Enter();
  return Apply(x);
}

Tensor Activation::Apply(Tensor x) const { return row_->apply(b(), x); }

Tensor Cast(const Net& net, Tensor x, DType from, DType to) {
  if (from == to) return x;
  return net.b.Call("aten::to.dtype", x, to);
}

}  // namespace steelyard::models
