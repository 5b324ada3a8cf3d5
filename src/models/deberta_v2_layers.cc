// SPDX-License-Identifier: Apache-2.0
//
// The layers of modeling_deberta_v2.py, of transformers 5.
#include <algorithm>

#include "models/deberta_v2.h"

namespace steelyard::models {
namespace {

// A number that is not there, or less than one, is `otherwise`.
std::int64_t CountOr(const Settings& c, std::string_view key, std::int64_t otherwise) {
  if (c.Real(key, -1.0) < 1.0) return otherwise;
  return c.Count(key, otherwise);
}

bool Attends(const Settings& c, std::string_view kind) {
  constexpr std::string_view kKey = "pos_att_type";
  if (!c.IsList(kKey)) return c.Text(kKey, "").find(kind) != std::string::npos;
  const std::vector<std::string> kinds = c.Texts(kKey);
  return std::ranges::find(kinds, kind) != kinds.end();
}

}  // namespace

std::string DebertaClass(std::string_view name) {
  return std::string("transformers.models.deberta_v2.modeling_deberta_v2.").append(name);
}

DebertaConfig ReadDeberta(const Settings& c) {
  const std::int64_t hidden = c.Size("hidden_size", 1536);
  const std::int64_t heads = c.Size("num_attention_heads", 24);
  const std::int64_t width = c.Quotient("hidden_size", hidden, "num_attention_heads", heads);
  const std::int64_t positions = c.Size("max_position_embeddings", 512);
  const std::int64_t buckets = CountOr(c, "position_buckets", 0);
  if (buckets == 1) c.Refuse("position_buckets", "one kind of distances");
  return {
      .hidden = hidden,
      .inner = c.Size("intermediate_size", 6144),
      .layers = c.Layers("num_hidden_layers", 24),
      .vocabulary = c.Size("vocab_size", 128100),
      .positions = positions,
      .types = c.Count("type_vocab_size", 0),
      .embedding = c.Size("embedding_size", hidden),
      .padding = c.Count("pad_token_id", 0),
      .heads = heads,
      .width = c.Count("attention_head_size", width),
      .eps = c.Real("layer_norm_eps", 1e-7),
      .dropout = c.Share("hidden_dropout_prob", 0.1),
      .attention_dropout = c.Share("attention_probs_dropout_prob", 0.1),
      .distances = {.relative = c.Flag("relative_attention", false),
                    .buckets = buckets,
                    .span = buckets > 0 ? buckets : CountOr(c, "max_relative_positions", positions),
                    .to_positions = Attends(c, "c2p"),
                    .from_positions = Attends(c, "p2c"),
                    .shared = c.Flag("share_att_key", false)},
      .positions_added = c.Flag("position_biased_input", true),
      .normed_distances = c.Text("norm_rel_ebd", "none").find("layer_norm") != std::string::npos,
      .legacy = c.Flag("legacy", true),
      .tied = c.Flag("tie_word_embeddings", true),
      .kernel = CountOr(c, "conv_kernel_size", 0),
      .groups = c.Count("conv_groups", 1)};
}

DebertaOutput::DebertaOutput(const Layer& parent, std::string_view class_name, std::int64_t in,
                             const DebertaConfig& c)
    : Layer(parent, "output", DebertaClass(class_name)),
      dense(*this, "dense", in, c.hidden),
      norm(*this, "LayerNorm", c.hidden, c.eps),
      dropout(*this, "dropout", c.dropout) {}

Tensor DebertaOutput::operator()(Tensor x, Tensor before) const {
  const auto call = Enter();
  return norm(b().Call("aten::add.Tensor", dropout(dense(x)), before));
}

DebertaLayer::Attention::Attention(const Layer& parent, std::int64_t layer, const DebertaConfig& c)
    : Layer(parent, "attention", DebertaClass("DebertaV2Attention")),
      self(*this, DebertaClass("DisentangledSelfAttention"), layer,
           {.hidden = c.hidden,
            .heads = c.heads,
            .width = c.width,
            .dropout = c.attention_dropout,
            .table_dropout = c.dropout,
            .distances = c.distances}),
      output(*this, "DebertaV2SelfOutput", c.hidden, c) {}

DebertaLayer::Intermediate::Intermediate(const Layer& parent, const DebertaConfig& c)
    : Layer(parent, "intermediate", DebertaClass("DebertaV2Intermediate")),
      dense(*this, "dense", c.hidden, c.inner),
      act(*this, "intermediate_act_fn", "hidden_act", "gelu") {}

DebertaLayer::DebertaLayer(const Layer& parent, const std::string& name, std::int64_t number,
                           const DebertaConfig& c)
    : Layer(parent, name, DebertaClass("DebertaV2Layer")),
      attention_(*this, number, c),
      intermediate_(*this, c),
      output_(*this, "DebertaV2Output", c.inner, c) {}

Tensor DebertaLayer::operator()(Tensor x, Tensor mask, Tensor distances, Tensor table) const {
  const auto call = Enter();
  {
    const auto inner = attention_.Enter();
    x = attention_.output(attention_.self(x, mask, distances, table), x);
  }
  Tensor wide;
  {
    const auto inner = intermediate_.Enter();
    wide = intermediate_.act(intermediate_.dense(x));
  }
  return output_(wide, x);
}

Tensor AsFactor(const Net& net, Tensor mask) {
  return Cast(net, net.b.Call("aten::unsqueeze", mask, 2), DType::kFloat32, net.dtype());
}

DebertaConvolution::DebertaConvolution(const Layer& parent, const DebertaConfig& c)
    : Layer(parent, "conv", DebertaClass("ConvLayer")),
      c_(c),
      conv_(*this, "conv",
            {.in = c.hidden,
             .out = c.hidden,
             .kernel = {c.kernel},
             .padding = {(c.kernel - 1) / 2},
             .groups = c.groups}),
      norm_(*this, "LayerNorm", c.hidden, c.eps),
      dropout_(*this, "dropout", c.dropout),
      act_(*this, "", "conv_act", "tanh") {
  if (c.groups == 0) net().config.Refuse("conv_groups", "a convolution in no groups");
  if (c.kernel % 2 == 0) net().config.Refuse("conv_kernel_size", "it changes the length");
}

Tensor DebertaConvolution::operator()(Tensor x, Tensor residual, Tensor mask) const {
  const auto call = Enter();
  const auto turned = [&](Tensor of) {
    return b().Call("aten::contiguous", b().Call("aten::permute", of, Shape{0, 2, 1}));
  };
  Tensor out = turned(conv_(turned(x)));
  Tensor hidden = b().Call("aten::rsub.Scalar", mask, 1);
  hidden = b().Call("aten::unsqueeze", b().Call("aten::to.dtype", hidden, DType::kBool), -1);
  hidden = b().Call("aten::expand", hidden, Shape{net().batch, net().seq, c_.hidden});
  out = act_.Apply(dropout_(b().Call("aten::masked_fill_.Scalar", out, hidden, 0)));
  const Tensor normed = norm_(b().Call("aten::add.Tensor", residual, out));
  return b().Call("aten::mul.Tensor", normed, AsFactor(net(), mask));
}

}  // namespace steelyard::models
