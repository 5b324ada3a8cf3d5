// SPDX-License-Identifier: Apache-2.0
//
// modeling_mamba2.py, of transformers 5, as it runs without the kernels of mamba_ssm: states of
// chunks are found side by side, and chunk by chunk only what they hand on.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/heads.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::string_view kModule = "transformers.models.mamba2.modeling_mamba2.";
constexpr std::int64_t kMostPositions = std::int64_t{1} << 31;  // it has no table of them
constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string ClassOf(std::string_view name) { return std::string(kModule).append(name); }

struct Config {
  std::int64_t hidden, inner, layers, vocabulary, heads, width, state, groups, chunk, kernel;
  double eps;
  Bias bias, conv_bias;
  bool wide_residual, tied;
  // What the convolution runs over: what enters, and two projections of each group.
  std::int64_t convolved() const { return inner + 2 * groups * state; }
};

Config Read(const Settings& c) {
  const auto counted = [&](std::string_view key, std::int64_t missing) {
    const std::int64_t count = c.Count(key, missing);
    if (count == 0) c.Refuse(key, "there are none");
    return std::max<std::int64_t>(count, 1);
  };
  const auto bias = [&](std::string_view key, bool missing) {
    return c.Flag(key, missing) ? Bias::kOne : Bias::kNone;
  };
  const Config config{.hidden = c.Count("hidden_size", 4096),
                      .inner = c.Count("expand", 2) * c.Count("hidden_size", 4096),
                      .layers = c.Count("num_hidden_layers", 64),
                      .vocabulary = c.Count("vocab_size", 32768),
                      .heads = counted("num_heads", 128),
                      .width = c.Count("head_dim", 64),
                      .state = c.Count("state_size", 128),
                      .groups = counted("n_groups", 8),
                      .chunk = counted("chunk_size", 256),
                      .kernel = counted("conv_kernel", 4),
                      .eps = c.Real("layer_norm_epsilon", 1e-5),
                      .bias = bias("use_bias", false),
                      .conv_bias = bias("use_conv_bias", true),
                      .wide_residual = c.Flag("residual_in_fp32", true),
                      .tied = c.Flag("tie_word_embeddings", false)};
  if (config.inner != config.heads * config.width) {
    c.Refuse("num_heads", "num_heads * head_dim is not expand * hidden_size");
  }
  if (config.heads % config.groups != 0) c.Refuse("n_groups", "num_heads is no multiple of it");
  return config;
}

// Mamba2RMSNorm: its result is of the dtype of what it is given, or wider.
struct Norm : Layer {
  Norm(const Layer& parent, std::string_view name, const Config& c)
      : Layer(parent, name, ClassOf("Mamba2RMSNorm")),
        weight(Parameter("weight", {c.hidden})),
        eps(c.eps) {}
  Tensor operator()(Tensor x, DType dtype) const {
    const auto call = Enter();
    const Tensor wide = Cast(net(), x, dtype, DType::kFloat32);
    Tensor scale = b().Call("aten::pow.Tensor_Scalar", wide, 2);
    scale = b().Call("aten::mean.dim", scale, Shape{-1}, true);
    scale = b().Call("aten::rsqrt", b().Call("aten::add.Tensor", scale, eps));
    const Tensor normed = b().Call("aten::mul.Tensor", wide, scale);
    return b().Call("aten::mul.Tensor", weight, Cast(net(), normed, DType::kFloat32, dtype));
  }
  Tensor weight;
  double eps;
};

// MambaRMSNormGated: within each group, of what a gate lets through; all in float32.
struct GatedNorm : Layer {
  GatedNorm(const Layer& parent, const Config& config)
      : Layer(parent, "norm", ClassOf("MambaRMSNormGated")),
        c(config),
        weight(Parameter("weight", {c.inner})) {}
  Tensor operator()(Tensor x, Tensor gate) const {
    const auto call = Enter();
    const Dim batch = net().batch;
    const Dim seq = net().seq;
    const Tensor open = b().Call("aten::silu", Cast(net(), gate, net().dtype(), DType::kFloat32));
    x = b().Call("aten::mul.Tensor", x, open);
    x = b().Call("aten::view", x, Shape{batch, seq, c.groups, c.inner / c.groups});
    Tensor scale = b().Call("aten::pow.Tensor_Scalar", x, 2);
    scale = b().Call("aten::mean.dim", scale, Shape{-1}, true);
    scale = b().Call("aten::rsqrt", b().Call("aten::add.Tensor", scale, c.eps));
    x = b().Call("aten::mul.Tensor", x, scale);
    x = b().Call("aten::view", x, Shape{batch, seq, c.inner});
    return b().Call("aten::mul.Tensor", weight, x);
  }
  const Config& c;
  Tensor weight;
};

