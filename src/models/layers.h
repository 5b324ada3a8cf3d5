// SPDX-License-Identifier: Apache-2.0
//
// The vocabulary that architectures are written in: PyTorch's modules and the few of transformers
// that many models share. A layer is made within its parent, which declares its parameters in
// PyTorch's order, and called like a function.
//
//   struct Mlp : Layer {
//     Mlp(const Layer& parent, int hidden, int inner)
//         : Layer(parent, "mlp", "LlamaMLP"), up(*this, "up_proj", hidden, inner), ... {}
//     Tensor operator()(Tensor x) const {
//       const auto call = Enter();
//       return down(act(up(x)));
//     }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.h"

namespace steelyard::models {

class Layer {
 public:
  // The model itself.
  explicit Layer(Net& net) : net_(&net) {}
  // Without a name it is its parent: a model that stands alone.
  Layer(const Layer& parent, std::string_view name, std::string_view class_name)
      : net_(parent.net_),
        module_(name.empty() ? parent.module_ : net_->b.Declare(parent.module_, name, class_name)) {
  }
  // With a sequence of its own: a decoder beside an encoder. `net` must outlive it.
  Layer(const Layer& parent, std::string_view name, std::string_view class_name, Net& net)
      : net_(&net), module_(net.b.Declare(parent.module_, name, class_name)) {}

  Net& net() const { return *net_; }
  Builder& b() const { return net_->b; }
  [[nodiscard]] Builder::Scope Enter() const { return net_->b.Enter(module_); }

 protected:
  // Of the model's dtype.
  Tensor Parameter(std::string_view name, const Shape& sizes, bool requires_grad = true) const;
  // A parameter of another layer under a name of this one.
  Tensor Tied(std::string_view name, Tensor parameter) const;
  Tensor Buffer(std::string_view name, DType dtype, const Shape& sizes, bool persistent) const;

 private:
  Net* net_;
  ModuleId module_ = 0;
};

// A count of layers, if it is one that memory holds; refuses others.
std::int64_t Admitted(const Settings& config, std::string_view what, std::int64_t count);

enum class Bias : std::uint8_t { kNone, kOne };
// As a flag of the config says, or its default.
Bias BiasOf(const Settings& config, std::string_view key, bool missing);

struct Linear : Layer {
  Linear(const Layer& parent, std::string_view name, std::int64_t in, std::int64_t out,
         Bias bias = Bias::kOne);
  // The same with the weight of another layer.
  Linear(const Layer& parent, std::string_view name, Tensor tied_weight);
  // With a bias, where either may be another layer's.
  struct Ties {
    Tensor weight = {}, bias = {};
  };
  Linear(const Layer& parent, std::string_view name, std::int64_t in, std::int64_t out,
         const Ties& ties);
  Tensor operator()(Tensor x) const;
  Tensor weight, bias;
};

struct Embedding : Layer {
  Embedding(const Layer& parent, std::string_view name, std::int64_t count, std::int64_t width,
            std::optional<std::int64_t> padding = {});
  // The same with the weight of another layer.
  Embedding(const Layer& parent, std::string_view name, Tensor tied_weight,
            std::optional<std::int64_t> padding = {});
  Tensor operator()(Tensor indices) const;
  Tensor weight;
  std::optional<std::int64_t> padding;
};

struct LayerNorm : Layer {
  LayerNorm(const Layer& parent, std::string_view name, std::int64_t width, double eps,
            Bias bias = Bias::kOne);
  Tensor operator()(Tensor x) const;
  Tensor weight, bias;
  std::int64_t width;
  double eps;
};

// Over images, or over lines where it has one size of each kind.
struct Convolution : Layer {
  struct Plan {
    std::int64_t in = 1, out = 1;
    Shape kernel;
    Shape stride = {}, padding = {};  // of ones and zeros where they are empty
    std::int64_t groups = 1;
    Bias bias = Bias::kOne;
  };
  Convolution(const Layer& parent, std::string_view name, const Plan& plan);
  Tensor operator()(Tensor x) const;
  Plan plan;
  Tensor weight, bias;
};

// x / rms(x), in float32, times a weight (LlamaRMSNorm and its likes) or times one more than a
// weight, before it leaves float32 (Gemma's), or times a weight before it does (OLMo 2's). T5's
// divides an x that was not made wide.
enum class RmsWeight : std::uint8_t { kPlain, kOneMore, kOfNarrow, kOfWide };
struct RmsNorm : Layer {
  RmsNorm(const Layer& parent, std::string_view name, std::string_view class_name,
          std::int64_t width, double eps, RmsWeight form = RmsWeight::kPlain);
  Tensor operator()(Tensor x) const;
  Tensor weight;
  double eps;
  RmsWeight form;
};

struct Dropout : Layer {
  Dropout(const Layer& parent, std::string_view name, double p);
  Tensor operator()(Tensor x) const;
  double p;
};

// What transformers' ACT2FN makes of a name in a config.
struct Activation : Layer {
  Activation(const Layer& parent, std::string_view name, std::string_view config_key,
             std::string_view missing);
  // The same for a name that is not simply the config's.
  struct Name {
    std::string_view config_key;
    std::string name;
  };
  Activation(const Layer& parent, std::string_view name, const Name& activation);
  Tensor operator()(Tensor x) const;
  // Where it is called, but is no module.
  Tensor Apply(Tensor x) const;

 private:
  const struct ActivationRow* row_;
};

// The layers of a torch.nn.ModuleList: "layers.0", "layers.1", ...
template <class Item, class... Args>
std::vector<Item> Repeated(const Layer& parent, std::string_view name, std::int64_t count,
                           const Args&... args) {
  const std::int64_t admitted = Admitted(parent.net().config, name, count);
  std::vector<Item> items;
  items.reserve(static_cast<std::size_t>(admitted));
  for (std::int64_t i = 0; i < admitted; ++i) {
    items.emplace_back(parent, std::string(name) + "." + std::to_string(i), args...);
  }
  return items;
}

// The same for layers that differ by their number, which they are given behind their name.
template <class Item, class... Args>
std::vector<Item> Numbered(const Layer& parent, std::string_view name, std::int64_t count,
                           const Args&... args) {
  const std::int64_t admitted = Admitted(parent.net().config, name, count);
  std::vector<Item> items;
  items.reserve(static_cast<std::size_t>(admitted));
  for (std::int64_t i = 0; i < admitted; ++i) {
    items.emplace_back(parent, std::string(name) + "." + std::to_string(i), i, args...);
  }
  return items;
}

// Layers of one kind, each of which is given what the one before it gave.
template <class Item>
struct Stack : Layer {
  struct Names {
    std::string_view name, class_name, items;
  };
  template <class... Args>
  Stack(const Layer& parent, const Names& names, std::int64_t count, const Args&... args)
      : Layer(parent, names.name, names.class_name),
        layers(Repeated<Item>(*this, names.items, count, args...)) {}
  template <class... With>
  Tensor operator()(Tensor x, const With&... with) const {
    const auto call = Enter();
    for (const Item& layer : layers) x = layer(x, with...);
    return x;
  }
  std::vector<Item> layers;
};

// `x.to(dtype)`: nothing where it is of that dtype.
Tensor Cast(const Net& net, Tensor x, DType from, DType to);

}  // namespace steelyard::models
