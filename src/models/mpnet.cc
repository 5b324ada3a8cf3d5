// SPDX-License-Identifier: Apache-2.0
//
// modeling_mpnet.py, of transformers 5: BERT's layers with scores that know how far tokens are
// apart. Its attention is written out.
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "models/encoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::string_view kModule = "transformers.models.mpnet.modeling_mpnet.MPNet";

std::string ClassOf(std::string_view name) { return std::string(kModule).append(name); }

// Of distances, before and behind: what the code says, whatever the table's size.
constexpr std::int64_t kBuckets = 32, kFarthest = 128;
constexpr std::int64_t kPadding = 1;

struct MpnetConfig {
  std::int64_t hidden, inner, layers, vocabulary, positions, buckets;
  Heads heads;
  double eps, dropout, attention_dropout;
  bool tied;
};

MpnetConfig Read(const Settings& c) {
  const std::int64_t hidden = c.Size("hidden_size", 768);
  const MpnetConfig config{.hidden = hidden,
                           .inner = c.Size("intermediate_size", 3072),
                           .layers = c.Layers("num_hidden_layers", 12),
                           .vocabulary = c.Size("vocab_size", 30527),
                           .positions = c.Size("max_position_embeddings", 512),
                           .buckets = c.Size("relative_attention_num_buckets", kBuckets),
                           .heads = HeadsOf(c, {.hidden = hidden,
                                                .hidden_key = "hidden_size",
                                                .key = "num_attention_heads",
                                                .missing = 12}),
                           .eps = c.Real("layer_norm_eps", 1e-12),
                           .dropout = c.Share("hidden_dropout_prob", 0.1),
                           .attention_dropout = c.Share("attention_probs_dropout_prob", 0.1),
                           .tied = c.Flag("tie_word_embeddings", true)};
  if (config.buckets < kBuckets) {
    c.Refuse("relative_attention_num_buckets",
             "fewer than the 32 kinds of distances that it knows");
  }
  return config;
}

struct Embeddings : Layer {
  Embeddings(const Layer& parent, const MpnetConfig& c)
      : Layer(parent, "embeddings", ClassOf("Embeddings")),
        words(*this, "word_embeddings", c.vocabulary, c.hidden, kPadding),
        places(*this, "position_embeddings", c.positions, c.hidden, kPadding),
        norm(*this, "LayerNorm", c.hidden, c.eps),
        dropout(*this, "dropout", c.dropout) {
    Buffer("position_ids", DType::kInt64, {1, c.positions}, false);
  }
  Tensor operator()(Tensor tokens) const {
    const auto call = Enter();
    // Places of what is no padding, counted behind the padding's number.
    const Tensor real =
        b().Call("aten::to.dtype", b().Call("aten::ne.Scalar", tokens, kPadding), DType::kInt32);
    Tensor count = b().Call("aten::type_as", b().Call("aten::cumsum", real, 1), real);
    count = b().Call("aten::to.dtype", b().Call("aten::mul.Tensor", count, real), DType::kInt64);
    const Tensor at = b().Call("aten::add.Tensor", count, kPadding);
    const Tensor word = words(tokens);
    return dropout(norm(b().Call("aten::add.Tensor", word, places(at))));
  }
  Embedding words, places;
  LayerNorm norm;
  Dropout dropout;
};

struct SelfAttention : Layer {
  SelfAttention(const Layer& parent, const MpnetConfig& config)
      : Layer(parent, "attn", ClassOf("SelfAttention")),
        c(config),
        q(*this, "q", c.hidden, c.hidden),
        k(*this, "k", c.hidden, c.hidden),
        v(*this, "v", c.hidden, c.hidden),
        o(*this, "o", c.hidden, c.hidden),
        dropout(*this, "dropout", c.attention_dropout) {}
  Tensor operator()(Tensor x, Tensor mask, Tensor bias) const {
    const auto call = Enter();
    const Tensor query = SplitHeads(net(), q(x), c.heads.width, net().seq);
    const Tensor key = SplitHeads(net(), k(x), c.heads.width, net().seq);
    const Tensor value = SplitHeads(net(), v(x), c.heads.width, net().seq);
    Tensor scores = b().Call("aten::matmul", query, b().Call("aten::transpose.int", key, -1, -2));
    scores = b().Call("aten::div.Tensor", scores, std::sqrt(static_cast<double>(c.heads.width)));
    scores = b().Call("aten::add_.Tensor", scores, bias);
    scores = b().Call("aten::add.Tensor", scores, mask);
    scores = dropout(b().Call("aten::softmax.int", scores, -1));
    Tensor seen = b().Call("aten::matmul", scores, value);
    seen = b().Call("aten::contiguous", b().Call("aten::permute", seen, Shape{0, 2, 1, 3}));
    return o(b().Call("aten::view", seen, Shape{net().batch, net().seq, c.hidden}));
  }
  const MpnetConfig& c;
  Linear q, k, v, o;
  Dropout dropout;
};

