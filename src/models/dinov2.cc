// SPDX-License-Identifier: Apache-2.0
//
// modeling_dinov2.py, of transformers 5.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "models/registry.h"
#include "models/text.h"
#include "models/vision.h"

namespace steelyard::models {
namespace {

constexpr std::string_view kModule = "transformers.models.dinov2.modeling_dinov2.Dinov2";

std::string ClassOf(std::string_view name) { return std::string(kModule).append(name); }

struct DinoConfig {
  std::int64_t hidden, inner, layers;
  std::int64_t heads, width;
  Patches patches;
  double eps, dropout, attention_dropout, drop_path;
  Bias qkv_bias;
  bool gated, masks;
  std::int64_t tokens() const { return patches.grid().area() + 1; }
};

DinoConfig Read(const Settings& c) {
  const std::int64_t hidden = c.Size("hidden_size", 768);
  const std::int64_t heads = c.Size("num_attention_heads", 12);
  if (!c.Has("head_dim")) c.Quotient("hidden_size", hidden, "num_attention_heads", heads);
  const double ratio = c.Real("mlp_ratio", 4.0);
  if (!(ratio > 0.0 && ratio < 1024.0)) c.Refuse("mlp_ratio", "an MLP of no width");
  const bool gated = c.Flag("use_swiglu_ffn", false);
  auto inner = static_cast<std::int64_t>(static_cast<double>(hidden) * ratio);
  // Two thirds, up to the next multiple of 8.
  if (gated) inner = (inner * 2 / 3 + 7) / 8 * 8;
  const DinoConfig out{.hidden = hidden,
                       .inner = inner,
                       .layers = c.Layers("num_hidden_layers", 12),
                       .heads = heads,
                       .width = c.Count("head_dim", hidden / heads),
                       .patches = PatchesOf(c, {.image = 224, .patch = 14}),
                       .eps = c.Real("layer_norm_eps", 1e-6),
                       .dropout = c.Share("hidden_dropout_prob", 0.0),
                       .attention_dropout = c.Share("attention_probs_dropout_prob", 0.0),
                       .drop_path = c.Share("drop_path_rate", 0.0),
                       .qkv_bias = BiasOf(c, "qkv_bias", true),
                       .gated = gated,
                       .masks = c.Flag("use_mask_token", true)};
  if (out.patches.image.height != out.patches.image.width) {
    c.Refuse("image_size",
             "images that are not square, whose positions are found from others, are not built");
  }
  return out;
}

struct PatchEmbeddings : Layer {
  PatchEmbeddings(const Layer& parent, const DinoConfig& c)
      : Layer(parent, "patch_embeddings", ClassOf("PatchEmbeddings")),
        projection(*this, "projection", PatchPlan(c.patches, c.hidden)) {}
  Tensor operator()(Tensor pixels) const {
    const auto call = Enter();
    return AsTokens(net(), projection(pixels));
  }
  Convolution projection;
};

struct Embeddings : Layer {
  Embeddings(const Layer& parent, const DinoConfig& c)
      : Layer(parent, "embeddings", ClassOf("Embeddings")),
        first(Parameter("cls_token", {1, 1, c.hidden})),
        mask(c.masks ? Parameter("mask_token", {1, c.hidden}) : Tensor()),
        positions(Parameter("position_embeddings", {1, c.tokens(), c.hidden})),
        patches(*this, c),
        dropout(*this, "dropout", c.dropout) {}
  Tensor operator()(Tensor pixels) const {
    const auto call = Enter();
    const Tensor seen = patches(pixels);
    const Tensor wide = b().Call("aten::expand", first, Shape{net().batch, -1, -1});
    const Tensor all = b().Call("aten::cat", std::vector<Tensor>{wide, seen}, 1);
    return dropout(b().Call("aten::add.Tensor", all, positions));
  }
  Tensor first, mask, positions;
  PatchEmbeddings patches;
  Dropout dropout;
};

struct LayerScale : Layer {
  LayerScale(const Layer& parent, std::string_view name, std::int64_t hidden)
      : Layer(parent, name, ClassOf("LayerScale")), factor(Parameter("lambda1", {hidden})) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    return b().Call("aten::mul.Tensor", x, factor);
  }
  Tensor factor;
};

struct SwigluMlp : Layer {
  SwigluMlp(const Layer& parent, const DinoConfig& c)
      : Layer(parent, "mlp", ClassOf("SwiGLUFFN")),
        gate(*this, "gate_proj", c.hidden, c.inner),
        up(*this, "up_proj", c.hidden, c.inner),
        down(*this, "down_proj", c.inner, c.hidden),
        act(*this, "act_fn", Activation::Name{"", "silu"}) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    const Tensor gated = act(gate(x));
    return down(b().Call("aten::mul.Tensor", gated, up(x)));
  }
  Linear gate, up, down;
  Activation act;
};

