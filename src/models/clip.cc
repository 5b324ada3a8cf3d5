// SPDX-License-Identifier: Apache-2.0
//
// modeling_clip.py, of transformers 5.
#include <array>
#include <functional>
#include <limits>
#include <string>

#include "models/registry.h"
#include "models/text.h"
#include "models/vision.h"

namespace steelyard::models {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kModule = "transformers.models.clip.modeling_clip.";

std::string ClassOf(std::string_view name) { return std::string(kModule).append(name); }

// Of one of the two encoders.
struct EncoderConfig {
  const Settings& settings;
  std::int64_t hidden, inner, layers, heads;
  double eps, dropout;
  bool backwards = false;  // each token sees those before it
  std::int64_t width() const { return hidden / heads; }
};

struct EncoderDefaults {
  std::int64_t hidden, inner, heads;
};

EncoderConfig ReadEncoder(const Settings& c, const EncoderDefaults& missing) {
  const EncoderConfig config{.settings = c,
                             .hidden = c.Size("hidden_size", missing.hidden),
                             .inner = c.Size("intermediate_size", missing.inner),
                             .layers = c.Layers("num_hidden_layers", 12),
                             .heads = c.Size("num_attention_heads", missing.heads),
                             .eps = c.Real("layer_norm_eps", 1e-5),
                             .dropout = c.Share("attention_dropout", 0.0)};
  c.Quotient("hidden_size", config.hidden, "num_attention_heads", config.heads);
  return config;
}

struct TextConfig : EncoderConfig {
  explicit TextConfig(const Settings& c)
      : EncoderConfig(ReadEncoder(c, {.hidden = 512, .inner = 2048, .heads = 8})),
        vocabulary(c.Size("vocab_size", 49408)),
        positions(c.Size("max_position_embeddings", 77)),
        last(c.IsList("eos_token_id") ? 0 : c.Count("eos_token_id", 49407)) {
    backwards = true;
    if (c.IsList("eos_token_id")) c.Refuse("eos_token_id", "more than one token that ends a text");
  }
  std::int64_t vocabulary, positions;
  std::int64_t last;  // the token that ends a text
};

struct VisionConfig : EncoderConfig {
  explicit VisionConfig(const Settings& c)
      : EncoderConfig(ReadEncoder(c, {.hidden = 768, .inner = 3072, .heads = 12})),
        patches(PatchesOf(c, {.image = 224, .patch = 32})) {
    for (const std::string_view key : {"image_size", "patch_size"}) {
      if (c.IsList(key)) c.Refuse(key, "images and patches of CLIP are square: one number");
    }
  }
  Patches patches;
  std::int64_t tokens() const { return patches.grid().area() + 1; }
};

struct EncoderLayer : Layer {
  EncoderLayer(const Layer& parent, const std::string& name, const EncoderConfig& c)
      : Layer(parent, name, ClassOf("CLIPEncoderLayer")),
        attention(*this, {.name = "self_attn",
                          .class_name = ClassOf("CLIPAttention"),
                          .output = "out_proj",
                          .hidden = c.hidden,
                          .heads = c.heads,
                          .width = c.width(),
                          .dropout = c.dropout,
                          .keys_first = true,
                          .backwards = c.backwards}),
        before(*this, "layer_norm1", c.hidden, c.eps),
        mlp(*this, ClassOf("CLIPMLP"), c.hidden, c.inner, c.settings, "quick_gelu"),
        between(*this, "layer_norm2", c.hidden, c.eps) {}
  Tensor operator()(Tensor x, Tensor mask, Builder::Size tokens) const {
    const auto call = Enter();
    x = b().Call("aten::add.Tensor", x, attention(before(x), mask, net().batch, tokens));
    return b().Call("aten::add.Tensor", x, mlp(between(x)));
  }
  VisionAttention attention;
  LayerNorm before;
  TwoLayerMlp mlp;
  LayerNorm between;
};

struct Encoder : Stack<EncoderLayer> {
  Encoder(const Layer& parent, const EncoderConfig& c)
      : Stack(parent, {.name = "encoder", .class_name = ClassOf("CLIPEncoder"), .items = "layers"},
              c.layers, c) {}
};

struct TextEmbeddings : Layer {
  TextEmbeddings(const Layer& parent, const TextConfig& c)
      : Layer(parent, "embeddings", ClassOf("CLIPTextEmbeddings")),
        tokens(*this, "token_embedding", c.vocabulary, c.hidden),
        positions(*this, "position_embedding", c.positions, c.hidden),
        numbers(Buffer("position_ids", DType::kInt64, {1, c.positions}, false)) {}
  Tensor operator()(Tensor ids) const {
    const auto call = Enter();
    const Tensor used = b().Call("aten::slice.Tensor", numbers, 1, 0, net().seq);
    const Tensor meaning = tokens(ids);
    return b().Call("aten::add.Tensor", meaning, positions(used));
  }
  Embedding tokens, positions;
  Tensor numbers;
};

// What an encoder finds: of each token, and of the whole.
struct Found {
  Tensor each, whole;
};

struct TextModel : Layer {
  TextModel(const Layer& parent, std::string_view name, const TextConfig& config)
      : Layer(parent, name, ClassOf("CLIPTextModel")),
        c(config),
        embeddings(*this, c),
        encoder(*this, c),
        norm(*this, "final_layer_norm", c.hidden, c.eps) {}
  Found operator()(Tensor ids) const {
    const auto call = Enter();
    ids = b().Call("aten::view", ids, Shape{-1, net().seq});
    Tensor x = embeddings(ids);
    const Tensor mask = CausalMask(net());
    x = norm(encoder(x, mask, net().seq));
    return {.each = x, .whole = AtEnd(x, ids)};
  }
  // What stands at the token that ends the text; older configs name another, and the highest is it.
  Tensor AtEnd(Tensor x, Tensor ids) const {
    const Tensor texts = b().Call("aten::arange", net().batch);
    Tensor ends = b().Call("aten::to.dtype", ids, DType::kInt32);
    if (c.last != 2) {
      ends = b().Call("aten::to.dtype", b().Call("aten::eq.Scalar", ends, c.last), DType::kInt32);
    }
    const Tensor end = b().Call("aten::argmax", ends, -1);
    return b().Call("aten::index.Tensor", x, std::vector<Tensor>{texts, end});
  }
  const TextConfig& c;
  TextEmbeddings embeddings;
  Encoder encoder;
  LayerNorm norm;
};

struct VisionEmbeddings : Layer {
  VisionEmbeddings(const Layer& parent, const VisionConfig& c)
      : Layer(parent, "embeddings", ClassOf("CLIPVisionEmbeddings")),
        first(Parameter("class_embedding", {c.hidden})),
        patches(*this, "patch_embedding", PatchPlan(c.patches, c.hidden, Bias::kNone)),
        positions(*this, "position_embedding", c.tokens(), c.hidden),
        numbers(Buffer("position_ids", DType::kInt64, {1, c.tokens()}, false)) {}
  Tensor operator()(Tensor pixels) const {
    const auto call = Enter();
    const Tensor seen = AsTokens(net(), patches(pixels));
    const Tensor wide = b().Call("aten::expand", first, Shape{net().batch, 1, -1});
    const Tensor all = b().Call("aten::cat", std::vector<Tensor>{wide, seen}, 1);
    return b().Call("aten::add.Tensor", all, positions(numbers));
  }
  Tensor first;
  Convolution patches;
  Embedding positions;
  Tensor numbers;
};

struct VisionModel : Layer {
  VisionModel(const Layer& parent, std::string_view name, const VisionConfig& config)
      : Layer(parent, name, ClassOf("CLIPVisionModel")),
        c(config),
        embeddings(*this, c),
        before(*this, "pre_layrnorm", c.hidden, c.eps),
        encoder(*this, c),
        after(*this, "post_layernorm", c.hidden, c.eps) {}
  Found operator()(Tensor pixels) const {
    const auto call = Enter();
    const Tensor x = encoder(before(embeddings(pixels)), Tensor(), c.tokens());
    return {.each = x, .whole = after(b().Call("aten::select.int", x, 1, 0))};
  }
  const VisionConfig& c;
  VisionEmbeddings embeddings;
  LayerNorm before;
  Encoder encoder;
  LayerNorm after;
};

struct ClipModel : Layer {
  ClipModel(const Layer& root, const TextConfig& text_config, const VisionConfig& vision_config,
            std::int64_t projected)
      : Layer(root, "", ""),
        scale(Parameter("logit_scale", {})),
        text(*this, "text_model", text_config),
        vision(*this, "vision_model", vision_config),
        project_image(*this, "visual_projection", vision_config.hidden, projected, Bias::kNone),
        project_text(*this, "text_projection", text_config.hidden, projected, Bias::kNone) {}

