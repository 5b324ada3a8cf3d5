// SPDX-License-Identifier: Apache-2.0
//
// modeling_convnext.py, of transformers 5.
#include <array>
#include <numeric>
#include <optional>
#include <string>

#include "models/registry.h"
#include "models/vision.h"

namespace steelyard::models {
namespace {

constexpr std::string_view kModule = "transformers.models.convnext.modeling_convnext.";
constexpr double kEps = 1e-6;  // of all norms but the last

std::string ClassOf(std::string_view name) { return std::string(kModule).append(name); }

struct ConvNextConfig {
  std::vector<std::int64_t> widths, depths;
  Patches patches;
  double eps, drop_path;
  bool scaled;
  std::int64_t layers() const {
    return std::accumulate(depths.begin(), depths.end(), std::int64_t{0});
  }
};

ConvNextConfig Read(const Settings& c) {
  ConvNextConfig config{.widths = {96, 192, 384, 768},
                        .depths = {3, 3, 9, 3},
                        .patches = PatchesOf(c, {.image = 224, .patch = 4}),
                        .eps = c.Real("layer_norm_eps", 1e-12),
                        .drop_path = c.Share("drop_path_rate", 0.0),
                        .scaled = c.Real("layer_scale_init_value", 1e-6) > 0.0};
  if (c.Has("hidden_sizes")) config.widths = c.Counts("hidden_sizes");
  if (c.Has("depths")) config.depths = c.Counts("depths");
  const auto stages = static_cast<std::size_t>(c.Count("num_stages", 4));
  for (const auto* list : {&config.widths, &config.depths}) {
    if (list->size() == stages && stages > 0) continue;
    c.Refuse(list == &config.depths ? "depths" : "hidden_sizes", "not one number for each stage");
    return {.widths = {1}, .depths = {0}, .patches = {}, .eps = 0, .drop_path = 0, .scaled = false};
  }
  return config;
}

// A LayerNorm over channels, which stand last or, in an image, first.
struct ChannelNorm : Layer {
  enum class Where : std::uint8_t { kFirst, kLast };
  ChannelNorm(const Layer& parent, std::string_view name, std::int64_t channels, Where stand)
      : Layer(parent, name, ClassOf("ConvNextLayerNorm")),
        weight(Parameter("weight", {channels})),
        bias(Parameter("bias", {channels})),
        width(channels),
        where(stand) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    if (where == Where::kFirst) x = b().Call("aten::permute", x, Shape{0, 2, 3, 1});
    x = b().Call("aten::layer_norm", x, Shape{width}, weight, bias, kEps);
    return where == Where::kFirst ? b().Call("aten::permute", x, Shape{0, 3, 1, 2}) : x;
  }
  Tensor weight, bias;
  std::int64_t width;
  Where where;
};

struct Embeddings : Layer {
  Embeddings(const Layer& parent, const ConvNextConfig& c)
      : Layer(parent, "embeddings", ClassOf("ConvNextEmbeddings")),
        patches(*this, "patch_embeddings", PatchPlan(c.patches, c.widths.front())),
        norm(*this, "layernorm", c.widths.front(), ChannelNorm::Where::kFirst) {}
  Tensor operator()(Tensor pixels) const {
    const auto call = Enter();
    return norm(patches(pixels));
  }
  Convolution patches;
  ChannelNorm norm;
};

struct ConvNextLayer : Layer {
  ConvNextLayer(const Layer& parent, const std::string& name, const ConvNextConfig& c,
                std::int64_t width, double drop_probability)
      : Layer(parent, name, ClassOf("ConvNextLayer")),
        scale(c.scaled ? Parameter("layer_scale_parameter", {width}) : Tensor()),
        depthwise(
            *this, "dwconv",
            {.in = width, .out = width, .kernel = {7, 7}, .padding = {3, 3}, .groups = width}),
        norm(*this, "layernorm", width, ChannelNorm::Where::kLast),
        up(*this, "pwconv1", width, 4 * width),
        act(*this, "act", "hidden_act", "gelu"),
        down(*this, "pwconv2", 4 * width, width),
        drop(*this, ClassOf("ConvNextDropPath"), drop_probability) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    Tensor seen = b().Call("aten::permute", depthwise(x), Shape{0, 2, 3, 1});
    seen = down(act(up(norm(seen))));
    if (scale.defined()) seen = b().Call("aten::mul.Tensor", scale, seen);
    seen = b().Call("aten::permute", seen, Shape{0, 3, 1, 2});
    return b().Call("aten::add.Tensor", x, drop(seen, 4));
  }
  Tensor scale;
  Convolution depthwise;
  ChannelNorm norm;
  Linear up;
  Activation act;
  Linear down;
  DropPath drop;
};