// mamba2_chunk_scan. Its einsums are of: batch, chunk, l and s within a chunk, head, width, state
// n.
class Scan {
 public:
  Scan(const Net& net, const Config& c)
      : net_(net),
        c_(c),
        chunks_(net.b.Compute(ExprOp::kCeilDiv, net.seq, c.chunk)),
        padding_(net.b.Compute(
            ExprOp::kMod,
            net.b.Sum(c.chunk, net.b.Product(-1, net.b.Compute(ExprOp::kMod, net.seq, c.chunk))),
            c.chunk)) {}

  struct Operands {
    Tensor x;                // of [batch, seq, heads, width]
    Tensor steps;            // of [batch, seq, heads]
    Tensor decay;            // of [heads], float32
    Tensor in, out;          // of [batch, seq, groups, state]
    Tensor skip, step_bias;  // of [heads]
  };
  // Of [batch, seq, heads, width], float32.
  Tensor operator()(const Operands& given) const {
    Tensor steps = Call("aten::add.Tensor", given.steps, given.step_bias);
    steps = Call("aten::clamp", Call("aten::softplus", steps), 0.0, kInfinity);
    Tensor x = Wide(given.x);
    Tensor in = OfHeads(given.in);
    Tensor out = OfHeads(given.out);
    const Tensor skip = Call("aten::unsqueeze", given.skip, 1);
    const Tensor skipped = Call("aten::mul.Tensor", skip, Padded(x, 4));
    x = Call("aten::mul.Tensor", x, Wide(Call("aten::unsqueeze", steps, 3)));
    Tensor decay = Call("aten::mul.Tensor", given.decay, Wide(steps));
    x = Chunked(x, c_.width);
    decay = Call("aten::reshape", Padded(decay, 3), Shape{net_.batch, -1, c_.chunk, c_.heads});
    in = Chunked(in, c_.state);
    out = Chunked(out, c_.state);
    decay = Call("aten::permute", decay, Shape{0, 3, 1, 2});
    const Tensor sums = Call("aten::cumsum", decay, -1);
    const Tensor within = Within(decay, x, in, out);
    const Tensor before = Before(sums, x, in, out);
    Tensor y = Call("aten::contiguous", Call("aten::add.Tensor", within, before));
    y = Call("aten::reshape", y, Shape{net_.batch, -1, c_.heads, c_.width});
    return Cut(Call("aten::add.Tensor", y, skipped));
  }

