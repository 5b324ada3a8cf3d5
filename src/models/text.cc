// SPDX-License-Identifier: Apache-2.0
//
// While it traces, transformers neither leaves a mask away nor knows that positions are of one
// sequence: it finds packed sequences out of the positions and writes masks in full
// (transformers 5, masking_utils.py).
#include "models/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ir/cache_layer.h"

namespace steelyard::models {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
// Kinds of rotary frequencies that are found once, before the model is called.
constexpr std::array<std::string_view, 4> kFixedRotary{"default", "linear", "llama3", "yarn"};
constexpr std::int64_t kIgnored = -100;  // a label that counts for nothing

// arange(size) + 0, as [1, .., size, .., 1]: an axis of the four of a mask.
Tensor Axis(const Net& net, Tensor line, int axis) {
  // transformers indexes with None behind, then in front: one unsqueeze for each new dimension.
  for (int dim = 0; dim < 4; ++dim) {
    if (dim != axis) line = net.b.Call("aten::unsqueeze", line, dim);
  }
  return line;
}

Tensor Count(const Net& net, Builder::Size size) { return net.b.Call("aten::arange", size); }

Tensor CountFrom(const Net& net, Builder::Size size, std::int64_t first) {
  const Tensor line = Count(net, size);
  if (!Generates(net)) return net.b.Call("aten::add.Tensor", line, first);
  // Python makes a tensor of the number before it calls the operator.
  const Tensor counted = net.b.Call("aten::add.Tensor", line, net.b.Call("steelyard::box", first));
  Leave(net, {line});
  return counted;
}

Tensor CountFromZero(const Net& net, Builder::Size size) { return CountFrom(net, size, 0); }

// Which of the packed sequences a token is of: [batch, seq].
Tensor PackedSequences(const Net& net, Tensor positions) {
  Builder& b = net.b;
  const Tensor wide = b.Call("aten::expand", positions, Shape{net.batch, -1});
  const Tensor first = b.Call("aten::slice.Tensor", wide, 1, 0, 1);
  const Tensor before = b.Call("aten::sub.Tensor", first, 1);
  const Tensor steps = b.Call("aten::diff", wide, 1, -1, before);
  return b.Call("aten::cumsum", b.Call("aten::ne.Scalar", steps, 1), -1);
}

// The four lines of a mask.
struct MaskAxes {
  Tensor batches, queries, keys;
};

MaskAxes AxesOf(const Net& net, Builder::Size seq, Builder::Size keys) {
  const Tensor batch_line = Count(net, net.batch);
  const Tensor head_line = Count(net, 1);
  const Tensor query_line = CountFromZero(net, seq);
  const Tensor key_line = CountFromZero(net, keys);
  const Tensor batches = Axis(net, batch_line, 0);
  Axis(net, head_line, 1);  // which no mask asks for
  const Tensor queries = Axis(net, query_line, 2);
  return {.batches = batches, .queries = queries, .keys = Axis(net, key_line, 3)};
}

// Of all of the batch; bool for sdpa, added for eager attention.
Tensor AsAttentionTakesIt(const Net& net, Tensor mask, Builder::Size seq, Builder::Size keys) {
  Builder& b = net.b;
  mask = b.Call("aten::expand", mask, Shape{net.batch, -1, seq, keys});
  if (net.options.attention == Attention::kSdpa) return mask;
  const Tensor nothing = b.Call("aten::zeros", Shape{}, Builder::Named("dtype", net.dtype()));
  return b.Call("aten::where.ScalarOther", mask, nothing, LeastOf(net.dtype()));
}

// create_position_bias_mask
Tensor BiasedMask(const Net& net, Tensor mask, Tensor bias) {
  const Tensor both = net.b.Call("aten::where.ScalarOther", mask, bias, LeastOf(net.dtype()));
  return net.b.Call("aten::contiguous", both);
}

Tensor RepeatHeads(const Net& net, Tensor x, const Heads& heads, Dim seq) {
  const std::int64_t times = heads.query / std::max<std::int64_t>(heads.key, 1);
  if (times == 1) return x;
  Builder& b = net.b;
  const Tensor wide = b.Call("aten::expand", b.Call("aten::unsqueeze", x, 2),
                             Shape{net.batch, heads.key, times, seq, heads.width});
  return b.Call("aten::reshape", wide, Shape{net.batch, heads.query, seq, heads.width});
}

// transformers' flash_attention_forward, of texts without padding. A softcap takes no memory there,
// and the operator is not told of it.
Tensor AttendByFlash(const Net& net, const AttentionCall& call) {
  constexpr std::int64_t kUnit = 8, kWidest = 256;
  const std::int64_t width = call.heads.width, value_width = call.value_width.value_or(width);
  if (width % kUnit != 0 || width > kWidest || value_width > width) {
    net.config.Refuse("head_dim",
                      fmt::format("flash attention takes heads of a multiple of {} that are at "
                                  "most {} wide, and these are of {}",
                                  kUnit, kWidest, std::max(width, value_width)),
                      "Pass --attention sdpa.");
  }
  Builder& b = net.b;
  const auto turned = [&](Tensor x) { return b.Call("aten::transpose.int", x, 1, 2); };
  const Tensor query = turned(call.query);
  const Tensor key = turned(call.key);
  Tensor value = turned(call.value);
  if (value_width != width) value = b.Call("aten::pad", value, Shape{0, width - value_width});
  const double dropout = net.options.training ? call.dropout : 0.0;
  // As many before a token as there are in the window with it.
  const Builder::Arg reach = call.window ? Builder::Arg(*call.window - 1) : std::nullopt;
  const Tensor seen =
      b.CallMany("aten::_flash_attention_forward", 5, query, key, value, std::nullopt, std::nullopt,
                 net.seq, net.seq, dropout, call.backwards, false, call.scale, reach, reach)[0];
  return value_width == width ? seen : b.Call("aten::slice.Tensor", seen, 3, 0, value_width);
}

// Shares of scores of which each head has one more, for nothing. `variables` are what a function
// keeps until it returns.
Tensor WeightsBesideSinks(const Net& net, const AttentionCall& call, Tensor scores,
                          std::vector<Tensor>& variables) {
  Builder& b = net.b;
  const Tensor of_heads = b.Call("aten::reshape", call.sinks, Shape{1, -1, 1, 1});
  const Tensor sinks = b.Call("aten::expand", of_heads, Shape{net.batch, -1, net.seq, -1});
  const Tensor all = b.Call("aten::cat", std::vector<Tensor>{scores, sinks}, -1);
  const Tensor most = b.CallMany("aten::max.dim", 2, all, -1, true)[0];
  const Tensor lowered = b.Call("aten::sub.Tensor", all, most);
  Leave(net, {all});
  const Tensor shares = b.Call("aten::softmax.int", lowered, -1, net.dtype());
  const Tensor kept = b.Call("aten::slice.Tensor", shares, 3, 0, -1);
  const double dropout = net.options.training ? call.dropout : 0.0;
  const Tensor weights = b.Call("aten::dropout", kept, dropout, net.options.training);
  Leave(net, {scores});
  variables = {lowered, shares, kept};
  return weights;
}

// Eager attention's weights of `key`, whose heads have been repeated.
Tensor Weights(const Net& net, const AttentionCall& call, Tensor key,
               std::vector<Tensor>& variables) {
  Builder& b = net.b;
  const Tensor turned = b.Call("aten::transpose.int", key, 2, 3);
  Tensor scores =
      b.Call("aten::mul.Tensor", b.Call("aten::matmul", call.query, turned), call.scale);
  if (call.softcap) {
    scores = b.Call("aten::tanh", b.Call("aten::div.Tensor", scores, *call.softcap));
    scores = b.Call("aten::mul.Tensor", scores, *call.softcap);
  }
  if (call.bias.defined()) scores = b.Call("aten::add.Tensor", scores, call.bias);
  if (call.mask.defined()) scores = b.Call("aten::add.Tensor", scores, call.mask);
  if (call.sinks.defined()) return WeightsBesideSinks(net, call, scores, variables);
  if (call.wide_softmax) {
    scores = b.Call("aten::softmax.int", scores, -1, DType::kFloat32);
    scores = Cast(net, scores, DType::kFloat32, net.dtype());
  } else {
    scores = b.Call("aten::softmax.int", scores, -1);
  }
  const double dropout = net.options.training ? call.dropout : 0.0;
  return b.Call("aten::dropout", scores, dropout, net.options.training);
}

Tensor NextTokenLoss(const Net& net, Tensor logits, Tensor labels, std::int64_t vocabulary) {
  Builder& b = net.b;
  const Tensor wide = Cast(net, logits, net.dtype(), DType::kFloat32);
  const Tensor padded =
      b.Call("aten::pad", labels, Shape{0, 1}, "constant", static_cast<double>(kIgnored));
  const Tensor next = b.Call("aten::contiguous", b.Call("aten::slice.Tensor", padded, 1, 1, kEnd));
  const Tensor flat = b.Call("aten::view", wide, Shape{-1, vocabulary});
  const Tensor loss =
      b.Call("aten::cross_entropy_loss", flat, b.Call("aten::view", next, Shape{-1}));
  Leave(net, {padded});
  return loss;
}

void CheckFrequencies(const Settings& rope) {
  const std::string type = rope.Text("rope_type", rope.Text("type", "default"));
  if (std::ranges::find(kFixedRotary, std::string_view(type)) != kFixedRotary.end()) return;
  rope.Refuse("rope_type", "frequencies of type \"" + type + "\" are not built",
              "They change with the length of the text. Known are default, linear, llama3 and "
              "yarn.");
}

}  // namespace