  void operator()(Tensor ids, Tensor pixels) const {
    const Found image = Projected(vision(pixels), project_image);
    const Found words = Projected(text(ids), project_text);
    const Tensor image_unit = OfLengthOne(image.whole);
    const Tensor text_unit = OfLengthOne(words.whole);
    const Tensor turned = b().Call("aten::t", image_unit);
    const Tensor product = b().Call("aten::matmul", text_unit, turned);
    const Tensor of_texts = b().Call("aten::mul.Tensor", product, b().Call("aten::exp", scale));
    const Tensor of_images = b().Call("aten::t", of_texts);
    if (net().options.labelled) b().Return(Loss(of_texts));
    for (const Tensor out : {of_images, of_texts, text_unit, image_unit, words.each, words.whole,
                             image.each, image.whole}) {
      b().Return(out);
    }
  }
  static Found Projected(Found found, const Linear& onto) {
    return {.each = found.each, .whole = onto(found.whole)};
  }
  Tensor OfLengthOne(Tensor x) const {
    const Tensor square = b().Call("aten::pow.Tensor_Scalar", x, 2);
    const Tensor sum = b().Call("aten::sum.dim_IntList", square, Shape{-1}, true);
    return b().Call("aten::div.Tensor", x, b().Call("aten::pow.Tensor_Scalar", sum, 0.5));
  }
  Tensor Loss(Tensor of_texts) const {
    const auto against_own = [&](Tensor logits) {
      const Tensor own = b().Call("aten::arange", net().batch);
      return b().Call("aten::cross_entropy_loss", logits, own);
    };
    const Tensor caption = against_own(of_texts);
    const Tensor image = against_own(b().Call("aten::numpy_T", of_texts));
    return b().Call("aten::div.Tensor", b().Call("aten::add.Tensor", caption, image), 2.0);
  }

