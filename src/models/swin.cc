// SPDX-License-Identifier: Apache-2.0
//
// modeling_swin.py, of transformers 5.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include "models/registry.h"
#include "models/swin_windows.h"
#include "models/vision.h"
#include "support/rounding.h"

namespace steelyard::models {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kModule = "transformers.models.swin.modeling_swin.";
constexpr double kEps = 1e-5;  // of the norms that the config does not speak of

std::string ClassOf(std::string_view name) { return std::string(kModule).append(name); }

struct SwinConfig {
  std::int64_t width, window;
  std::vector<std::int64_t> depths, heads;
  Patches patches;
  double mlp_ratio, eps, dropout, attention_dropout, drop_path;
  Bias qkv_bias;
  bool absolute;

  std::int64_t layers() const {
    return std::accumulate(depths.begin(), depths.end(), std::int64_t{0});
  }
  std::int64_t width_of(std::size_t stage) const { return width << stage; }
  // The patches of an image that was padded to whole ones; each stage merges four.
  Extent grid_of(std::size_t stage) const {
    Extent grid{.height = DivideUp(patches.image.height, patches.patch.height),
                .width = DivideUp(patches.image.width, patches.patch.width)};
    for (; stage > 0; --stage) {
      grid = {.height = (grid.height + 1) / 2, .width = (grid.width + 1) / 2};
    }
    return grid;
  }
};

void Check(const Settings& c, const SwinConfig& config) {
  constexpr std::size_t kMostStages = 16;
  const std::size_t stages = config.depths.size();
  if (stages == 0 || stages > kMostStages || config.heads.size() != stages) {
    return c.Refuse("num_heads", "not one number for each of 1 to 16 stages");
  }
  for (std::size_t i = 0; i < stages; ++i) {
    if (config.heads[i] > 0 && config.width_of(i) % config.heads[i] == 0) continue;
    c.Refuse("num_heads", fmt::format("{} heads do not divide {} channels, those of stage {}",
                                      config.heads[i], config.width_of(i), i + 1));
    return;
  }
  const Extent last = config.grid_of(stages - 1);
  if (config.window == 0 || std::min(last.height, last.width) < config.window) {
    c.Refuse("window_size", "larger than the smallest stage, which transformers cannot run");
  }
  const Extent& image = config.patches.image;
  const Extent& patch = config.patches.patch;
  if (config.absolute && (image.height % patch.height != 0 || image.width % patch.width != 0)) {
    c.Refuse("use_absolute_embeddings", "the image is not of whole patches");
  }
}

SwinConfig Read(const Settings& c) {
  SwinConfig config{.width = c.Size("embed_dim", 96),
                    .window = c.Size("window_size", 7),
                    .depths = {2, 2, 6, 2},
                    .heads = {3, 6, 12, 24},
                    .patches = PatchesOf(c, {.image = 224, .patch = 4}),
                    .mlp_ratio = c.Real("mlp_ratio", 4.0),
                    .eps = c.Real("layer_norm_eps", 1e-5),
                    .dropout = c.Share("hidden_dropout_prob", 0.0),
                    .attention_dropout = c.Share("attention_probs_dropout_prob", 0.0),
                    .drop_path = c.Share("drop_path_rate", 0.1),
                    .qkv_bias = BiasOf(c, "qkv_bias", true),
                    .absolute = c.Flag("use_absolute_embeddings", false)};
  if (c.Has("depths")) config.depths = c.Counts("depths");
  if (c.Has("num_heads")) config.heads = c.Counts("num_heads");
  if (c.status()) Check(c, config);
  return config;
}

struct PatchEmbeddings : Layer {
  PatchEmbeddings(const Layer& parent, const SwinConfig& c)
      : Layer(parent, "patch_embeddings", ClassOf("SwinPatchEmbeddings")),
        patches(c.patches),
        projection(*this, "projection", PatchPlan(patches, c.width)) {}
  Tensor operator()(Tensor pixels) const {
    const auto call = Enter();
    const auto missing = [](std::int64_t size, std::int64_t unit) {
      return RoundUp(size, unit) - size;
    };
    const std::int64_t right = missing(patches.image.width, patches.patch.width);
    const std::int64_t below = missing(patches.image.height, patches.patch.height);
    if (right > 0) pixels = b().Call("aten::pad", pixels, Shape{0, right});
    if (below > 0) pixels = b().Call("aten::pad", pixels, Shape{0, 0, 0, below});
    return AsTokens(net(), projection(pixels));
  }
  Patches patches;
  Convolution projection;
};

struct Embeddings : Layer {
  Embeddings(const Layer& parent, const SwinConfig& c)
      : Layer(parent, "embeddings", ClassOf("SwinEmbeddings")),
        positions(c.absolute
                      ? Parameter("position_embeddings", {1, c.patches.grid().area(), c.width})
                      : Tensor()),
        patches(*this, c),
        norm(*this, "norm", c.width, kEps),
        dropout(*this, "dropout", c.dropout) {}
  Tensor operator()(Tensor pixels) const {
    const auto call = Enter();
    Tensor x = norm(patches(pixels));
    if (positions.defined()) x = b().Call("aten::add.Tensor", x, positions);
    return dropout(x);
  }
  Tensor positions;
  PatchEmbeddings patches;
  LayerNorm norm;
  Dropout dropout;
};

// A learned number for each distance of two tokens of a window, and head.
struct RelativePositionBias : Layer {
  RelativePositionBias(const Layer& parent, std::int64_t window, std::int64_t heads)
      : Layer(parent, "relative_position_bias", ClassOf("SwinRelativePositionBias")),
        area(window * window),
        table(Parameter("relative_position_bias_table",
                        {(2 * window - 1) * (2 * window - 1), heads})),
        index(Buffer("relative_position_index", DType::kInt64, {area * area}, false)) {}
  Tensor operator()() const {
    const auto call = Enter();
    Tensor bias = b().Call("aten::index.Tensor", table, std::vector<Tensor>{index});
    bias = b().Call("aten::view", bias, Shape{area, area, -1});
    bias = b().Call("aten::contiguous", b().Call("aten::permute", bias, Shape{2, 0, 1}));
    return b().Call("aten::unsqueeze", bias, 0);
  }
  std::int64_t area;
  Tensor table, index;
};

// What a block of a stage is made for.
struct BlockPlan {
  std::int64_t width, heads;
  Extent grid;
  std::int64_t shift;
  double drop_probability;
};

struct SwinAttention : VisionAttention {
  SwinAttention(const Layer& parent, const SwinConfig& c, const BlockPlan& plan)
      : VisionAttention(parent, {.name = "attention",
                                 .class_name = ClassOf("SwinAttention"),
                                 .hidden = plan.width,
                                 .heads = plan.heads,
                                 .width = plan.width / std::max<std::int64_t>(plan.heads, 1),
                                 .dropout = c.attention_dropout,
                                 .qkv_bias = c.qkv_bias}),
        bias(*this, c.window, plan.heads) {}
  // `mask` is of [windows, area, area], where windows are shifted.
  Tensor operator()(Tensor x, Tensor mask, std::int64_t windows) const {
    const auto near = [&] {
      const Tensor distance = bias();
      if (!mask.defined()) return distance;
      Tensor each = b().Call("aten::unsqueeze", b().Call("aten::unsqueeze", mask, 1), 0);
      each = b().Call("aten::expand", each, Shape{net().batch, -1, -1, -1, -1});
      each = b().Call("aten::reshape", each, Shape{-1, 1, bias.area, bias.area});
      return b().Call("aten::add.Tensor", distance, each);
    };
    return Run(x, near, b().Product(net().batch, windows), bias.area);
  }
  RelativePositionBias bias;
};

struct Block : Layer {
  Block(const Layer& parent, const std::string& name, const SwinConfig& c, const BlockPlan& with)
      : Layer(parent, name, ClassOf("SwinLayer")),
        plan(with),
        side(c.window),
        attention(*this, c, plan),
        before(*this, "layernorm_before", plan.width, c.eps),
        after(*this, "layernorm_after", plan.width, c.eps),
        mlp(*this, ClassOf("SwinMLP"), plan.width,
            static_cast<std::int64_t>(c.mlp_ratio * static_cast<double>(plan.width)), net().config,
            "gelu"),
        dropout(*this, "dropout", c.dropout),
        drop(*this, ClassOf("SwinDropPath"), plan.drop_probability) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    x = b().Call("aten::add.Tensor", x, drop(Attended(before(x)), 3));
    return b().Call("aten::add.Tensor", dropout(mlp(after(x))), x);
  }