double LeastOf(DType dtype) {
  switch (BitsOf(dtype)) {
    case 16:
      return dtype == DType::kFloat16 ? -65504.0 : -3.3895313892515355e38;
    case 64:
      return std::numeric_limits<double>::lowest();
    default:
      return std::numeric_limits<float>::lowest();
  }
}

Tensor TokenInput(Net& net, std::int64_t max_seq) {
  const std::int64_t most = std::max<std::int64_t>(max_seq, 1);
  net.batch = net.b.Symbol({.name = "batch", .example = 1});
  if (Generates(net)) {
    const std::int64_t seen = SeenBefore(net) + net.options.cache->tokens;
    if (seen > most) {
      net.config.Refuse(
          "max_position_embeddings",
          fmt::format("the model has positions for {} tokens, and is to see {}", most, seen),
          "Let it read or write fewer: --generate 512+128.");
    }
    net.seq = Dim(net.options.cache->tokens);
    return net.b.Input("input_ids", DType::kInt64, {net.batch, net.seq});
  }
  net.seq = net.b.Symbol({.name = "seq", .example = std::min(kUsualSeq, most), .max = most});
  return net.b.Input("input_ids", DType::kInt64, {net.batch, net.seq});
}

Tensor TokenLabels(Net& net) {
  if (!net.options.labelled) return {};
  return net.b.Input("labels", DType::kInt64, {net.batch, net.seq});
}