struct AttentionBlock : Layer {
  AttentionBlock(const Layer& parent, const MpnetConfig& c)
      : Layer(parent, "attention", ClassOf("Attention")),
        attn(*this, c),
        norm(*this, "LayerNorm", c.hidden, c.eps),
        dropout(*this, "dropout", c.dropout) {}
  Tensor operator()(Tensor x, Tensor mask, Tensor bias) const {
    const auto call = Enter();
    const Tensor seen = dropout(attn(x, mask, bias));
    return norm(b().Call("aten::add.Tensor", seen, x));
  }
  SelfAttention attn;
  LayerNorm norm;
  Dropout dropout;
};

struct Intermediate : Layer {
  Intermediate(const Layer& parent, const MpnetConfig& c)
      : Layer(parent, "intermediate", ClassOf("Intermediate")),
        dense(*this, "dense", c.hidden, c.inner),
        act(*this, "intermediate_act_fn", "hidden_act", "gelu") {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    return act(dense(x));
  }
  Linear dense;
  Activation act;
};

struct Output : Layer {
  Output(const Layer& parent, const MpnetConfig& c)
      : Layer(parent, "output", ClassOf("Output")),
        dense(*this, "dense", c.inner, c.hidden),
        norm(*this, "LayerNorm", c.hidden, c.eps),
        dropout(*this, "dropout", c.dropout) {}
  Tensor operator()(Tensor x, Tensor before) const {
    const auto call = Enter();
    return norm(b().Call("aten::add.Tensor", dropout(dense(x)), before));
  }
  Linear dense;
  LayerNorm norm;
  Dropout dropout;
};

struct EncoderLayer : Layer {
  EncoderLayer(const Layer& parent, const std::string& name, const MpnetConfig& c)
      : Layer(parent, name, ClassOf("Layer")),
        attention(*this, c),
        intermediate(*this, c),
        output(*this, c) {}
  Tensor operator()(Tensor x, Tensor mask, Tensor bias) const {
    const auto call = Enter();
    const Tensor seen = attention(x, mask, bias);
    return output(intermediate(seen), seen);
  }
  AttentionBlock attention;
  Intermediate intermediate;
  Output output;
};

struct Encoder : Layer {
  Encoder(const Layer& parent, const MpnetConfig& c)
      : Layer(parent, "encoder", ClassOf("Encoder")),
        layers(Repeated<EncoderLayer>(*this, "layer", c.layers, c)),
        table(*this, "relative_attention_bias", c.buckets, c.heads.query) {}
  Tensor operator()(Tensor x, Tensor mask) const {
    const auto call = Enter();
    const Tensor bias = Bias();
    for (const EncoderLayer& layer : layers) x = layer(x, mask, bias);
    return x;
  }
  std::vector<EncoderLayer> layers;
  Embedding table;

 private:
  template <class... Args>
  Tensor Call(std::string_view op, const Args&... args) const {
    return b().Call(op, args...);
  }
  // Of each head, by the bucket of the distance of two tokens.
  Tensor Bias() const {
    const Builder::Arg dtype = Builder::Named("dtype", DType::kInt64);
    const Tensor from = Call("aten::unsqueeze", Call("aten::arange", net().seq, dtype), 1);
    const Tensor to = Call("aten::unsqueeze", Call("aten::arange", net().seq, dtype), 0);
    const Tensor values = table(Buckets(Call("aten::sub.Tensor", to, from)));
    const Tensor heads = Call("aten::unsqueeze", Call("aten::permute", values, Shape{2, 0, 1}), 0);
    const Tensor all = Call("aten::expand", heads, Shape{net().batch, -1, net().seq, net().seq});
    return Call("aten::contiguous", all);
  }
  // relative_position_bucket: half of them for each direction, half of those for single distances.
  Tensor Buckets(Tensor distance) const {
    constexpr std::int64_t kHalf = kBuckets / 2, kNear = kHalf / 2;
    Tensor steps = Call("aten::neg", distance);
    const Tensor before = Call("aten::to.dtype", Call("aten::lt.Scalar", steps, 0), DType::kInt64);
    const Tensor base = Call("aten::add.Tensor", Call("aten::mul.Tensor", before, kHalf), 0);
    steps = Call("aten::abs", steps);
    const Tensor near = Call("aten::lt.Scalar", steps, kNear);
    Tensor far = Call("aten::div.Tensor", Call("aten::to.dtype", steps, DType::kFloat32), kNear);
    far = Call("aten::div.Tensor", Call("aten::log", far),
               std::log(static_cast<double>(kFarthest) / kNear));
    far = Call("aten::mul.Tensor", far, kHalf - kNear);
    far = Call("aten::add.Tensor", Call("aten::to.dtype", far, DType::kInt64), kNear);
    far = Call("aten::min.other", far, Call("aten::full_like", far, kHalf - 1));
    return Call("aten::add_.Tensor", base, Call("aten::where.self", near, steps, far));
  }
};

