// SPDX-License-Identifier: Apache-2.0
//
// modeling_whisper.py, of transformers 5. What is read are 30 seconds of sound, always as long.
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "models/bart.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr BartKind kKind{.module = "transformers.models.whisper.modeling_whisper.",
                         .prefix = "Whisper",
                         .hidden = 384,
                         .layers = 4,
                         .heads = 6,
                         .inner = 1536,
                         .vocabulary = 51865,
                         .dropout = 0.0,
                         .shift = {.first = 50257, .padding = 50256},
                         .norm_before = true,
                         .scaled_queries = true};
constexpr double kEps = 1e-5;                     // of torch.nn.LayerNorm
constexpr std::int64_t kStride = 2;               // of the second convolution
constexpr double kMostOfHalf = 65504.0 - 1000.0;  // what float16 activations are held below

struct WhisperConfig {
  BartConfig layers;
  std::int64_t mels, source, target;
};

WhisperConfig Read(const Net& net) {
  const Settings& c = net.config;
  if (net.options.training && c.Flag("apply_spec_augment", false)) {
    c.Refuse("apply_spec_augment", "inputs that are masked by chance are not built");
  }
  return {.layers = ReadBart(net, kKind),
          .mels = c.Size("num_mel_bins", 80),
          .source = c.Size("max_source_positions", 1500),
          .target = c.Size("max_target_positions", 448)};
}

// A table of positions that is found once and not trained.
struct Sinusoids : Layer {
  Sinusoids(const Layer& parent, std::int64_t count, std::int64_t width)
      : Layer(parent, "embed_positions", "torch.nn.modules.sparse.Embedding"),
        weight(Parameter("weight", {count, width}, false)) {}
  Tensor operator()(Tensor positions) const {
    const auto call = Enter();
    return b().Call("aten::embedding", weight, positions, -1);
  }
  Tensor weight;
};

struct Encoder : Layer {
  Encoder(const Layer& parent, const WhisperConfig& config)
      : Layer(parent, "encoder", config.layers.ClassOf("Encoder")),
        c(config),
        first(*this, "conv1", PlanOf(c.mels, 1)),
        second(*this, "conv2", PlanOf(c.layers.hidden, kStride)),
        places(*this, c.source, c.layers.hidden),
        layers(Repeated<BartLayer>(*this, "layers", c.layers.encoder.layers, c.layers,
                                   BartLayer::Sees::kItself)),
        norm(*this, "layer_norm", c.layers.hidden, kEps) {}
  Convolution::Plan PlanOf(std::int64_t in, std::int64_t stride) const {
    return {.in = in, .out = c.layers.hidden, .kernel = {3}, .stride = {stride}, .padding = {1}};
  }
  Tensor operator()(Tensor sound) const {
    const auto call = Enter();
    Tensor x = b().Call("aten::gelu", first(sound));
    x = b().Call("aten::permute", b().Call("aten::gelu", second(x)), Shape{0, 2, 1});
    const Tensor place = places(b().Call("aten::arange", c.source));
    x = b().Call("aten::add.Tensor", x, place);
    x = b().Call("aten::dropout", x, c.layers.dropout, net().options.training);
    for (const BartLayer& layer : layers) x = Held(layer(x, {}));
    return norm(x);
  }
  Tensor Held(Tensor x) const {
    if (net().dtype() != DType::kFloat16) return x;
    return b().Call("aten::clamp", x, -kMostOfHalf, kMostOfHalf);
  }
  const WhisperConfig& c;
  Convolution first, second;
  Sinusoids places;
  std::vector<BartLayer> layers;
  LayerNorm norm;
};

struct Places : Layer {
  Places(const Layer& parent, const WhisperConfig& c)
      : Layer(parent, "embed_positions", c.layers.ClassOf("PositionalEmbedding")),
        weight(Parameter("weight", {c.target, c.layers.hidden})) {}
  Tensor operator()(Tensor positions) const {
    const auto call = Enter();
    return b().Call("aten::index.Tensor", weight, std::vector<Tensor>{positions});
  }
  Tensor weight;
};