Tensor Positions(const Net& net) {
  return net.b.Call("aten::unsqueeze", CountFrom(net, net.seq, SeenBefore(net)), 0);
}

Tensor CausalMask(const Net& net, Tensor positions, std::optional<std::int64_t> window) {
  Builder& b = net.b;
  const Tensor packed = PackedSequences(net, positions);
  const Tensor wide = b.Call("aten::expand", positions, Shape{net.batch, -1});
  if (net.options.attention == Attention::kFlash) return {};
  const MaskAxes axes = AxesOf(net, net.seq, net.seq);
  const auto at = [&](Tensor of, Tensor axis) {
    return b.Call("aten::index.Tensor", of, std::vector<Tensor>{axes.batches, axis});
  };
  const auto all_true = [&](Tensor like) {
    return b.Call("aten::new_ones", like, Shape{}, Builder::Named("dtype", DType::kBool));
  };
  const auto both = [&](Tensor x, Tensor y) { return b.Call("aten::__and__.Tensor", x, y); };

  Tensor mask = all_true(axes.queries);
  const Tensor query_sequence = at(packed, axes.queries);
  const Tensor key_sequence = at(packed, axes.keys);
  mask = both(mask, b.Call("aten::eq.Tensor", query_sequence, key_sequence));
  const Tensor query_position = at(wide, axes.queries);
  const Tensor key_position = at(wide, axes.keys);
  if (window) {
    Tensor near = all_true(query_position);
    const Tensor first = b.Call("aten::sub.Tensor", query_position, *window);
    near = both(near, b.Call("aten::gt.Tensor", key_position, first));
    near = both(near, b.Call("aten::le.Tensor", key_position, query_position));
    mask = both(mask, near);
  } else {
    mask = both(mask, b.Call("aten::le.Tensor", key_position, query_position));
  }
  return AsAttentionTakesIt(net, mask, net.seq, net.seq);
}