struct Pooler : Layer {
  Pooler(const Layer& parent, const MpnetConfig& c)
      : Layer(parent, "pooler", ClassOf("Pooler")),
        dense(*this, "dense", c.hidden, c.hidden),
        act(*this, "activation", Activation::Name{"", "tanh"}) {}
  Tensor operator()(Tensor hidden) const {
    const auto call = Enter();
    return act(dense(FirstToken(net(), hidden)));
  }
  Linear dense;
  Activation act;
};

struct Model : Layer {
  Model(const Layer& parent, std::string_view name, const MpnetConfig& c, Pooling pooling)
      : Layer(parent, name, ClassOf("Model")), embeddings(*this, c), encoder(*this, c) {
    if (pooling == Pooling::kFirst) pooler.emplace(*this, c);
  }
  Encoded operator()(Tensor tokens) const {
    const auto call = Enter();
    const Tensor x = embeddings(tokens);
    const Tensor hidden = encoder(x, FullMask(net(), net().seq));
    return {.hidden = hidden, .pooled = pooler ? (*pooler)(hidden) : Tensor()};
  }
  Tensor words() const { return embeddings.words.weight; }
  Embeddings embeddings;
  Encoder encoder;
  std::optional<Pooler> pooler;
};

struct WordHead : Layer {
  WordHead(const Layer& root, const MpnetConfig& c, Tensor words)
      : Layer(root, "lm_head", ClassOf("LMHead")),
        bias(Parameter("bias", {c.vocabulary})),
        dense(*this, "dense", c.hidden, c.hidden),
        norm(*this, "layer_norm", c.hidden, c.eps),
        decoder(*this, "decoder", c.hidden, c.vocabulary,
                c.tied ? Linear::Ties{.weight = words, .bias = bias} : Linear::Ties{}) {}
  Tensor operator()(Tensor hidden) const {
    const auto call = Enter();
    return decoder(norm(b().Call("aten::gelu", dense(hidden))));
  }
  Tensor bias;
  Linear dense;
  LayerNorm norm;
  Linear decoder;
};

struct ClassHead : Layer {
  ClassHead(const Layer& root, const MpnetConfig& c, std::int64_t classes)
      : Layer(root, "classifier", ClassOf("ClassificationHead")),
        dense(*this, "dense", c.hidden, c.hidden),
        dropout(*this, "dropout", c.dropout),
        out(*this, "out_proj", c.hidden, classes) {}
  Tensor operator()(const Encoded& encoded) const {
    const auto call = Enter();
    const Tensor first = dropout(FirstToken(net(), encoded.hidden));
    return out(dropout(b().Call("aten::tanh", dense(first))));
  }
  Linear dense;
  Dropout dropout;
  Linear out;
};

void Build(Net& net) {
  const MpnetConfig c = Read(net.config);
  // Places are counted behind the padding's number.
  BuildEncoder<Model, WordHead, ClassHead>(net, c,
                                           {.base = "mpnet",
                                            .hidden = c.hidden,
                                            .vocabulary = c.vocabulary,
                                            .positions = c.positions - kPadding - 1,
                                            .token_dropout = c.dropout,
                                            .alone = Pooling::kFirst});
}

constexpr std::array<std::string_view, 5> kHeads{"Model", "ForMaskedLM",
                                                 "ForSequenceClassification",
                                                 "ForTokenClassification", "ForQuestionAnswering"};

}  // namespace

const Architecture kMpnet{.type = "mpnet",
                          .prefix = "MPNet",
                          .summary = "MPNet",
                          .heads = kHeads,
                          .build = Build,
                          .only_attention = Attention::kEager};

}  // namespace steelyard::models
