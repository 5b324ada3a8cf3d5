// SPDX-License-Identifier: Apache-2.0
//
// modeling_t5.py, modeling_mt5.py and modeling_umt5.py, of transformers 5. Where tokens are enters
// only into the scores of attention, as a bias by their distance, which the first layer of a stack
// finds for all; UMT5's layers each find their own.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/registry.h"
#include "models/seq2seq.h"

namespace steelyard::models {
namespace {

constexpr std::int64_t kMostPositions = std::int64_t{1} << 31;  // it has no table of them

// What a config class says where a config says nothing, and what the models differ in.
struct T5Kind {
  std::string_view classes;  // what their names begin with: "transformers...modeling_t5.T5"
  std::int64_t inner, layers, heads, vocabulary;
  std::string_view feed_forward;
  bool scaled = false;      // what is written, where the words' weights are the head's
  bool own_biases = false;  // each layer has a table of them
};
constexpr T5Kind kT5Kind{.classes = "transformers.models.t5.modeling_t5.T5",
                         .inner = 2048,
                         .layers = 6,
                         .heads = 8,
                         .vocabulary = 32128,
                         .feed_forward = "relu",
                         .scaled = true};
constexpr T5Kind kMt5Kind{.classes = "transformers.models.mt5.modeling_mt5.MT5",
                          .inner = 1024,
                          .layers = 8,
                          .heads = 6,
                          .vocabulary = 250112,
                          .feed_forward = "gated-gelu"};
constexpr T5Kind kUmt5Kind{.classes = "transformers.models.umt5.modeling_umt5.UMT5",
                           .inner = 1024,
                           .layers = 8,
                           .heads = 6,
                           .vocabulary = 250112,
                           .feed_forward = "gated-gelu",
                           .scaled = true,
                           .own_biases = true};

struct T5Config {
  const T5Kind& kind;
  std::int64_t hidden, inner, layers, decoder_layers, vocabulary, buckets, far;
  Heads heads;
  double eps, dropout, class_dropout;
  std::string activation;
  bool gated, scaled, own_head;
  Shift shift;
  std::string ClassOf(std::string_view name) const {
    return std::string(kind.classes).append(name);
  }
};

// What "gated-gelu" says: whether there is a gate, and its activation.
struct FeedForwardName {
  bool gated;
  std::string activation;
};

FeedForwardName FeedForwardOf(const Settings& c, std::string_view missing) {
  constexpr std::string_view kGated = "gated-";
  constexpr std::string_view kKey = "feed_forward_proj";
  const std::string name = c.Text(kKey, missing);
  const bool gated = name.starts_with(kGated);
  std::string activation = gated ? name.substr(kGated.size()) : name;
  if (activation.find('-') != std::string::npos) {
    c.Refuse(kKey, "\"" + name + "\" is neither an activation nor gated-ACTIVATION");
  }
  if (name == "gated-gelu") activation = "gelu_new";
  return {.gated = c.Flag("is_gated_act", gated), .activation = c.Text("dense_act_fn", activation)};
}

void RefuseOdd(const Net& net, const T5Config& config) {
  const Settings& c = net.config;
  if (c.Flag("is_decoder", false)) c.Refuse("is_decoder", "a decoder alone is not built");
  if (net.dtype() == DType::kFloat16) {
    c.Refuse("dtype", "transformers keeps some weights of it in float32 beside float16",
             "Weigh it as --dtype bfloat16, which takes as much.");
  }
  if (net.options.labelled && IsWriting(net) && !c.Has("decoder_start_token_id")) {
    c.Refuse("decoder_start_token_id", "what is written begins with it, and it is not set",
             "Of T5 it is that of the padding: 0.");
  }
  constexpr std::int64_t kLeastBuckets = 4;  // near and far ones, before and behind
  if (config.buckets < kLeastBuckets) {
    c.Refuse("relative_attention_num_buckets", "less than 4 kinds of distances");
  }
  if (config.far <= config.buckets / 2) {
    c.Refuse("relative_attention_max_distance", "nearer than the buckets of single distances");
  }
}

T5Config Read(const Net& net, const T5Kind& kind) {
  const Settings& c = net.config;
  const std::int64_t heads = c.Size("num_heads", kind.heads);
  const std::int64_t layers = c.Layers("num_layers", kind.layers);
  const FeedForwardName feed_forward = FeedForwardOf(c, kind.feed_forward);
  // Configs before transformers 5 say by it that what is written is not scaled.
  const bool own_head = !c.Flag("tie_word_embeddings", true);
  T5Config config{.kind = kind,
                  .hidden = c.Size("d_model", 512),
                  .inner = c.Size("d_ff", kind.inner),
                  .layers = layers,
                  .decoder_layers =
                      c.Has("num_decoder_layers") ? c.Layers("num_decoder_layers", layers) : layers,
                  .vocabulary = c.Size("vocab_size", kind.vocabulary),
                  .buckets = c.Count("relative_attention_num_buckets", 32),
                  .far = c.Count("relative_attention_max_distance", 128),
                  .heads = {.query = heads, .key = heads, .width = c.Size("d_kv", 64)},
                  .eps = c.Real("layer_norm_epsilon", 1e-6),
                  .dropout = c.Share("dropout_rate", 0.1),
                  .class_dropout = c.Share("classifier_dropout", 0.0),
                  .activation = feed_forward.activation,
                  .gated = feed_forward.gated,
                  .scaled = c.Flag("scale_decoder_outputs", kind.scaled && !own_head),
                  .own_head = own_head,
                  .shift = {.first = c.Count("decoder_start_token_id", 0),
                            .padding = c.Count("pad_token_id", 0)}};
  RefuseOdd(net, config);
  return config;
}

enum class Side : std::uint8_t { kEncoder, kDecoder };

RmsNorm NormOf(const Layer& parent, std::string_view name, const T5Config& c) {
  return {parent, name, c.ClassOf("LayerNorm"), c.hidden, c.eps, RmsWeight::kOfNarrow};
}

// What of the table of biases a query and a key have, by how far apart they are: of [seq, seq].
class Buckets {
 public:
  Buckets(const Net& net, const T5Config& c, Side side)
      : net_(net),
        both_ways_(side == Side::kEncoder),
        count_(both_ways_ ? c.buckets / 2 : c.buckets),
        near_(std::max<std::int64_t>(count_ / 2, 1)),
        far_(c.far) {}