Tensor CausalMask(const Net& net) {
  if (net.options.attention == Attention::kFlash) return {};
  const MaskAxes axes = AxesOf(net, net.seq, net.seq);
  const Tensor mask = net.b.Call("aten::le.Tensor", axes.keys, axes.queries);
  return AsAttentionTakesIt(net, mask, net.seq, net.seq);
}

Tensor NearCausalMask(const Net& net, std::int64_t window) {
  Builder& b = net.b;
  const MaskAxes axes = AxesOf(net, net.seq, net.seq);
  const Tensor all =
      b.Call("aten::new_ones", axes.queries, Shape{}, Builder::Named("dtype", DType::kBool));
  const Tensor first = b.Call("aten::sub.Tensor", axes.queries, window);
  const Tensor near =
      b.Call("aten::__and__.Tensor", all, b.Call("aten::gt.Tensor", axes.keys, first));
  const Tensor before = b.Call("aten::le.Tensor", axes.keys, axes.queries);
  return AsAttentionTakesIt(net, b.Call("aten::__and__.Tensor", near, before), net.seq, net.seq);
}

Tensor MaskOfStep(const Net& net, const CacheLayer& layer, std::optional<std::int64_t> window) {
  Builder& b = net.b;
  const std::int64_t keys = KeysGiven(net, layer);
  const bool sdpa = net.options.attention == Attention::kSdpa;
  if (sdpa && (!window || keys < *window)) return {};
  const std::int64_t seen = SeenBefore(net);
  const std::int64_t first = seen - TokensHeld(layer, seen);
  const Tensor batches = Count(net, net.batch);
  const Tensor heads = Count(net, 1);
  const Tensor queries = CountFrom(net, net.seq, seen);
  const Tensor places = CountFrom(net, keys, first);
  const Tensor of_batch = Axis(net, batches, 0);
  const Tensor of_head = Axis(net, heads, 1);
  const Tensor query = Axis(net, queries, 2);
  const Tensor key = Axis(net, places, 3);
  Tensor mask;
  if (!window) {
    mask = b.Call("aten::le.Tensor", key, query);
  } else {
    const Builder::Arg flag = Builder::Named("dtype", DType::kBool);
    const Tensor all = b.Call("aten::new_ones", query, Shape{}, flag);
    const Tensor last = b.Call("aten::sub.Tensor", query, *window);
    const Tensor near = b.Call("aten::__and__.Tensor", all, b.Call("aten::gt.Tensor", key, last));
    Leave(net, {all});
    mask = b.Call("aten::__and__.Tensor", near, b.Call("aten::le.Tensor", key, query));
    Leave(net, {near});
  }
  Leave(net, {of_batch, of_head, query, key});
  mask = b.Call("aten::expand", mask, Shape{net.batch, -1, net.seq, keys});
  Leave(net, {batches, heads, queries, places});
  if (sdpa) return mask;
  const Tensor nothing = b.Call("aten::zeros", Shape{}, Builder::Named("dtype", net.dtype()));
  const Tensor added = b.Call("aten::where.ScalarOther", mask, nothing, LeastOf(net.dtype()));
  Leave(net, {mask});
  return added;
}

