// SPDX-License-Identifier: Apache-2.0
//
// modeling_gpt2.py, of transformers 5.
#include <array>
#include <string>

#include "models/heads.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::string_view kModule = "transformers.models.gpt2.modeling_gpt2.";

std::string ClassOf(std::string_view name) { return std::string(kModule).append(name); }

struct Gpt2Config {
  std::int64_t hidden, inner, layers, vocabulary, positions;
  Heads heads;
  double eps, residual_dropout, embedding_dropout, attention_dropout;
  bool scaled, scaled_by_layer, upcast, tied;
};

Gpt2Config Read(const Settings& c) {
  const std::int64_t hidden = c.Size("n_embd", 768);
  const Heads heads =
      HeadsOf(c, {.hidden = hidden, .hidden_key = "n_embd", .key = "n_head", .missing = 12});
  RefuseCrossAttention(c);
  return {.hidden = hidden,
          .inner = c.Count("n_inner", 4 * hidden),
          .layers = c.Layers("n_layer", 12),
          .vocabulary = c.Size("vocab_size", 50257),
          .positions = c.Size("n_positions", 1024),
          .heads = heads,
          .eps = c.Real("layer_norm_epsilon", 1e-5),
          .residual_dropout = c.Share("resid_pdrop", 0.1),
          .embedding_dropout = c.Share("embd_pdrop", 0.1),
          .attention_dropout = c.Share("attn_pdrop", 0.1),
          .scaled = c.Flag("scale_attn_weights", true),
          .scaled_by_layer = c.Flag("scale_attn_by_inverse_layer_idx", false),
          .upcast = c.Flag("reorder_and_upcast_attn", false),
          .tied = c.Flag("tie_word_embeddings", true)};
}

CacheLayer KeptBy(const Gpt2Config& c) {
  return {.heads = c.heads.key, .key_width = c.heads.width, .value_width = c.heads.width};
}

// transformers' Conv1D: a linear layer whose weight is turned.
struct Conv1d : Layer {
  Conv1d(const Layer& parent, std::string_view name, std::int64_t in, std::int64_t out)
      : Layer(parent, name, "transformers.pytorch_utils.Conv1D"),
        weight(Parameter("weight", {in, out})),
        bias(Parameter("bias", {out})),
        width_in(in),
        width_out(out) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    const Tensor flat = b().Call("aten::view", x, Shape{-1, width_in});
    const Tensor product = b().Call("aten::addmm", bias, flat, weight);
    return b().Call("aten::view", product, Shape{net().batch, net().seq, width_out});
  }
  Tensor weight, bias;
  std::int64_t width_in, width_out;
};

struct SelfAttention : Layer {
  SelfAttention(const Layer& parent, const Gpt2Config& config, std::int64_t number)
      : Layer(parent, "attn", ClassOf("GPT2Attention")),
        c(config),
        scale(c.scaled ? c.heads.scale() : 1.0),
        qkv(*this, "c_attn", c.hidden, 3 * c.hidden),
        out(*this, "c_proj", c.hidden, c.hidden),
        attention_dropout(*this, "attn_dropout", c.attention_dropout),
        dropout(*this, "resid_dropout", c.residual_dropout) {
    if (c.scaled_by_layer) scale /= static_cast<double>(number + 1);
  }
  Attended operator()(Tensor x, Tensor mask) const {
    const auto call = Enter();
    const std::vector<Tensor> parts = b().CallMany("aten::split.Tensor", 3, qkv(x), c.hidden, 2);
    const Tensor key = SplitHeads(net(), parts[1], c.heads.width, net().seq);
    const Tensor value = SplitHeads(net(), parts[2], c.heads.width, net().seq);
    const Tensor query = SplitHeads(net(), parts[0], c.heads.width, net().seq);
    const CacheLayer layer = KeptBy(c);
    const States states = Updated(net(), {.key = key, .value = value}, layer);
    const AttentionCall attention{.query = query,
                                  .key = states.key,
                                  .value = states.value,
                                  .mask = mask,
                                  .heads = c.heads,
                                  .scale = scale,
                                  .dropout = c.attention_dropout,
                                  .backwards = true,
                                  .wide_softmax = false,
                                  .contiguous = false};
    Attended seen = Seen(attention, layer);
    const Tensor joined = b().Call("aten::reshape", seen.out, Shape{net().batch, net().seq, -1});
    seen.out = dropout(out(b().Call("aten::contiguous", joined)));
    Leave(net(), {query, states.key, states.value});
    return seen;
  }
  Attended Seen(const AttentionCall& call, const CacheLayer& layer) const {
    const bool upcast = c.upcast && net().options.attention == Attention::kEager;
    if (Generates(net())) {
      if (upcast) {
        net().config.Refuse("reorder_and_upcast_attn",
                            "a call of a generation is not built with scores in float32",
                            "Say --attention sdpa, which has none.");
      }
    } else if (upcast) {
      return {.out = Upcast(call.query, call.key, call.value, call.mask)};
    }
    return AttendInCall(net(), call, layer);
  }
  // Scores in float32, whatever the rest is in.
  Tensor Upcast(Tensor query, Tensor key, Tensor value, Tensor mask) const {
    const Dim all = b().Product(net().batch, c.heads.query);
    const auto wide = [&](Tensor x) { return Cast(net(), x, net().dtype(), DType::kFloat32); };
    Tensor scores = b().Call("aten::empty.memory_format", Shape{all, net().seq, net().seq},
                             Builder::Named("dtype", DType::kFloat32));
    const Tensor rows = b().Call("aten::reshape", query, Shape{-1, net().seq, c.heads.width});
    const Tensor turned = b().Call("aten::transpose.int", key, -1, -2);
    const Tensor columns = b().Call("aten::reshape", turned, Shape{-1, c.heads.width, net().seq});
    const Tensor left = wide(rows);
    scores = b().Call("aten::baddbmm", scores, left, wide(columns), Builder::Named("beta", 0),
                      Builder::Named("alpha", scale));
    scores =
        b().Call("aten::reshape", scores, Shape{net().batch, c.heads.query, net().seq, net().seq});
    scores = b().Call("aten::softmax.int", b().Call("aten::add.Tensor", scores, mask), -1);
    scores = attention_dropout(Cast(net(), scores, DType::kFloat32, net().dtype()));
    return b().Call("aten::transpose.int", b().Call("aten::matmul", scores, value), 1, 2);
  }
  const Gpt2Config& c;
  double scale;
  Conv1d qkv, out;
  Dropout attention_dropout, dropout;
};