  Tensor operator()() const {
    const Builder::Arg dtype = Builder::Named("dtype", DType::kInt64);
    const auto line = [&](std::int64_t dim) {
      return Call("aten::unsqueeze", Call("aten::arange", net_.seq, dtype), dim);
    };
    const Tensor queries = Call("aten::add.Tensor", line(1), 0);
    const Tensor steps = Call("aten::sub.Tensor", line(0), queries);
    if (!both_ways_) {
      const Tensor zeros = Call("aten::zeros_like", steps);
      const Tensor before = Call("aten::min.other", steps, zeros);
      return Call("aten::add.Tensor", ByDistance(Call("aten::neg", before)), 0);
    }
    const Tensor behind = Call("aten::to.dtype", Call("aten::gt.Scalar", steps, 0), DType::kInt64);
    const Tensor base = Call("aten::add.Tensor", Call("aten::mul.Tensor", behind, count_), 0);
    return Call("aten::add_.Tensor", base, ByDistance(Call("aten::abs", steps)));
  }

 private:
  template <class... Args>
  Tensor Call(std::string_view op, const Args&... args) const {
    return net_.b.Call(op, args...);
  }

  // Each distance its own while they are small; then by their logarithm.
  Tensor ByDistance(Tensor distance) const {
    const Tensor is_small = Call("aten::lt.Scalar", distance, near_);
    const double octaves = std::log(static_cast<double>(far_) / static_cast<double>(near_));
    Tensor x = Call("aten::to.dtype", distance, DType::kFloat32);
    x = Call("aten::log", Call("aten::div.Tensor", x, near_));
    x = Call("aten::mul.Tensor", Call("aten::div.Tensor", x, octaves), count_ - near_);
    x = Call("aten::add.Tensor", Call("aten::to.dtype", x, DType::kInt64), near_);
    x = Call("aten::min.other", x, Call("aten::full_like", x, count_ - 1));
    return Call("aten::where.self", is_small, distance, x);
  }