  Tensor scale;
  TextModel text;
  VisionModel vision;
  Linear project_image, project_text;
};

// An older key holds the whole config of an encoder, and wins.
std::string_view Key(const Settings& config, std::string_view old, std::string_view key) {
  return config.Has(old) ? old : key;
}

void Build(Net& net) {
  const Settings& all = net.config;
  const Settings of_text = all.Within(Key(all, "text_config_dict", "text_config"));
  const Settings of_vision = all.Within(Key(all, "vision_config_dict", "vision_config"));
  const VisionConfig vision(of_vision);
  const Layer root(net);
  if (net.options.head == "Model") {
    const TextConfig text(of_text);
    const ClipModel model(root, text, vision, all.Size("projection_dim", 512));
    const Tensor ids = TokenInput(net, text.positions);
    model(ids, ImageInputOfBatch(net, vision.patches));
    return;
  }
  const VisionModel model(root, "vision_model", vision);
  const ImageClasses classes(root, vision.hidden);
  classes.Run(net, vision.patches, [&](Tensor pixels) {
    const Tensor patches = net.b.Call("aten::slice.Tensor", model(pixels).each, 1, 1, kEnd);
    return net.b.Call("aten::mean.dim", patches, Shape{1});
  });
}

// One of the encoders alone, with or without the projection.
template <class Model, class Config>
void BuildAlone(Net& net, std::string_view base, std::string_view projection, const Config& config,
                const std::function<Tensor()>& input) {
  const Layer root(net);
  const bool projected = net.options.head == "ModelWithProjection";
  const Model model(root, projected ? base : "", config);
  if (!projected) {
    const Found found = model(input());
    net.b.Return(found.each);
    return net.b.Return(found.whole);
  }
  const Linear onto(root, projection, config.hidden, net.config.Size("projection_dim", 512),
                    Bias::kNone);
  const Found found = model(input());
  net.b.Return(onto(found.whole));
  net.b.Return(found.each);
}

void BuildText(Net& net) {
  const TextConfig config(net.config);
  BuildAlone<TextModel>(net, "text_model", "text_projection", config,
                        [&] { return TokenInput(net, config.positions); });
}

void BuildVision(Net& net) {
  const VisionConfig config(net.config);
  BuildAlone<VisionModel>(net, "vision_model", "visual_projection", config,
                          [&] { return ImageInput(net, config.patches); });
}

constexpr std::array<std::string_view, 2> kHeads{"Model", "ForImageClassification"};
constexpr std::array<std::string_view, 2> kEncoderHeads{"Model", "ModelWithProjection"};

}  // namespace

const Architecture kClip{.type = "clip",
                         .prefix = "CLIP",
                         .summary = "CLIP: images and texts that belong together",
                         .heads = kHeads,
                         .build = Build,
                         .flash = true};

const Architecture kClipText{.type = "clip_text_model",
                             .prefix = "CLIPText",
                             .summary = "CLIP's encoder of texts, as diffusion models use it",
                             .heads = kEncoderHeads,
                             .build = BuildText,
                             .flash = true};

const Architecture kClipVision{.type = "clip_vision_model",
                               .prefix = "CLIPVision",
                               .summary = "CLIP's encoder of images",
                               .heads = kEncoderHeads,
                               .build = BuildVision,
                               .flash = true};

}  // namespace steelyard::models