  BlockPlan plan;
  std::int64_t side;
  SwinAttention attention;
  LayerNorm before, after;
  TwoLayerMlp mlp;
  Dropout dropout;
  DropPath drop;

 private:
  Tensor Rolled(Tensor image, std::int64_t by) const {
    return plan.shift == 0 ? image : b().Call("aten::roll", image, Shape{by, by}, Shape{1, 2});
  }
  Tensor Attended(Tensor x) const {
    const auto [height, width] = plan.grid;
    const Windows windows{.net = net(),
                          .side = side,
                          .grid = {.height = RoundUp(height, side), .width = RoundUp(width, side)},
                          .channels = plan.width};
    x = b().Call("aten::view", x, Shape{net().batch, height, width, plan.width});
    x = b().Call("aten::pad", x,
                 Shape{0, 0, 0, windows.grid.width - width, 0, windows.grid.height - height});
    x = windows.Of(Rolled(x, -plan.shift), net().batch);
    x = b().Call("aten::view", x, Shape{-1, side * side, plan.width});
    const Tensor mask = plan.shift == 0 ? Tensor() : ShiftMask(net(), windows, plan.shift);
    x = dropout(attention(x, mask, windows.count()));
    x = b().Call("aten::view", x, Shape{-1, side, side, plan.width});
    x = Rolled(windows.Joined(x), plan.shift);
    if (windows.grid.height > height) x = b().Call("aten::slice.Tensor", x, 1, 0, height);
    if (windows.grid.width > width) x = b().Call("aten::slice.Tensor", x, 2, 0, width);
    if (windows.grid.area() > plan.grid.area()) x = b().Call("aten::contiguous", x);
    return b().Call("aten::view", x, Shape{net().batch, plan.grid.area(), plan.width});
  }
};

