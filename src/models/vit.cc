// SPDX-License-Identifier: Apache-2.0
//
// modeling_vit.py and modeling_deit.py, of transformers 5. DeiT's differs by a second token, which
// stands for what a teacher says.
#include <array>
#include <optional>
#include <string>

#include "models/heads.h"
#include "models/registry.h"
#include "models/text.h"
#include "models/vision.h"

namespace steelyard::models {
namespace {

constexpr std::string_view kWithTeacher = "ForImageClassificationWithTeacher";

struct VitConfig {
  std::string classes;  // what its classes' names begin with
  bool distilled = false;
  std::int64_t hidden, inner, layers, pooled;
  std::int64_t heads, width;
  Patches patches;
  double eps, dropout, attention_dropout;
  Bias qkv_bias;
  std::int64_t tokens() const { return patches.grid().area() + (distilled ? 2 : 1); }
};

VitConfig Read(const Settings& c, std::string_view classes) {
  const std::int64_t hidden = c.Size("hidden_size", 768);
  const std::int64_t heads = c.Size("num_attention_heads", 12);
  if (!c.Has("head_dim")) c.Quotient("hidden_size", hidden, "num_attention_heads", heads);
  const std::int64_t pooled = c.Count("pooler_output_size", 0);
  return {.classes = std::string(classes),
          .hidden = hidden,
          .inner = c.Size("intermediate_size", 3072),
          .layers = c.Layers("num_hidden_layers", 12),
          .pooled = pooled == 0 ? hidden : pooled,
          .heads = heads,
          .width = c.Count("head_dim", hidden / heads),
          .patches = PatchesOf(c, {.image = 224, .patch = 16}),
          .eps = c.Real("layer_norm_eps", 1e-12),
          .dropout = c.Share("hidden_dropout_prob", 0.0),
          .attention_dropout = c.Share("attention_probs_dropout_prob", 0.0),
          .qkv_bias = BiasOf(c, "qkv_bias", true)};
}

struct PatchEmbeddings : Layer {
  PatchEmbeddings(const Layer& parent, const VitConfig& c)
      : Layer(parent, "patch_embeddings", c.classes + "PatchEmbeddings"),
        projection(*this, "projection", PatchPlan(c.patches, c.hidden)) {}
  Tensor operator()(Tensor pixels) const {
    const auto call = Enter();
    return AsTokens(net(), projection(pixels));
  }
  Convolution projection;
};

struct Embeddings : Layer {
  Embeddings(const Layer& parent, const VitConfig& c)
      : Layer(parent, "embeddings", c.classes + "Embeddings"),
        first(Parameter("cls_token", {1, 1, c.hidden})),
        positions(Parameter("position_embeddings", {1, c.tokens(), c.hidden})),
        teacher(c.distilled ? Parameter("distillation_token", {1, 1, c.hidden}) : Tensor()),
        patches(*this, c),
        dropout(*this, "dropout", c.dropout) {}
  Tensor operator()(Tensor pixels) const {
    const auto call = Enter();
    const Tensor seen = patches(pixels);
    std::vector<Tensor> parts;
    for (const Tensor& token : {first, teacher}) {
      if (!token.defined()) continue;
      parts.push_back(b().Call("aten::expand", token, Shape{net().batch, -1, -1}));
    }
    parts.push_back(seen);
    const Tensor all = b().Call("aten::cat", parts, 1);
    return dropout(b().Call("aten::add.Tensor", all, positions));
  }
  Tensor first, positions, teacher;
  PatchEmbeddings patches;
  Dropout dropout;
};

struct EncoderLayer : Layer {
  EncoderLayer(const Layer& parent, const std::string& name, const VitConfig& config)
      : Layer(parent, name, config.classes + "Layer"),
        c(config),
        attention(*this, {.name = "attention",
                          .class_name = c.classes + "Attention",
                          .hidden = c.hidden,
                          .heads = c.heads,
                          .width = c.width,
                          .dropout = c.attention_dropout,
                          .qkv_bias = c.qkv_bias}),
        before(*this, "layernorm_before", c.hidden, c.eps),
        after(*this, "layernorm_after", c.hidden, c.eps),
        mlp(*this, c.classes + "MLP", c.hidden, c.inner, net().config, "gelu"),
        dropout(*this, "dropout", c.dropout) {}
  Tensor operator()(Tensor x, Tensor mask) const {
    const auto call = Enter();
    const Tensor seen = dropout(attention(before(x), mask, net().batch, c.tokens()));
    x = b().Call("aten::add.Tensor", seen, x);
    return b().Call("aten::add.Tensor", dropout(mlp(after(x))), x);
  }
  const VitConfig& c;
  VisionAttention attention;
  LayerNorm before, after;
  TwoLayerMlp mlp;
  Dropout dropout;
};

struct Pooler : Layer {
  Pooler(const Layer& parent, const VitConfig& c)
      : Layer(parent, "pooler", c.classes + "Pooler"),
        dense(*this, "dense", c.hidden, c.pooled),
        act(*this, "activation", "pooler_act", "tanh") {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    return act(dense(b().Call("aten::select.int", x, 1, 0)));
  }
  Linear dense;
  Activation act;
};

struct Model : Layer {
  Model(const Layer& parent, std::string_view name, const VitConfig& config)
      : Layer(parent, name, config.classes + "Model"),
        c(config),
        embeddings(*this, c),
        layers(Repeated<EncoderLayer>(*this, "layers", c.layers, c)),
        norm(*this, "layernorm", c.hidden, c.eps) {
    if (name.empty()) pooler.emplace(*this, c);
  }
  // The hidden states; those of the first token, pooled, where the model stands alone.
  std::array<Tensor, 2> operator()(Tensor pixels) const {
    const auto call = Enter();
    Tensor x = embeddings(pixels);
    const Tensor mask = FullMask(net(), c.tokens());
    for (const EncoderLayer& layer : layers) x = layer(x, mask);
    x = norm(x);
    return {x, pooler ? (*pooler)(x) : Tensor()};
  }
  const VitConfig& c;
  Embeddings embeddings;
  std::vector<EncoderLayer> layers;
  LayerNorm norm;
  std::optional<Pooler> pooler;
};

// The class by what both tokens say, each by its own layer.
void BuildWithTeacher(Net& net, const VitConfig& c, const Layer& root) {
  const Model model(root, "deit", c);
  const std::int64_t classes = LabelCount(net.config);
  const Linear own(root, "cls_classifier", c.hidden, classes);
  const Linear teacher(root, "distillation_classifier", c.hidden, classes);
  const Tensor seen = model(ImageInput(net, c.patches))[0];
  const auto token = [&](std::int64_t at) { return net.b.Call("aten::select.int", seen, 1, at); };
  const Tensor first = own(token(0)), second = teacher(token(1));
  const Tensor sum = net.b.Call("aten::add.Tensor", first, second);
  for (const Tensor out : {net.b.Call("aten::div.Tensor", sum, 2), first, second}) {
    net.b.Return(out);
  }
}

void BuildOf(Net& net, const VitConfig& c, std::string_view base) {
  const Layer root(net);
  if (net.options.head == "Model") {
    const Model model(root, "", c);
    for (const Tensor out : model(ImageInput(net, c.patches))) net.b.Return(out);
    return;
  }
  if (net.options.head == kWithTeacher) return BuildWithTeacher(net, c, root);
  const Model model(root, base, c);
  const ImageClasses classes(root, c.hidden);
  classes.Run(net, c.patches, [&](Tensor pixels) {
    return net.b.Call("aten::select.int", model(pixels)[0], 1, 0);
  });
}

void BuildVit(Net& net) {
  BuildOf(net, Read(net.config, "transformers.models.vit.modeling_vit.ViT"), "vit");
}

void BuildDeit(Net& net) {
  VitConfig c = Read(net.config, "transformers.models.deit.modeling_deit.DeiT");
  c.distilled = true;
  BuildOf(net, c, "deit");
}

constexpr std::array<std::string_view, 2> kHeads{"ForImageClassification", "Model"};
constexpr std::array<std::string_view, 3> kDeitHeads{"ForImageClassification", kWithTeacher,
                                                     "Model"};

}  // namespace

const Architecture kVit{.type = "vit",
                        .prefix = "ViT",
                        .summary = "Vision Transformer",
                        .heads = kHeads,
                        .build = BuildVit,
                        .flash = true};
const Architecture kDeit{.type = "deit",
                         .prefix = "DeiT",
                         .summary = "DeiT: a Vision Transformer with a teacher",
                         .heads = kDeitHeads,
                         .build = BuildDeit,
                         .flash = true};

}  // namespace steelyard::models