  const Net& net_;
  bool both_ways_;
  std::int64_t count_, near_, far_;
};

enum class Bucketed : std::uint8_t { kNo, kYes };

struct Attention : Layer {
  Attention(const Layer& parent, std::string_view name, const T5Config& config, Side in,
            Bucketed bucketed)
      : Layer(parent, name, config.ClassOf("Attention")),
        c(config),
        side(in),
        q(*this, "q", c.hidden, c.heads.query * c.heads.width, Bias::kNone),
        k(*this, "k", c.hidden, c.heads.query * c.heads.width, Bias::kNone),
        v(*this, "v", c.hidden, c.heads.query * c.heads.width, Bias::kNone),
        o(*this, "o", c.heads.query * c.heads.width, c.hidden, Bias::kNone) {
    if (bucketed == Bucketed::kYes) {
      table.emplace(*this, "relative_attention_bias", c.buckets, c.heads.query);
    }
  }
  // Of queries to keys, which have length `keys`: [1, heads, queries, keys].
  Tensor BiasOf(Builder::Size keys) const {
    if (!table) {
      return b().Call("aten::zeros", Shape{1, c.heads.query, net().seq, keys},
                      Builder::Named("dtype", net().dtype()));
    }
    const Tensor found = (*table)(Buckets(net(), c, side)());
    return b().Call("aten::unsqueeze", b().Call("aten::permute", found, Shape{2, 0, 1}), 0);
  }
  // `x` sees `source`; `bias` is found where it is not yet.
  Tensor operator()(Tensor x, const Source& source, Tensor mask, Tensor& bias) const {
    const auto call = Enter();
    AttentionCall attend{
        .mask = mask, .heads = c.heads, .dropout = c.dropout, .wide_softmax = false};
    attend.query = SplitHeads(net(), q(x), c.heads.width, net().seq);
    attend.key = SplitHeads(net(), k(source.hidden), c.heads.width, source.seq);
    attend.value = SplitHeads(net(), v(source.hidden), c.heads.width, source.seq);
    if (!bias.defined()) bias = BiasOf(source.seq);
    attend.bias = bias;
    const Tensor seen = Attend(net(), attend);
    return o(b().Call("aten::reshape", seen, Shape{net().batch, net().seq, -1}));
  }
  const T5Config& c;
  Side side;
  Linear q, k, v, o;
  std::optional<Embedding> table;
};

// T5LayerSelfAttention and T5LayerCrossAttention.
struct AttentionLayer : Layer {
  struct Names {
    std::string_view layer, class_name, attention;
  };
  AttentionLayer(const Layer& parent, const Names& names, const T5Config& c, Side side,
                 Bucketed bucketed)
      : Layer(parent, names.layer, c.ClassOf(names.class_name)),
        attention(*this, names.attention, c, side, bucketed),
        norm(NormOf(*this, "layer_norm", c)),
        dropout(*this, "dropout", c.dropout) {}
  // Of itself where there is no source.
  Tensor operator()(Tensor x, const Source& source, Tensor mask, Tensor& bias) const {
    const auto call = Enter();
    const Tensor normed = norm(x);
    const Source own{.hidden = normed, .seq = net().seq};
    const Tensor seen = attention(normed, source.hidden.defined() ? source : own, mask, bias);
    return b().Call("aten::add.Tensor", x, dropout(seen));
  }
  Attention attention;
  RmsNorm norm;
  Dropout dropout;
};

// T5DenseActDense and T5DenseGatedActDense.
struct Dense : Layer {
  Dense(const Layer& parent, const T5Config& c)
      : Layer(parent, "DenseReluDense",
              c.ClassOf(c.gated ? "DenseGatedActDense" : "DenseActDense")),
        in(*this, c.gated ? "wi_0" : "wi", c.hidden, c.inner, Bias::kNone),
        gated(c.gated ? std::optional<Linear>(std::in_place, *this, "wi_1", c.hidden, c.inner,
                                              Bias::kNone)
                      : std::nullopt),
        out(*this, "wo", c.inner, c.hidden, Bias::kNone),
        dropout(*this, "dropout", c.dropout),
        act(*this, "act", Activation::Name{"feed_forward_proj", c.activation}) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    Tensor y = act(in(x));
    if (gated) y = b().Call("aten::mul.Tensor", y, (*gated)(x));
    return out(dropout(y));
  }
  Linear in;
  std::optional<Linear> gated;
  Linear out;
  Dropout dropout;
  Activation act;
};

struct FeedForward : Layer {
  FeedForward(const Layer& parent, std::string_view name, const T5Config& c)
      : Layer(parent, name, c.ClassOf("LayerFF")),
        dense(*this, c),
        norm(NormOf(*this, "layer_norm", c)),
        dropout(*this, "dropout", c.dropout) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    return b().Call("aten::add.Tensor", x, dropout(dense(norm(x))));
  }
  Dense dense;
  RmsNorm norm;
  Dropout dropout;
};

// What attention of a stack is given in all of its layers.
struct Attended {
  Tensor mask, cross_mask = {};
  Tensor bias = {}, cross_bias = {};
};