Tensor FullMask(const Net& net, Builder::Size seq) {
  if (net.options.attention == Attention::kFlash) return {};
  const MaskAxes axes = AxesOf(net, seq, seq);
  return AsAttentionTakesIt(net, net.b.Call("aten::ge.Scalar", axes.queries, 0), seq, seq);
}

Tensor NearMask(const Net& net, std::int64_t distance) {
  if (net.options.attention == Attention::kFlash) return {};
  Builder& b = net.b;
  const MaskAxes axes = AxesOf(net, net.seq, net.seq);
  const Tensor all =
      b.Call("aten::new_ones", axes.queries, Shape{}, Builder::Named("dtype", DType::kBool));
  const Tensor apart = b.Call("aten::abs", b.Call("aten::sub.Tensor", axes.queries, axes.keys));
  const Tensor near =
      b.Call("aten::__and__.Tensor", all, b.Call("aten::le.Scalar", apart, distance));
  const Tensor any = b.Call("aten::ge.Scalar", axes.queries, 0);
  return AsAttentionTakesIt(net, b.Call("aten::__and__.Tensor", near, any), net.seq, net.seq);
}

std::vector<bool> NearLayers(const Settings& c, std::int64_t layers,
                             const std::function<bool(std::int64_t layer)>& rule) {
  const std::vector<std::string> types = c.Texts("layer_types");
  std::vector<bool> near;
  for (std::int64_t i = 0; i < Admitted(c, "num_hidden_layers", layers); ++i) {
    const auto index = static_cast<std::size_t>(i);
    const bool named = index < types.size();
    near.push_back(named ? types[index] == "sliding_attention" : rule(i));
    if (named && types[index] != "sliding_attention" && types[index] != "full_attention") {
      c.Refuse("layer_types", "layers of type \"" + types[index] + "\" are not built");
    }
  }
  if (!types.empty() && types.size() < near.size()) {
    c.Refuse("layer_types", "it names fewer layers than there are");
  }
  return near;
}

Tensor CrossMask(const Net& net, Builder::Size keys) {
  if (net.options.attention == Attention::kFlash) return {};
  const MaskAxes axes = AxesOf(net, net.seq, keys);
  return AsAttentionTakesIt(net, net.b.Call("aten::ge.Scalar", axes.queries, 0), net.seq, keys);
}

std::int64_t RotatedWidth(const Settings& c, std::int64_t width, std::string_view key,
                          double missing) {
  const double part =
      c.Within("rope_parameters").Real("partial_rotary_factor", c.Real(key, missing));
  return static_cast<std::int64_t>(static_cast<double>(width) * part);
}

void RefuseCrossAttention(const Settings& c) {
  if (!c.Flag("add_cross_attention", false)) return;
  c.Refuse("add_cross_attention", "a decoder of an encoder's output is not built alone");
}

void CheckRotary(const Settings& c) {
  for (const std::string_view key : {"rope_parameters", "rope_scaling"}) {
    const Settings rope = c.Within(key);
    CheckFrequencies(rope);
    for (const std::string_view kind : {"full_attention", "sliding_attention"}) {
      CheckFrequencies(rope.Within(kind));
    }
  }
}

