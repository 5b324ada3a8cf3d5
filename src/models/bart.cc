// SPDX-License-Identifier: Apache-2.0
//
// modeling_bart.py, of transformers 5.
#include "models/bart.h"

#include <array>
#include <cmath>

#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr BartKind kKind{.module = "transformers.models.bart.modeling_bart.", .prefix = "Bart"};
constexpr double kEps = 1e-5;        // of torch.nn.LayerNorm
constexpr std::int64_t kOffset = 2;  // rows of the table of positions that no position has
constexpr std::int64_t kLabels = 3;  // of a config that names none

struct Words : Layer {
  Words(const Layer& parent, std::string_view name, const BartConfig& config, Tensor tied = {})
      : Layer(parent, name, config.ClassOf("ScaledWordEmbedding")),
        c(config),
        scale(net().config.Flag("scale_embedding", false) ? std::sqrt(static_cast<double>(c.hidden))
                                                          : 1.0),
        weight(tied.defined() ? Tied("weight", tied)
                              : Parameter("weight", {c.vocabulary, c.hidden})) {}
  Tensor operator()(Tensor tokens) const {
    const auto call = Enter();
    const Tensor found = b().Call("aten::embedding", weight, tokens, c.shift.padding);
    return b().Call("aten::mul.Tensor", found, scale);
  }
  const BartConfig& c;
  double scale;
  Tensor weight;
};

std::int64_t PositionsOf(const Settings& config) {
  return config.Size("max_position_embeddings", 1024);
}

struct Places : Layer {
  Places(const Layer& parent, const BartConfig& c)
      : Layer(parent, "embed_positions", c.ClassOf("LearnedPositionalEmbedding")),
        weight(Parameter("weight", {PositionsOf(net().config) + kOffset, c.hidden})) {}
  // Of each text's tokens, or of those of `positions`.
  Tensor operator()(Tensor positions = {}) const {
    const auto call = Enter();
    if (positions.defined()) {
      positions = b().Call("aten::unsqueeze", positions, 0);
    } else {
      const Tensor line =
          b().Call("aten::arange.start", 0, net().seq, Builder::Named("dtype", DType::kInt64));
      positions = b().Call("aten::expand", line, Shape{net().batch, -1});
    }
    return b().Call("aten::embedding", weight, b().Call("aten::add.Tensor", positions, kOffset));
  }
  Tensor weight;
};

// What both sides are made of.
struct Stack : Layer {
  Stack(const Layer& parent, const BartConfig& c, Tensor tied, BartLayer::Sees sees, Net& net)
      : Layer(parent, sees == BartLayer::Sees::kItself ? "encoder" : "decoder",
              c.ClassOf(sees == BartLayer::Sees::kItself ? "Encoder" : "Decoder"), net),
        words(*this, "embed_tokens", c, tied),
        places(*this, c),
        layers(Repeated<BartLayer>(
            *this, "layers", sees == BartLayer::Sees::kItself ? c.encoder.layers : c.decoder.layers,
            c, sees)),
        norm(*this, "layernorm_embedding", c.hidden, kEps),
        p(c.dropout) {}
  Tensor Start(Tensor word, Tensor place) const {
    const Tensor x = norm(b().Call("aten::add.Tensor", word, place));
    return b().Call("aten::dropout", x, p, net().options.training);
  }
  Words words;
  Places places;
  std::vector<BartLayer> layers;
  LayerNorm norm;
  double p;
};

struct Model : Layer {
  Model(const Layer& parent, std::string_view name, const BartConfig& c)
      : Layer(parent, name, c.ClassOf("Model")),
        decoder_net(net()),
        shared(*this, "shared", c),
        encoder(*this, c, c.tied ? shared.weight : Tensor(), BartLayer::Sees::kItself, net()),
        decoder(*this, c, c.tied ? shared.weight : Tensor(), BartLayer::Sees::kSourceToo,
                decoder_net) {}
  Model(const Model&) = delete;  // the decoder knows where its net is
  Model& operator=(const Model&) = delete;