struct EncoderLayer : Layer {
  EncoderLayer(const Layer& parent, const std::string& name, const DinoConfig& config)
      : Layer(parent, name, ClassOf("Layer")),
        c(config),
        before(*this, "norm1", c.hidden, c.eps),
        attention(*this, {.name = "attention",
                          .class_name = ClassOf("Attention"),
                          .hidden = c.hidden,
                          .heads = c.heads,
                          .width = c.width,
                          .dropout = c.attention_dropout,
                          .qkv_bias = c.qkv_bias,
                          .wide_softmax = false}),
        first_scale(*this, "layer_scale1", c.hidden),
        drop_path(*this, ClassOf("DropPath"), c.drop_path),
        after(*this, "norm2", c.hidden, c.eps) {
    if (c.gated) {
      gated.emplace(*this, c);
    } else {
      plain.emplace(*this, ClassOf("MLP"), c.hidden, c.inner, net().config, "gelu");
    }
    second_scale.emplace(*this, "layer_scale2", c.hidden);
  }
  Tensor operator()(Tensor x, Tensor mask) const {
    const auto call = Enter();
    const Tensor seen = first_scale(attention(before(x), mask, net().batch, c.tokens()));
    x = b().Call("aten::add.Tensor", drop_path(seen, 3), x);
    const Tensor normed = after(x);
    const Tensor found = (*second_scale)(gated ? (*gated)(normed) : (*plain)(normed));
    return b().Call("aten::add.Tensor", drop_path(found, 3), x);
  }
  const DinoConfig& c;
  LayerNorm before;
  VisionAttention attention;
  LayerScale first_scale;
  DropPath drop_path;
  LayerNorm after;
  std::optional<SwigluMlp> gated;
  std::optional<TwoLayerMlp> plain;
  std::optional<LayerScale> second_scale;
};

struct Model : Layer {
  Model(const Layer& parent, std::string_view name, const DinoConfig& config)
      : Layer(parent, name, ClassOf("Model")),
        c(config),
        embeddings(*this, c),
        encoder(*this, {"encoder", ClassOf("Encoder"), "layer"}, c.layers, c),
        norm(*this, "layernorm", c.hidden, c.eps) {}
  Tensor operator()(Tensor pixels) const {
    const auto call = Enter();
    const Tensor x = embeddings(pixels);
    const Tensor mask = FullMask(net(), c.tokens());
    return norm(encoder(x, mask));
  }
  const DinoConfig& c;
  Embeddings embeddings;
  Stack<EncoderLayer> encoder;
  LayerNorm norm;
};

void Build(Net& net) {
  const DinoConfig c = Read(net.config);
  const Layer root(net);
  const auto first = [&](Tensor x) { return net.b.Call("aten::select.int", x, 1, 0); };
  if (net.options.head == "Model") {
    const Model model(root, "", c);
    const Tensor x = model(ImageInput(net, c.patches));
    net.b.Return(x);
    net.b.Return(first(x));
    return;
  }
  const Model model(root, "dinov2", c);
  const ImageClasses classes(root, 2 * c.hidden);
  classes.Run(net, c.patches, [&](Tensor pixels) {
    const Tensor x = model(pixels);
    const Tensor token = first(x);
    const Tensor rest = net.b.Call("aten::slice.Tensor", x, 1, 1, c.tokens());
    const Tensor mean = net.b.Call("aten::mean.dim", rest, Shape{1});
    return net.b.Call("aten::cat", std::vector<Tensor>{token, mean}, 1);
  });
}

constexpr std::array<std::string_view, 2> kHeads{"ForImageClassification", "Model"};

}  // namespace

const Architecture kDinov2{.type = "dinov2",
                           .prefix = "Dinov2",
                           .summary = "DINOv2",
                           .heads = kHeads,
                           .build = Build,
                           .flash = true};

}  // namespace steelyard::models