 private:
  template <class... Args>
  Tensor Call(std::string_view op, const Args&... args) const {
    return net_.b.Call(op, args...);
  }
  Tensor Einsum(std::string_view equation, Tensor first, Tensor second) const {
    return Call("aten::einsum", equation, std::vector<Tensor>{first, second});
  }
  Tensor Wide(Tensor x) const { return Cast(net_, x, net_.dtype(), DType::kFloat32); }
  // What a group has, for each of its heads.
  Tensor OfHeads(Tensor x) const {
    return Call("aten::repeat_interleave.self_int", Wide(x), c_.heads / c_.groups, 2,
                Builder::Named("output_size", c_.heads));
  }
  // To whole chunks, of a tensor of `rank` dimensions.
  Tensor Padded(Tensor x, int rank) const {
    Shape pad(static_cast<std::size_t>(2 * rank), 0);
    pad[static_cast<std::size_t>(2 * rank - 3)] = padding_;
    return Call("aten::pad", x, pad, "constant", 0.0);
  }
  // Without what was added, if anything was.
  Tensor Cut(Tensor x) const {
    const auto cut = [&](const std::vector<Tensor>& padded) {
      return std::vector<Tensor>{Call("aten::slice.Tensor", padded[0], 1, 0, net_.seq)};
    };
    const auto whole = [](const std::vector<Tensor>& same) { return same; };
    const Builder::Arg if_padded = net_.b.Graph(1, cut);
    const Builder::Arg if_not = net_.b.Graph(1, whole);
    return Call("steelyard::if", padding_, if_padded, if_not, std::vector<Tensor>{x});
  }
  Tensor Chunked(Tensor x, std::int64_t width) const {
    return Call("aten::reshape", Padded(x, 4), Shape{net_.batch, -1, c_.chunk, c_.heads, width});
  }
  // segment_sum: of the elements between each and each before it along the last dimension of
  // `sizes`.
  Tensor SegmentSum(Tensor x, Shape sizes) const {
    const Builder::Size length = sizes.back();
    sizes.push_back(length);
    x = Call("aten::expand", Call("aten::unsqueeze", x, -1), sizes);
    const auto hidden = [&](std::int64_t diagonal) {
      const Tensor ones =
          Call("aten::ones", Shape{length, length}, Builder::Named("dtype", DType::kBool));
      return Call("aten::bitwise_not", Call("aten::tril", ones, diagonal));
    };
    x = Call("aten::masked_fill.Scalar", x, hidden(-1), 0);
    x = Call("aten::cumsum", x, -2);
    return Call("aten::masked_fill.Scalar", x, hidden(0), -kInfinity);
  }
  // What tokens of a chunk make of those before them in it.
  Tensor Within(Tensor decay, Tensor x, Tensor in, Tensor out) const {
    const Tensor lasts =
        Call("aten::exp", SegmentSum(decay, Shape{net_.batch, c_.heads, chunks_, c_.chunk}));
    const Tensor scores = Einsum("bclhn,bcshn->bclsh", out, in);
    const Tensor turned = Call("aten::permute", lasts, Shape{0, 2, 3, 4, 1});
    return Einsum("bclsh,bcshp->bclhp", Call("aten::mul.Tensor", scores, turned), x);
  }
  // What tokens make of the chunks before theirs; `sums` are of decays.
  Tensor Before(Tensor sums, Tensor x, Tensor in, Tensor out) const {
    const Tensor last = Call("aten::slice.Tensor", sums, 3, -1, kEnd);
    Tensor left = Call("aten::exp", Call("aten::sub.Tensor", last, sums));
    left = Call("aten::unsqueeze", Call("aten::permute", left, Shape{0, -2, -1, 1}), 4);
    Tensor states = Einsum("bclhn,bclhp->bchpn", Call("aten::mul.Tensor", in, left), x);
    const Tensor none = Call("aten::zeros_like", Call("aten::slice.Tensor", states, 1, 0, 1));
    states = Call("aten::cat", std::vector<Tensor>{none, states}, 1);
    const Tensor ends = Call("aten::pad", Call("aten::select.int", sums, 3, -1), Shape{1, 0});
    const Dim all = net_.b.Sum(chunks_, 1);
    Tensor handed = Call("aten::exp", SegmentSum(ends, Shape{net_.batch, c_.heads, all}));
    handed = Call("aten::transpose.int", handed, 1, 3);
    states = Einsum("bzch,bzhpn->bchpn", handed, states);
    const Tensor begun = Call("aten::slice.Tensor", states, 1, 0, -1);
    const Tensor lasts = Call("aten::exp", sums);
    const Tensor seen = Einsum("bclhn,bchpn->bclhp", out, begun);
    const Tensor turned = Call("aten::permute", lasts, Shape{0, 2, 3, 1});
    return Call("aten::mul.Tensor", seen, Call("aten::unsqueeze", turned, 4));
  }

  const Net& net_;
  const Config& c_;
  Dim chunks_, padding_;
};