struct Decoder : Layer {
  Decoder(const Layer& parent, const WhisperConfig& config, Net& net)
      : Layer(parent, "decoder", config.layers.ClassOf("Decoder"), net),
        c(config),
        words(*this, "embed_tokens", c.layers.vocabulary, c.layers.hidden, c.layers.shift.padding),
        places(*this, c),
        layers(Repeated<BartLayer>(*this, "layers", c.layers.decoder.layers, c.layers,
                                   BartLayer::Sees::kSourceToo)),
        norm(*this, "layer_norm", c.layers.hidden, kEps) {}
  Tensor operator()(Tensor tokens, const Source& source) const {
    const auto call = Enter();
    const Tensor word = words(tokens);
    const Tensor line = b().Call("aten::add.Tensor", b().Call("aten::arange", net().seq), 0);
    const Tensor positions =
        b().Call("aten::repeat", b().Call("aten::unsqueeze", line, 0), Shape{net().batch, 1});
    Tensor x = b().Call("aten::add.Tensor", word, places(positions));
    x = b().Call("aten::dropout", x, c.layers.dropout, net().options.training);
    const Tensor mask = CausalMask(net(), positions);
    for (const BartLayer& layer : layers) x = layer(x, mask, source);
    return norm(x);
  }
  const WhisperConfig& c;
  Embedding words;
  Places places;
  std::vector<BartLayer> layers;
  LayerNorm norm;
};

struct Model : Layer {
  Model(const Layer& parent, std::string_view name, const WhisperConfig& config)
      : Layer(parent, name, config.layers.ClassOf("Model")),
        decoder_net(net()),
        encoder(*this, config),
        decoder(*this, config, decoder_net) {}
  Model(const Model&) = delete;  // the decoder knows where its net is
  Model& operator=(const Model&) = delete;
  Net decoder_net;
  Encoder encoder;
  Decoder decoder;
};

Tensor SoundInput(Net& net, const WhisperConfig& c) {
  net.batch = net.b.Symbol({.name = "batch", .example = 1});
  net.seq = Dim(c.source);
  return net.b.Input("input_features", net.dtype(), {net.batch, c.mels, kStride * c.source});
}

// What is heard is classified by the mean of the encoder's states.
void BuildClasses(Net& net, const WhisperConfig& c) {
  const Settings& settings = net.config;
  if (settings.Flag("use_weighted_layer_sum", false)) {
    settings.Refuse("use_weighted_layer_sum", "a sum of the states of all layers is not built");
  }
  Builder& b = net.b;
  const Layer root(net);
  const std::int64_t classes = LabelCount(settings);
  const std::int64_t width = settings.Size("classifier_proj_size", 256);
  const Encoder encoder(root, c);
  const Linear projector(root, "projector", c.layers.hidden, width);
  const Linear classifier(root, "classifier", width, classes);
  const Tensor sound = SoundInput(net, c);
  const Tensor labels =
      net.options.labelled ? b.Input("labels", DType::kInt64, {net.batch}) : Tensor();
  const Tensor mean = b.Call("aten::mean.dim", projector(encoder(sound)), Shape{1});
  const Tensor logits = classifier(mean);
  if (labels.defined()) {
    const Tensor rows = b.Call("aten::view", logits, Shape{-1, classes});
    b.Return(b.Call("aten::cross_entropy_loss", rows, b.Call("aten::view", labels, Shape{-1})));
  }
  b.Return(logits);
}

void Build(Net& net) {
  Builder& b = net.b;
  const WhisperConfig c = Read(net);
  if (net.options.head == "ForAudioClassification") return BuildClasses(net, c);
  const Layer root(net);
  const bool writes = IsWriting(net);
  Model model(root, writes ? "model" : "", c);
  std::optional<Linear> head;
  if (writes && c.layers.tied) {
    head.emplace(root, "proj_out", model.decoder.words.weight);
  } else if (writes) {
    head.emplace(root, "proj_out", c.layers.hidden, c.layers.vocabulary, Bias::kNone);
  }
  const Tensor sound = SoundInput(net, c);
  Written written = WrittenInput(net, model.decoder_net, c.target);
  if (written.labels.defined()) {
    written.tokens = ShiftRight(model.decoder_net, written.labels, c.layers.shift);
  }
  Source source{.hidden = {}, .seq = net.seq};
  Tensor hidden;
  {
    const auto call = model.Enter();
    source.hidden = model.encoder(sound);
    hidden = model.decoder(written.tokens, source);
  }
  if (head) {
    return ReturnWritten(model.decoder_net, (*head)(hidden), written, c.layers.vocabulary, source);
  }
  b.Return(hidden);
  b.Return(source.hidden);
}

constexpr std::array<std::string_view, 3> kHeads{"ForConditionalGeneration", "Model",
                                                 "ForAudioClassification"};

}  // namespace

const Architecture kWhisper{.type = "whisper",
                            .prefix = "Whisper",
                            .summary = "Whisper: speech to text",
                            .heads = kHeads,
                            .build = Build,
                            .flash = true};

}  // namespace steelyard::models