RotaryEmbedding::RotaryEmbedding(const Layer& parent, std::string_view name,
                                 std::string_view class_name, std::int64_t width,
                                 const std::vector<std::string_view>& kinds, RotaryForm rotary_form)
    : Layer(parent, name, class_name), form(rotary_form) {
  for (const std::string_view kind : kinds) {
    const auto buffer = [&](std::string_view rest) {
      const std::string path =
          kind.empty() ? std::string(rest) : std::string(kind) + "_" + std::string(rest);
      return Buffer(path, DType::kFloat32, {width / 2}, false);
    };
    frequencies.push_back(buffer("inv_freq"));
    buffer("original_inv_freq");
  }
}

Tensor RotaryEmbedding::Doubled(Tensor angles) const {
  if (form == RotaryForm::kChunks) return angles;
  if (form == RotaryForm::kWideNeighbours)
    return b().Call("aten::repeat_interleave.self_int", angles, 2, -1);
  return b().Call("aten::cat", std::vector<Tensor>{angles, angles}, -1);
}

Rotary RotaryEmbedding::operator()(Tensor positions, std::size_t kind) const {
  const auto call = Enter();
  const bool wide = form == RotaryForm::kWideHalves || form == RotaryForm::kAllWideNeighbours;
  const DType dtype = wide ? DType::kFloat32 : net().dtype();
  const auto turn = [&](const std::vector<Tensor>& operands) {
    Tensor places = b().Call("aten::unsqueeze", operands[0], 2);
    places = b().Call("aten::to.dtype", places, DType::kFloat32);
    const Tensor angles = b().Call("aten::mul.Tensor", places, operands[1]);
    const Tensor twice = Doubled(angles);
    const Tensor cos = b().Call("aten::mul.Tensor", b().Call("aten::cos", twice), 1.0);
    const Tensor sin = b().Call("aten::mul.Tensor", b().Call("aten::sin", twice), 1.0);
    const std::vector<Tensor> both{Cast(net(), cos, DType::kFloat32, dtype),
                                   Cast(net(), sin, DType::kFloat32, dtype)};
    Leave(net(), {angles});
    if (form != RotaryForm::kChunks) Leave(net(), {twice});
    Leave(net(), {cos, sin});
    return both;
  };
  if (Generates(net())) {
    const std::vector<Tensor> turns = turn({positions, frequencies[kind]});
    return {.cos = turns[0], .sin = turns[1]};
  }
  // Under torch.no_grad(), which torch.export makes a graph of its own.
  const Builder::Arg graph = b().Graph(2, turn);
  const std::vector<Tensor> turns = b().CallMany("higher_order::wrap_with_set_grad_enabled", 2,
                                                 false, graph, positions, frequencies[kind]);
  return {.cos = turns[0], .sin = turns[1]};
}

double Heads::scale() const { return 1.0 / std::sqrt(static_cast<double>(width)); }

Heads HeadsOf(const Settings& config, const HeadCount& count) {
  const std::int64_t heads = config.Size(count.key, count.missing);
  return {.query = heads,
          .key = heads,
          .width = config.Quotient(count.hidden_key, count.hidden, count.key, heads)};
}

Tensor SplitHeads(const Net& net, Tensor x, std::int64_t width, Dim seq) {
  const Tensor apart = net.b.Call("aten::view", x, Shape{net.batch, seq, -1, width});
  return net.b.Call("aten::transpose.int", apart, 1, 2);
}

Tensor HalfTurned(const Net& net, Tensor x, std::int64_t width) {
  Builder& b = net.b;
  const Tensor low = b.Call("aten::slice.Tensor", x, 3, 0, width / 2);
  const Tensor high = b.Call("aten::slice.Tensor", x, 3, width / 2, kEnd);
  return b.Call("aten::cat", std::vector<Tensor>{b.Call("aten::neg", high), low}, -1);
}

Tensor Rotate(const Net& net, Tensor x, std::int64_t width, Tensor cos, Tensor sin) {
  Builder& b = net.b;
  const Tensor straight = b.Call("aten::mul.Tensor", x, cos);
  const Tensor turned = HalfTurned(net, x, width);
  return b.Call("aten::add.Tensor", straight, b.Call("aten::mul.Tensor", turned, sin));
}

