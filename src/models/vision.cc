// SPDX-License-Identifier: Apache-2.0
//
// Patches are cut by a convolution whose stride is its kernel; what is left over at an edge is not
// seen. Whether keys come before queries, and whether heads are split at once or when all three are
// there, is each model's own: it decides the order of parameters and of allocations.

#include "models/vision.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/heads.h"
#include "models/text.h"

namespace steelyard::models {
namespace {

std::int64_t ClassCount(const Settings& config) {
  const std::int64_t count = LabelCount(config);
  if (count == 0) config.Refuse("id2label", "a classifier without classes");
  return count;
}

}  // namespace

Extent ExtentOf(const Settings& config, std::string_view key, std::int64_t missing) {
  if (!config.IsList(key)) {
    const std::int64_t size = config.Count(key, missing);
    return {.height = size, .width = size};
  }
  const std::vector<std::int64_t> sizes = config.Counts(key);
  if (sizes.size() == 2) return {.height = sizes[0], .width = sizes[1]};
  config.Refuse(key, "neither a number nor two");
  return {};
}

Extent Patches::grid() const {
  return {.height = image.height / std::max<std::int64_t>(patch.height, 1),
          .width = image.width / std::max<std::int64_t>(patch.width, 1)};
}

Patches PatchesOf(const Settings& config, const PatchDefaults& missing) {
  const Patches patches{.channels = config.Size("num_channels", 3),
                        .image = ExtentOf(config, "image_size", missing.image),
                        .patch = ExtentOf(config, "patch_size", missing.patch)};
  if (patches.patch.area() == 0) config.Refuse("patch_size", "a patch without pixels");
  if (patches.grid().area() == 0) config.Refuse("patch_size", "larger than the image");
  return patches;
}

Tensor ImageInput(Net& net, const Patches& patches) {
  net.batch = net.b.Symbol({.name = "batch", .example = 1});
  return ImageInputOfBatch(net, patches);
}

Tensor ImageInputOfBatch(const Net& net, const Patches& patches) {
  return net.b.Input("pixel_values", net.dtype(),
                     {net.batch, patches.channels, patches.image.height, patches.image.width});
}

Convolution::Plan PatchPlan(const Patches& patches, std::int64_t hidden, Bias bias) {
  const Shape size{patches.patch.height, patches.patch.width};
  return {.in = patches.channels, .out = hidden, .kernel = size, .stride = size, .bias = bias};
}

Tensor AsTokens(const Net& net, Tensor image) {
  return net.b.Call("aten::transpose.int", net.b.Call("aten::flatten.using_ints", image, 2), 1, 2);
}

VisionAttention::VisionAttention(const Layer& parent, const Plan& plan)
    : Layer(parent, plan.name, plan.class_name),
      plan_(plan),
      inputs_([&] {
        const std::array<std::string_view, 3> names =
            plan.keys_first ? std::array<std::string_view, 3>{"k_proj", "v_proj", "q_proj"}
                            : std::array<std::string_view, 3>{"q_proj", "k_proj", "v_proj"};
        std::vector<Linear> inputs;
        inputs.reserve(names.size());
        for (const std::string_view name : names) {
          inputs.emplace_back(*this, name, plan.hidden, plan.heads * plan.width, plan.qkv_bias);
        }
        return inputs;
      }()),
      output_(*this, plan.output, plan.heads * plan.width, plan.hidden) {}

Tensor VisionAttention::Run(Tensor x, const std::function<Tensor()>& mask, Builder::Size rows,
                            Builder::Size tokens) const {
  const auto call = Enter();
  const auto split = [&](Tensor of) {
    const Tensor apart = b().Call("aten::view", of, Shape{rows, tokens, -1, plan_.width});
    return b().Call("aten::transpose.int", apart, 1, 2);
  };
  std::array<Tensor, 3> qkv;
  for (std::size_t i = 0; i < qkv.size(); ++i) {
    qkv[i] = inputs_[plan_.keys_first ? (i + 2) % qkv.size() : i](x);
    if (!plan_.keys_first) qkv[i] = split(qkv[i]);
  }
  if (plan_.keys_first) std::ranges::transform(qkv, qkv.begin(), split);
  const Tensor seen =
      Attend(net(), {.query = qkv[0],
                     .key = qkv[1],
                     .value = qkv[2],
                     .mask = mask(),
                     .heads = {.query = plan_.heads, .key = plan_.heads, .width = plan_.width},
                     .scale = 1.0 / std::sqrt(static_cast<double>(plan_.width)),
                     .dropout = plan_.dropout,
                     .backwards = plan_.backwards,
                     .wide_softmax = plan_.wide_softmax});
  return output_(b().Call("aten::reshape", seen, Shape{rows, tokens, -1}));
}

DropPath::DropPath(const Layer& parent, std::string_view class_name, double probability)
    : Layer(parent, "drop_path",
            probability > 0.0 ? class_name : "torch.nn.modules.linear.Identity"),
      p(probability) {}

Tensor DropPath::operator()(Tensor x, std::size_t rank) const {
  if (p == 0.0 || !net().options.training) return x;
  const auto call = Enter();
  Shape each(rank, 1);
  each.front() = net().batch;
  const double kept = 1.0 - p;
  Tensor stays = b().Call("aten::rand", each, Builder::Named("dtype", net().dtype()));
  stays = b().Call("aten::floor", b().Call("aten::add.Tensor", stays, kept));
  return b().Call("aten::mul.Tensor", b().Call("aten::div.Tensor", x, kept), stays);
}

double DropPathOf(double last, std::int64_t layer, std::int64_t count) {
  if (count < 2) return 0.0;
  return last * static_cast<double>(layer) / static_cast<double>(count - 1);
}

TwoLayerMlp::TwoLayerMlp(const Layer& parent, std::string_view class_name, std::int64_t hidden,
                         std::int64_t inner, const Settings& config, std::string_view activation)
    : Layer(parent, "mlp", class_name),
      act(*this, "activation_fn",
          Activation::Name{"hidden_act", config.Text("hidden_act", activation)}),
      in(*this, "fc1", hidden, inner),
      out(*this, "fc2", inner, hidden) {}

Tensor TwoLayerMlp::operator()(Tensor x) const {
  const auto call = Enter();
  return out(act(in(x)));
}

ImageClasses::ImageClasses(const Layer& root, std::int64_t hidden)
    : classes_(ClassCount(root.net().config)), classifier_(root, "classifier", hidden, classes_) {
  const Settings& config = root.net().config;
  const std::string problem = config.Text("problem_type", "single_label_classification");
  if (problem != "single_label_classification" || classes_ == 1) {
    config.Refuse(classes_ == 1 ? "id2label" : "problem_type",
                  "only classes of which an image has one are built", "They are two or more.");
  }
}

void ImageClasses::Run(Net& net, const Patches& patches,
                       const std::function<Tensor(Tensor pixels)>& model) const {
  Builder& b = net.b;
  const Tensor pixels = ImageInput(net, patches);
  const Tensor labels =
      net.options.labelled ? b.Input("labels", DType::kInt64, {net.batch}) : Tensor();
  const Tensor logits = classifier_(model(pixels));
  if (labels.defined()) {
    const Tensor flat = b.Call("aten::view", logits, Shape{-1, classes_});
    b.Return(b.Call("aten::cross_entropy_loss", flat, b.Call("aten::view", labels, Shape{-1})));
  }
  b.Return(logits);
}

}  // namespace steelyard::models