struct Mlp : Layer {
  Mlp(const Layer& parent, const Gpt2Config& c)
      : Layer(parent, "mlp", ClassOf("GPT2MLP")),
        in(*this, "c_fc", c.hidden, c.inner),
        out(*this, "c_proj", c.inner, c.hidden),
        act(*this, "act", "activation_function", "gelu_new"),
        dropout(*this, "dropout", c.residual_dropout) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    const Tensor wide = in(x);
    const Tensor active = act(wide);
    Leave(net(), {wide});
    return dropout(out(active));
  }
  Conv1d in, out;
  Activation act;
  Dropout dropout;
};

struct Block : Layer {
  Block(const Layer& parent, const std::string& name, std::int64_t number, const Gpt2Config& c)
      : Layer(parent, name, ClassOf("GPT2Block")),
        before(*this, "ln_1", c.hidden, c.eps),
        attention(*this, c, number),
        between(*this, "ln_2", c.hidden, c.eps),
        mlp(*this, c) {}
  Tensor operator()(Tensor x, Tensor mask) const {
    const auto call = Enter();
    const Tensor first = before(x);
    const Attended seen = attention(first, mask);
    const Tensor middle = b().Call("aten::add.Tensor", seen.out, x);
    Leave(net(), {first});
    const Tensor second = between(middle);
    const Tensor found = mlp(second);
    const Tensor last = b().Call("aten::add.Tensor", middle, found);
    Leave(net(), {second});
    Leave(net(), {middle, seen.out, seen.weights, found});
    return last;
  }
  LayerNorm before;
  SelfAttention attention;
  LayerNorm between;
  Mlp mlp;
};

struct Model : Layer {
  Model(const Layer& parent, std::string_view name, const Gpt2Config& config)
      : Layer(parent, name, ClassOf("GPT2Model")),
        c(config),
        embed(*this, "wte", c.vocabulary, c.hidden),
        places(*this, "wpe", c.positions, c.hidden),
        dropout(*this, "drop", c.embedding_dropout),
        blocks(Numbered<Block>(*this, "h", c.layers, c)),
        norm(*this, "ln_f", c.hidden, c.eps) {}
  Tensor operator()(Tensor tokens) const {
    const auto call = Enter();
    const Tensor words = embed(b().Call("aten::view", tokens, Shape{-1, net().seq}));
    const Tensor positions = Positions(net());
    const Tensor at = places(positions);
    Tensor x = b().Call("aten::add.Tensor", words, at);
    const Tensor mask =
        Generates(net()) ? MaskOfStep(net(), KeptBy(c)) : CausalMask(net(), positions);
    x = dropout(x);
    for (const Block& block : blocks) {
      const Tensor next = block(x, mask);
      Leave(net(), {x});
      x = next;
    }
    x = norm(x);
    Leave(net(), {positions, words, at, mask});
    return b().Call("aten::view", x, Shape{-1, net().seq, c.hidden});
  }
  const Gpt2Config& c;
  Embedding embed, places;
  Dropout dropout;
  std::vector<Block> blocks;
  LayerNorm norm;
};

void Build(Net& net) {
  const Gpt2Config c = Read(net.config);
  const Settings& s = net.config;
  BuildText<Model>(net, c,
                   {.hidden = c.hidden,
                    .vocabulary = c.vocabulary,
                    .positions = c.positions,
                    .tied = c.tied,
                    .dropout = s.Share("classifier_dropout", s.Share("hidden_dropout", 0.1)),
                    .base = "transformer",
                    .span_base = "transformer",
                    .token_class = "classifier",
                    .wide_tokens = false});
}

constexpr std::array<std::string_view, 5> kHeads{"LMHeadModel", "Model",
                                                 "ForSequenceClassification",
                                                 "ForTokenClassification", "ForQuestionAnswering"};

}  // namespace

const Architecture kGpt2{.type = "gpt2",
                         .prefix = "GPT2",
                         .summary = "GPT-2",
                         .heads = kHeads,
                         .build = Build,
                         .generates = true,
                         .flash = true};

}  // namespace steelyard::models