Tensor RotateChunks(const Net& net, Tensor x, Tensor cos, Tensor sin) {
  Builder& b = net.b;
  const std::vector<Tensor> halves = b.CallMany("aten::chunk", 2, x, 2, -1);
  const auto times = [&](std::size_t half, Tensor by) {
    return b.Call("aten::mul.Tensor", halves[half], by);
  };
  const Tensor straight = times(0, cos);
  const Tensor low = b.Call("aten::sub.Tensor", straight, times(1, sin));
  const Tensor crossed = times(1, cos);
  const Tensor high = b.Call("aten::add.Tensor", crossed, times(0, sin));
  const Tensor turned = b.Call("aten::cat", std::vector<Tensor>{low, high}, -1);
  Leave(net, {low, high});
  return turned;
}

Tensor NeighboursChanged(const Net& net, Tensor x) {
  Builder& b = net.b;
  const Tensor even = b.Call("aten::slice.Tensor", x, 3, 0, kEnd, 2);
  const Tensor odd = b.Call("aten::slice.Tensor", x, 3, 1, kEnd, 2);
  const std::vector<Tensor> pairs{b.Call("aten::neg", odd), even};
  return b.Call("aten::flatten.using_ints", b.Call("aten::stack", pairs, -1), -2, -1);
}

Tensor RotateNeighbours(const Net& net, Tensor x, Tensor cos, Tensor sin) {
  Builder& b = net.b;
  const Tensor straight = b.Call("aten::mul.Tensor", x, cos);
  const Tensor turned = NeighboursChanged(net, x);
  return b.Call("aten::add.Tensor", straight, b.Call("aten::mul.Tensor", turned, sin));
}

std::vector<Tensor> RotateParts(const Net& net, const std::vector<Tensor>& heads,
                                const RotatedPart& part, Tensor cos, Tensor sin) {
  Builder& b = net.b;
  std::vector<Tensor> turned;
  std::vector<Tensor> rest;
  for (const Tensor& x : heads) {
    const bool whole = part.width == part.of;
    turned.push_back(whole ? b.Call("aten::alias", x)
                           : b.Call("aten::slice.Tensor", x, 3, 0, part.width));
    rest.push_back(b.Call("aten::slice.Tensor", x, 3, part.width, kEnd));
  }
  const auto join = [&](std::size_t i) {
    turned[i] = b.Call("aten::cat", std::vector<Tensor>{turned[i], rest[i]}, -1);
  };
  for (std::size_t i = 0; i < heads.size(); ++i) {
    turned[i] = part.neighbours ? RotateNeighbours(net, turned[i], cos, sin)
                                : Rotate(net, turned[i], part.width, cos, sin);
    if (!part.joined_last) join(i);
  }
  for (std::size_t i = 0; part.joined_last && i < heads.size(); ++i) join(i);
  return turned;
}

Attended AttendAtOnce(const Net& net, const AttentionCall& call) {
  if (net.options.attention == Attention::kFlash) return {.out = AttendByFlash(net, call)};
  Builder& b = net.b;
  const bool repeats = call.heads.query != call.heads.key;
  const Tensor key = RepeatHeads(net, call.key, call.heads, net.seq);
  const Tensor value = RepeatHeads(net, call.value, call.heads, net.seq);
  Attended found;
  std::vector<Tensor> variables;
  if (net.options.attention == Attention::kSdpa) {
    const double dropout = net.options.training ? call.dropout : 0.0;
    const Tensor mask = call.bias.defined() ? BiasedMask(net, call.mask, call.bias) : call.mask;
    found.out = b.Call("aten::scaled_dot_product_attention", call.query, key, value, mask, dropout,
                       call.causal, call.scale);
  } else {
    found.weights = Weights(net, call, key, variables);
    found.out = b.Call("aten::matmul", found.weights, value);
  }
  found.out = b.Call("aten::transpose.int", found.out, 1, 2);
  const bool contiguous = call.contiguous || net.options.attention == Attention::kSdpa;
  if (contiguous) found.out = b.Call("aten::contiguous", found.out);
  if (repeats) Leave(net, {key, value});
  Leave(net, variables);
  return found;
}