// Four patches become one of twice the width.
struct PatchMerging : Layer {
  PatchMerging(const Layer& parent, std::int64_t channels, Extent patches)
      : Layer(parent, "downsample", ClassOf("SwinPatchMerging")),
        width(channels),
        grid(patches),
        reduction(*this, "reduction", 4 * width, 2 * width, Bias::kNone),
        norm(*this, "norm", 4 * width, kEps) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    x = b().Call("aten::view", x, Shape{net().batch, grid.height, grid.width, width});
    const std::int64_t right = grid.width % 2;
    const std::int64_t below = grid.height % 2;
    if (right + below > 0) x = b().Call("aten::pad", x, Shape{0, 0, 0, right, 0, below});
    std::vector<Tensor> corners;
    for (const int column : {0, 1}) {
      for (const int row : {0, 1}) {
        const Tensor rows = b().Call("aten::slice.Tensor", x, 1, row, kEnd, 2);
        corners.push_back(b().Call("aten::slice.Tensor", rows, 2, column, kEnd, 2));
      }
    }
    x = b().Call("aten::cat", corners, -1);
    return reduction(norm(b().Call("aten::view", x, Shape{net().batch, -1, 4 * width})));
  }
  std::int64_t width;
  Extent grid;
  Linear reduction;
  LayerNorm norm;
};