struct Block : Layer {
  Block(const Layer& parent, const std::string& name, std::int64_t layer, const T5Config& c,
        Side side)
      : Layer(parent, name, c.ClassOf("Block")),
        self(*this, {"layer.0", "LayerSelfAttention", "SelfAttention"}, c, side,
             layer == 0 || c.kind.own_biases ? Bucketed::kYes : Bucketed::kNo),
        cross(side == Side::kDecoder
                  ? std::optional<AttentionLayer>(
                        std::in_place, *this,
                        AttentionLayer::Names{"layer.1", "LayerCrossAttention", "EncDecAttention"},
                        c, side, Bucketed::kNo)
                  : std::nullopt),
        feed_forward(*this, cross ? "layer.2" : "layer.1", c) {}
  Tensor operator()(Tensor x, const Source& source, Attended& all) const {
    const auto call = Enter();
    x = self(x, {}, all.mask, all.bias);
    if (cross) x = (*cross)(x, source, all.cross_mask, all.cross_bias);
    return feed_forward(x);
  }
  AttentionLayer self;
  std::optional<AttentionLayer> cross;
  FeedForward feed_forward;
};

struct Stack : Layer {
  Stack(const Layer& parent, const T5Config& c, Tensor words, Side of, Net& net)
      : Layer(parent, of == Side::kEncoder ? "encoder" : "decoder", c.ClassOf("Stack"), net),
        side(of),
        own_biases(c.kind.own_biases),
        embed(*this, "embed_tokens", words),
        blocks(Numbered<Block>(*this, "block", side == Side::kEncoder ? c.layers : c.decoder_layers,
                               c, side)),
        norm(NormOf(*this, "final_layer_norm", c)),
        dropout(*this, "dropout", c.dropout) {}
  Tensor operator()(Tensor tokens, const Source& source = {}) const {
    const auto call = Enter();
    Tensor x = embed(tokens);
    Attended all{.mask = side == Side::kEncoder ? FullMask(net(), net().seq) : CausalMask(net())};
    if (side == Side::kDecoder) all.cross_mask = CrossMask(net(), source.seq);
    x = dropout(x);
    for (const Block& block : blocks) {
      x = block(x, source, all);
      if (own_biases) all.bias = all.cross_bias = {};
    }
    return dropout(norm(x));
  }
  Side side;
  bool own_biases;
  Embedding embed;
  std::vector<Block> blocks;
  RmsNorm norm;
  Dropout dropout;
};

struct Encoder : Layer {
  Encoder(const Layer& parent, std::string_view name, const T5Config& c)
      : Layer(parent, name, c.ClassOf("EncoderModel")),
        shared(*this, "shared", c.vocabulary, c.hidden),
        encoder(*this, c, shared.weight, Side::kEncoder, net()) {}
  Tensor operator()(Tensor tokens) const {
    const auto call = Enter();
    return encoder(tokens);
  }
  Embedding shared;
  Stack encoder;
};

// Both stacks, which all classes that write hold themselves.
struct Stacks {
  Stacks(const Layer& root, const T5Config& c)
      : decoder_net(root.net()),
        shared(root, "shared", c.vocabulary, c.hidden),
        encoder(root, c, shared.weight, Side::kEncoder, root.net()),
        decoder(root, c, shared.weight, Side::kDecoder, decoder_net) {}
  Stacks(const Stacks&) = delete;  // the decoder knows where its net is
  Stacks& operator=(const Stacks&) = delete;
  Source Encode(Tensor tokens) const {
    return {.hidden = encoder(tokens), .seq = encoder.net().seq};
  }
  Net decoder_net;
  Embedding shared;
  Stack encoder, decoder;
};

// A head that the weights have beside the words' is not the class's, which ties them always.
Linear HeadOf(const Layer& root, const T5Config& c, Tensor words) {
  if (!c.own_head) return {root, "lm_head", words};
  root.b().Note(
      "lm_head is a weight of its own, as in checkpoints with such a config; "
      "transformers ties that of a model it makes anew");
  return {root, "lm_head", c.hidden, c.vocabulary, Bias::kNone};
}

void BuildWriting(Net& net, const T5Config& c) {
  const Layer root(net);
  Stacks stacks(root, c);
  std::optional<Linear> head;
  if (IsWriting(net)) head = HeadOf(root, c, stacks.shared.weight);
  const Tensor tokens = TokenInput(net, kMostPositions);
  Net& decoder_net = stacks.decoder_net;
  Written written = WrittenInput(net, decoder_net, kMostPositions);
  const Source source = stacks.Encode(tokens);
  if (written.labels.defined()) written.tokens = ShiftRight(decoder_net, written.labels, c.shift);
  Tensor x = stacks.decoder(written.tokens, source);
  if (!head) {
    net.b.Return(x);
    return net.b.Return(source.hidden);
  }
  const double scale = 1.0 / std::sqrt(static_cast<double>(c.hidden));
  if (c.scaled) x = net.b.Call("aten::mul.Tensor", x, scale);
  ReturnWritten(decoder_net, (*head)(x), written, c.vocabulary, source);
}