  Source Encode(Tensor tokens) const {
    const auto call = encoder.Enter();
    const Tensor word = encoder.words(tokens);
    Tensor x = encoder.Start(word, encoder.places());
    const Tensor mask = FullMask(net(), net().seq);
    for (const BartLayer& layer : encoder.layers) x = layer(x, mask);
    return {.hidden = x, .seq = net().seq};
  }
  Tensor Decode(Tensor tokens, const Source& source) const {
    const auto call = decoder.Enter();
    const Tensor word = decoder.words(tokens);
    const Tensor line = b().Call("aten::arange", decoder_net.seq);
    const Tensor positions = b().Call("aten::add.Tensor", line, 0);
    const Tensor mask = CausalMask(decoder_net);
    const Tensor cross_mask = CrossMask(decoder_net, source.seq);
    Tensor x = decoder.Start(word, decoder.places(positions));
    for (const BartLayer& layer : decoder.layers) x = layer(x, mask, source, cross_mask);
    return x;
  }
  struct Found {
    Source source;
    Tensor hidden;
  };
  Found operator()(Tensor read, Tensor written) const {
    const auto call = Enter();
    const Source source = Encode(read);
    return {.source = source, .hidden = Decode(written, source)};
  }
  // Of what is read once more, as it is where nobody says what is written.
  Found Reread(Tensor tokens, const Shift& shift) {
    const auto call = Enter();
    decoder_net.batch = net().batch;
    decoder_net.seq = net().seq;
    const Tensor again = ShiftRight(net(), tokens, shift);
    const Source source = Encode(tokens);
    return {.source = source, .hidden = Decode(again, source)};
  }
  Net decoder_net;
  Words shared;
  Stack encoder, decoder;
};

void BuildWriting(Net& net, const BartConfig& c) {
  Builder& b = net.b;
  const Layer root(net);
  const bool writes = IsWriting(net);
  Model model(root, writes ? "model" : "", c);
  Tensor bias;
  std::optional<Linear> head;
  if (writes) {
    bias = b.Buffer("final_logits_bias", net.dtype(), {1, c.vocabulary});
    if (c.tied) {
      head.emplace(root, "lm_head", model.shared.weight);
    } else {
      head.emplace(root, "lm_head", c.hidden, c.vocabulary, Bias::kNone);
    }
  }
  const std::int64_t positions = PositionsOf(net.config);
  const Tensor tokens = TokenInput(net, positions);
  Written written = WrittenInput(net, model.decoder_net, positions);
  if (written.labels.defined()) {
    written.tokens = ShiftRight(model.decoder_net, written.labels, c.shift);
  }
  const Model::Found found = model(tokens, written.tokens);
  if (!writes) {
    b.Return(found.hidden);
    return b.Return(found.source.hidden);
  }
  const Tensor logits = b.Call("aten::add.Tensor", (*head)(found.hidden), bias);
  ReturnWritten(model.decoder_net, logits, written, c.vocabulary, found.source);
}

void BuildSpan(Net& net, const BartConfig& c) {
  const Layer root(net);
  Model model(root, "model", c);
  const Linear edges(root, "qa_outputs", c.hidden, 2);
  const Tensor tokens = TokenInput(net, PositionsOf(net.config));
  const TextLabels labels = LabelInputs(net, TextTask::kSpan, 2);
  const Model::Found found = model.Reread(tokens, c.shift);
  ReturnSpan(net, edges(found.hidden), labels.first, labels.second);
  net.b.Return(found.source.hidden);
}

constexpr std::int64_t kEnd = 2;  // eos_token_id of BART

void BuildSequenceClasses(Net& net, const BartConfig& c) {
  const Layer root(net);
  const bool named = net.config.Has("id2label");
  const std::int64_t classes =
      named ? LabelCount(net.config) : net.config.Count("num_labels", kLabels);
  Model model(root, "model", c);
  const SequenceClassHead head(root, c.ClassOf("ClassificationHead"),
                               {.hidden = c.hidden,
                                .classes = classes,
                                .dropout = net.config.Share("classifier_dropout", 0.0)});
  const Tensor tokens = TokenInput(net, PositionsOf(net.config));
  const TextLabels labels = LabelInputs(net, TextTask::kSequenceClass, classes);
  const Model::Found found = model.Reread(tokens, c.shift);
  const Tensor logits =
      head(EndOfEach(net, tokens, found.hidden, {.width = c.hidden, .token = kEnd}));
  ReturnSequenceClass(net, logits, labels.first, classes);
  net.b.Return(found.source.hidden);
}

void Build(Net& net) {
  if (net.dtype() == DType::kFloat16) {
    net.config.Refuse("dtype", "layers that look for overflows of float16 are not built",
                      "Weigh it as --dtype bfloat16, which takes as much.");
  }
  const BartConfig c = ReadBart(net, kKind);
  const std::string_view head = net.options.head;
  if (head == "ForQuestionAnswering") return BuildSpan(net, c);
  if (head == "ForSequenceClassification") return BuildSequenceClasses(net, c);
  BuildWriting(net, c);
}

constexpr std::array<std::string_view, 4> kHeads{
    "ForConditionalGeneration", "Model", "ForSequenceClassification", "ForQuestionAnswering"};

}  // namespace

const Architecture kBart{.type = "bart",
                         .prefix = "Bart",
                         .summary = "BART",
                         .heads = kHeads,
                         .build = Build,
                         .flash = true};

}  // namespace steelyard::models