struct Stage : Layer {
  // `before` is how many layers there are in the stages before it.
  Stage(const Layer& parent, std::size_t number, const ConvNextConfig& c, std::int64_t before)
      : Layer(parent, "stages." + std::to_string(number), ClassOf("ConvNextStage")) {
    const std::int64_t width = c.widths[number];
    if (number > 0) {
      const std::int64_t in = c.widths[number - 1];
      norm.emplace(*this, "downsampling_layer.0", in, ChannelNorm::Where::kFirst);
      halve.emplace(*this, "downsampling_layer.1",
                    Convolution::Plan{.in = in, .out = width, .kernel = {2, 2}, .stride = {2, 2}});
    }
    const std::int64_t count = Admitted(net().config, "depths", c.depths[number]);
    layers.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      layers.emplace_back(*this, "layers." + std::to_string(i), c, width,
                          DropPathOf(c.drop_path, before + i, c.layers()));
    }
  }
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    if (norm) x = (*halve)((*norm)(x));
    for (const ConvNextLayer& layer : layers) x = layer(x);
    return x;
  }
  std::optional<ChannelNorm> norm;
  std::optional<Convolution> halve;
  std::vector<ConvNextLayer> layers;
};

struct Encoder : Layer {
  Encoder(const Layer& parent, const ConvNextConfig& c)
      : Layer(parent, "encoder", ClassOf("ConvNextEncoder")) {
    std::int64_t before = 0;
    stages.reserve(c.depths.size());
    for (std::size_t i = 0; i < c.depths.size(); before += c.depths[i++]) {
      stages.emplace_back(*this, i, c, before);
    }
  }
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    for (const Stage& stage : stages) x = stage(x);
    return x;
  }
  std::vector<Stage> stages;
};

struct Model : Layer {
  Model(const Layer& parent, std::string_view name, const ConvNextConfig& c)
      : Layer(parent, name, ClassOf("ConvNextModel")),
        embeddings(*this, c),
        encoder(*this, c),
        norm(*this, "layernorm", c.widths.back(), c.eps) {}
  // The image that is left, and its mean.
  std::array<Tensor, 2> operator()(Tensor pixels) const {
    const auto call = Enter();
    const Tensor x = encoder(embeddings(pixels));
    return {x, norm(b().Call("aten::mean.dim", x, Shape{-2, -1}))};
  }
  Embeddings embeddings;
  Encoder encoder;
  LayerNorm norm;
};

void Build(Net& net) {
  const ConvNextConfig c = Read(net.config);
  const Layer root(net);
  if (net.options.head == "Model") {
    const Model model(root, "", c);
    for (const Tensor out : model(ImageInput(net, c.patches))) net.b.Return(out);
    return;
  }
  const Model model(root, "convnext", c);
  const ImageClasses classes(root, c.widths.back());
  classes.Run(net, c.patches, [&](Tensor pixels) { return model(pixels)[1]; });
}

constexpr std::array<std::string_view, 2> kHeads{"ForImageClassification", "Model"};

}  // namespace

const Architecture kConvNext{.type = "convnext",
                             .prefix = "ConvNext",
                             .summary = "ConvNeXt",
                             .heads = kHeads,
                             .build = Build};

}  // namespace steelyard::models