struct Mixer : Layer {
  Mixer(const Layer& parent, const Config& config)
      : Layer(parent, "mixer", ClassOf("Mamba2Mixer")),
        c(config),
        step_bias(Parameter("dt_bias", {c.heads})),
        decay_log(Parameter("A_log", {c.heads})),
        skip(Parameter("D", {c.heads})),
        conv(*this, "conv1d",
             {.in = c.convolved(),
              .out = c.convolved(),
              .kernel = {c.kernel},
              .padding = {c.kernel - 1},
              .groups = c.convolved(),
              .bias = c.conv_bias}),
        in(*this, "in_proj", c.hidden, c.inner + c.convolved() + c.heads, c.bias),
        norm(*this, c),
        out(*this, "out_proj", c.inner, c.hidden, c.bias),
        act(*this, "", "hidden_act", "silu") {}
  // causal_conv1d_fn: what stands behind the last token is cut off.
  Tensor Convolved(Tensor x) const {
    const Tensor kernel =
        b().Call("aten::unsqueeze", b().Call("aten::squeeze.dim", conv.weight, 1), 1);
    x = b().Call("aten::conv1d", x, kernel, conv.bias, Shape{1}, Shape{c.kernel - 1}, Shape{1},
                 c.convolved());
    return act.Apply(b().Call("aten::slice.Tensor", x, 2, 0, net().seq));
  }
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    const Dim batch = net().batch;
    const Dim seq = net().seq;
    const Tensor projected = in(x);
    const Tensor wide = Cast(net(), decay_log, net().dtype(), DType::kFloat32);
    const Tensor decay = b().Call("aten::neg", b().Call("aten::exp", wide));
    const std::vector<Tensor> parts = b().CallMany("aten::split_with_sizes", 3, projected,
                                                   Shape{c.inner, c.convolved(), c.heads}, -1);
    const Tensor turned = Convolved(b().Call("aten::transpose.int", parts[1], 1, 2));
    const std::int64_t groups = c.groups * c.state;
    const std::vector<Tensor> given =
        b().CallMany("aten::split_with_sizes", 3, b().Call("aten::transpose.int", turned, 1, 2),
                     Shape{c.inner, groups, groups}, -1);
    const auto apart = [&](Tensor of, std::int64_t count, std::int64_t width) {
      return b().Call("aten::view", of, Shape{batch, seq, count, width});
    };
    const Tensor content = apart(given[0], c.heads, c.width);
    const Tensor inwards = apart(given[1], c.groups, c.state);
    const Tensor scanned = Scan(net(), c)({.x = content,
                                           .steps = parts[2],
                                           .decay = decay,
                                           .in = inwards,
                                           .out = apart(given[2], c.groups, c.state),
                                           .skip = skip,
                                           .step_bias = step_bias});
    const Tensor normed = norm(b().Call("aten::reshape", scanned, Shape{batch, seq, -1}), parts[0]);
    return out(Cast(net(), normed, DType::kFloat32, net().dtype()));
  }
  const Config& c;
  Tensor step_bias, decay_log, skip;
  Convolution conv;
  Linear in;
  GatedNorm norm;
  Linear out;
  Activation act;
};

struct Block : Layer {
  Block(const Layer& parent, const std::string& name, const Config& config)
      : Layer(parent, name, ClassOf("Mamba2Block")),
        c(config),
        norm(*this, "norm", c),
        mixer(*this, c) {}
  // `dtype` is of `x`, and becomes that of the result.
  Tensor operator()(Tensor x, DType& dtype) const {
    const auto call = Enter();
    const Tensor narrow = Cast(net(), x, dtype, net().dtype());
    const Tensor normed = norm(narrow, net().dtype());
    if (c.wide_residual) x = Cast(net(), x, std::exchange(dtype, DType::kFloat32), DType::kFloat32);
    return b().Call("aten::add.Tensor", x, mixer(normed));
  }
  const Config& c;
  Norm norm;
  Mixer mixer;
};

struct Model : Layer {
  Model(const Layer& parent, std::string_view name, const Config& c)
      : Layer(parent, name, ClassOf("Mamba2Model")),
        words(*this, "embeddings", c.vocabulary, c.hidden),
        layers(Repeated<Block>(*this, "layers", c.layers, c)),
        norm(*this, "norm_f", c) {}
  Tensor operator()(Tensor tokens, DType& dtype) const {
    const auto call = Enter();
    Tensor x = words(tokens);
    for (const Block& layer : layers) x = layer(x, dtype);
    return norm(x, dtype);
  }
  Embedding words;
  std::vector<Block> layers;
  Norm norm;
};

void Build(Net& net) {
  const Config c = Read(net.config);
  net.b.Note("it runs without the kernels of mamba_ssm and causal_conv1d, which take less");
  const Layer root(net);
  const bool alone = TaskOf(net) == TextTask::kNone;
  const Model model(root, alone ? "" : "backbone", c);
  std::optional<Linear> head;
  if (!alone && c.tied) head.emplace(root, "lm_head", model.words.weight);
  if (!alone && !c.tied) head.emplace(root, "lm_head", c.hidden, c.vocabulary, Bias::kNone);
  const Tensor tokens = TokenInput(net, kMostPositions);
  const Tensor labels = alone ? Tensor() : TokenLabels(net);
  DType dtype = net.dtype();
  const Tensor hidden = model(tokens, dtype);
  if (alone) return net.b.Return(hidden);
  const Tensor logits = (*head)(Cast(net, hidden, dtype, net.dtype()));
  const Tensor wide = Cast(net, logits, net.dtype(), DType::kFloat32);
  ReturnNextToken(net, wide, labels, c.vocabulary);
}

constexpr std::array<std::string_view, 2> kHeads{"ForCausalLM", "Model"};

}  // namespace

const Architecture kMamba2{.type = "mamba2",
                           .prefix = "Mamba2",
                           .summary = "Mamba 2: state spaces",
                           .heads = kHeads,
                           .build = Build};

}  // namespace steelyard::models