struct Stage : Layer {
  // `first` is the number of its first block among all.
  Stage(const Layer& parent, std::size_t number, const SwinConfig& c, std::int64_t first)
      : Layer(parent, "layers." + std::to_string(number), ClassOf("SwinStage")),
        width(c.width_of(number)),
        grid(c.grid_of(number)) {
    const bool shifts = std::min(grid.height, grid.width) > c.window;
    const std::int64_t count = Admitted(net().config, "depths", c.depths[number]);
    blocks.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      const BlockPlan plan{.width = width,
                           .heads = c.heads[number],
                           .grid = grid,
                           .shift = shifts && i % 2 == 1 ? c.window / 2 : 0,
                           .drop_probability = DropPathOf(c.drop_path, first + i, c.layers())};
      blocks.emplace_back(*this, "blocks." + std::to_string(i), c, plan);
    }
    if (number + 1 == c.depths.size()) return;
    merge.emplace(*this, width, grid);
    grid = c.grid_of(number + 1);
    width = c.width_of(number + 1);
  }
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    for (const Block& block : blocks) x = block(x);
    if (merge) x = (*merge)(x);
    // As an image too, which only those who ask for hidden states get.
    const Shape sizes{net().batch, grid.height, grid.width, width};
    const Tensor image =
        b().Call("aten::permute", b().Call("aten::view", x, sizes), Shape{0, 3, 1, 2});
    b().Call("aten::contiguous", image);
    return x;
  }
  std::int64_t width;
  Extent grid;
  std::vector<Block> blocks;
  std::optional<PatchMerging> merge;
};

struct Encoder : Layer {
  Encoder(const Layer& parent, const SwinConfig& c)
      : Layer(parent, "encoder", ClassOf("SwinEncoder")) {
    std::int64_t first = 0;
    stages.reserve(c.depths.size());
    for (std::size_t i = 0; i < c.depths.size(); first += c.depths[i++]) {
      stages.emplace_back(*this, i, c, first);
    }
  }
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    for (const Stage& stage : stages) x = stage(x);
    return x;
  }
  std::vector<Stage> stages;
};

struct Pooler : Layer {
  explicit Pooler(const Layer& parent)
      : Layer(parent, "pooler", "torch.nn.modules.pooling.AdaptiveAvgPool1d") {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    return b().Call("aten::adaptive_avg_pool1d", x, Shape{1});
  }
};

struct Model : Layer {
  Model(const Layer& parent, std::string_view name, const SwinConfig& c)
      : Layer(parent, name, ClassOf("SwinModel")),
        embeddings(*this, c),
        encoder(*this, c),
        norm(*this, "layernorm", c.width_of(c.depths.size() - 1), c.eps),
        pooler(*this) {}
  // Of each patch that is left, and their mean.
  std::array<Tensor, 2> operator()(Tensor pixels) const {
    const auto call = Enter();
    const Tensor x = norm(encoder(embeddings(pixels)));
    const Tensor mean = pooler(b().Call("aten::transpose.int", x, 1, 2));
    return {x, b().Call("aten::flatten.using_ints", mean, 1)};
  }
  Embeddings embeddings;
  Encoder encoder;
  LayerNorm norm;
  Pooler pooler;
};

void Build(Net& net) {
  const SwinConfig c = Read(net.config);
  if (!net.config.status()) return;
  const Layer root(net);
  if (net.options.head == "Model") {
    const Model model(root, "", c);
    for (const Tensor out : model(ImageInput(net, c.patches))) net.b.Return(out);
    return;
  }
  const Model model(root, "swin", c);
  const ImageClasses classes(root, c.width_of(c.depths.size() - 1));
  classes.Run(net, c.patches, [&](Tensor pixels) { return model(pixels)[1]; });
}

constexpr std::array<std::string_view, 2> kHeads{"ForImageClassification", "Model"};

}  // namespace

const Architecture kSwin{.type = "swin",
                         .prefix = "Swin",
                         .summary = "Swin Transformer",
                         .heads = kHeads,
                         .build = Build};

}  // namespace steelyard::models