// Spans of what is read, which the decoder reads once more.
void BuildSpan(Net& net, const T5Config& c) {
  const Layer root(net);
  Stacks stacks(root, c);
  const std::int64_t classes = LabelCount(net.config);
  if (classes != 2) net.config.Refuse("id2label", "spans have two labels: start and end");
  const Linear edges(root, "qa_outputs", c.hidden, classes);
  const Tensor tokens = TokenInput(net, kMostPositions);
  const TextLabels labels = LabelInputs(net, TextTask::kSpan, classes);
  stacks.decoder_net.batch = net.batch;
  stacks.decoder_net.seq = net.seq;
  const Tensor again = ShiftRight(net, tokens, c.shift);
  const Source source = stacks.Encode(tokens);
  ReturnSpan(net, edges(stacks.decoder(again, source)), labels.first, labels.second);
  net.b.Return(source.hidden);
}

// What is read is classified by its end, when the decoder has read it once more.
void BuildSequenceClasses(Net& net, const T5Config& c) {
  const Layer root(net);
  const std::int64_t classes = LabelCount(net.config);
  const Layer model(root, "transformer", c.ClassOf("Model"));
  Stacks stacks(model, c);
  const SequenceClassHead head(
      root, c.ClassOf("ClassificationHead"),
      {.hidden = c.hidden, .classes = classes, .dropout = c.class_dropout});
  const Tensor tokens = TokenInput(net, kMostPositions);
  const TextLabels labels = LabelInputs(net, TextTask::kSequenceClass, classes);
  stacks.decoder_net.batch = net.batch;
  stacks.decoder_net.seq = net.seq;
  const Tensor again = ShiftRight(net, tokens, c.shift);
  Source source;
  Tensor found;
  {
    const auto call = model.Enter();
    source = stacks.Encode(tokens);
    found = stacks.decoder(again, source);
  }
  constexpr std::int64_t kEnd = 1;  // eos_token_id of T5
  const Tensor ends = EndOfEach(net, tokens, found, {.width = c.hidden, .token = kEnd});
  ReturnSequenceClass(net, head(ends), labels.first, classes);
  net.b.Return(source.hidden);
}

void BuildTokenClasses(Net& net, const T5Config& c) {
  const Layer root(net);
  const std::int64_t classes = LabelCount(net.config);
  const Encoder model(root, "transformer", c);
  const Dropout dropout(root, "dropout", c.class_dropout);
  const Linear classifier(root, "classifier", c.hidden, classes);
  const Tensor tokens = TokenInput(net, kMostPositions);
  const TextLabels labels = LabelInputs(net, TextTask::kTokenClass, classes);
  ReturnTokenClasses(net, classifier(dropout(model(tokens))), labels.first, classes, false);
}

template <const T5Kind& kKind>
void Build(Net& net) {
  const T5Config c = Read(net, kKind);
  const std::string_view head = net.options.head;
  if (head == "ForQuestionAnswering") return BuildSpan(net, c);
  if (head == "ForSequenceClassification") return BuildSequenceClasses(net, c);
  if (head == "ForTokenClassification") return BuildTokenClasses(net, c);
  if (head != "EncoderModel") return BuildWriting(net, c);
  const Layer root(net);
  const Encoder model(root, "", c);
  net.b.Return(model(TokenInput(net, kMostPositions)));
}

constexpr std::array<std::string_view, 6> kHeads{"ForConditionalGeneration",
                                                 "Model",
                                                 "EncoderModel",
                                                 "ForSequenceClassification",
                                                 "ForTokenClassification",
                                                 "ForQuestionAnswering"};

}  // namespace

const Architecture kT5{.type = "t5",
                       .prefix = "T5",
                       .summary = "T5 and FLAN-T5",
                       .heads = kHeads,
                       .build = Build<kT5Kind>};
const Architecture kMt5{
    .type = "mt5", .prefix = "MT5", .summary = "mT5", .heads = kHeads, .build = Build<kMt5Kind>};
const Architecture kUmt5{.type = "umt5",
                         .prefix = "UMT5",
                         .summary = "UMT5",
                         .heads = kHeads,
                         .build = Build<kUmt5Kind>};

}  // namespace steelyard::models