Tensor Attend(const Net& net, const AttentionCall& call) { return AttendAtOnce(net, call).out; }

Attended AttendInStep(const Net& net, const AttentionCall& call, const StepSizes& sizes) {
  Builder& b = net.b;
  const bool sdpa = net.options.attention == Attention::kSdpa;
  const bool one = net.options.cache->tokens == 1;
  const bool grouped = call.heads.query != call.heads.key;
  // use_gqa_in_sdpa
  constexpr std::int64_t kWidest = 256;
  const bool of_groups = grouped && !call.mask.defined() && sizes.key_width <= kWidest &&
                         sizes.key_width == sizes.value_width;
  const bool repeats = grouped && (!sdpa || !(of_groups || one));
  Tensor query = call.query;
  Tensor key = call.key;
  Tensor value = call.value;
  if (repeats) {
    key = RepeatHeads(net, key, call.heads, Dim(sizes.keys));
    value = RepeatHeads(net, value, call.heads, Dim(sizes.keys));
  }
  Attended found;
  std::vector<Tensor> variables;
  if (sdpa) {
    if (grouped && !of_groups && one) {  // pack_gqa
      query = b.Call("aten::reshape", query, Shape{net.batch, call.heads.key, -1, sizes.key_width});
    }
    const bool causal = !one && !call.mask.defined();
    found.out = b.Call("aten::scaled_dot_product_attention", query, key, value, call.mask, 0.0,
                       causal, call.scale, grouped && of_groups);
    found.out =
        b.Call("aten::reshape", found.out, Shape{net.batch, -1, net.seq, sizes.value_width});
  } else {
    found.weights = Weights(net, call, key, variables);
    found.out = b.Call("aten::matmul", found.weights, value);
  }
  found.out = b.Call("aten::transpose.int", found.out, 1, 2);
  if (sdpa || call.contiguous) found.out = b.Call("aten::contiguous", found.out);
  if (repeats) Leave(net, {key, value});
  Leave(net, variables);
  return found;
}

Attended AttendInCall(const Net& net, const AttentionCall& call, const CacheLayer& layer) {
  if (!Generates(net)) return AttendAtOnce(net, call);
  return AttendInStep(net, call,
                      {.keys = KeysGiven(net, layer),
                       .key_width = layer.key_width,
                       .value_width = layer.value_width});
}

Tensor AttendToSelf(const Net& net, const Projections& of, Tensor x, AttentionCall call) {
  call.query = SplitHeads(net, of.query(x), call.heads.width, net.seq);
  call.key = SplitHeads(net, of.key(x), call.heads.width, net.seq);
  call.value = SplitHeads(net, of.value(x), call.heads.width, net.seq);
  return net.b.Call("aten::reshape", Attend(net, call), Shape{net.batch, net.seq, -1});
}

void ReturnNextToken(Net& net, Tensor logits, Tensor labels, std::int64_t vocabulary,
                     const AddToLoss& add) {
  const Tensor loss = labels.defined() ? NextTokenLoss(net, logits, labels, vocabulary) : Tensor();
  if (add) {
    for (const Tensor& output : add(loss)) net.b.Return(output);
  } else if (loss.defined()) {
    net.b.Return(loss);
  }
  net.b.Return(logits);
}

void ReturnTokens(Net& net, Tensor logits, Tensor labels, std::int64_t classes) {
  Builder& b = net.b;
  if (!labels.defined()) return b.Return(logits);
  const Tensor wide = Cast(net, logits, net.dtype(), DType::kFloat32);
  const Tensor flat = b.Call("aten::view", wide, Shape{-1, classes});
  b.Return(b.Call("aten::cross_entropy_loss", flat, b.Call("aten::view", labels, Shape{-1})));
  b.Return(logits);
}

}  // namespace steelyard::models
