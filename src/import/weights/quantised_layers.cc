// SPDX-License-Identifier: Apache-2.0
//
// One row for each scheme: which tensor holds the numbers, which stand beside it, and a function
// that finds out by their sizes what the weight is. Names and layouts are those that the libraries
// write which make such files; docs/weights.md lists them.
#include "import/weights/quantised_layers.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "support/rounding.h"

namespace steelyard::weights {
namespace {

constexpr std::int64_t kWordBits = 32;  // schemes pack into int32 or uint32

// A tensor of a layer, as schemes look at it.
struct Part {
  std::uint32_t index = 0;
  DType dtype = DType::kFloat32;
  std::span<const std::int64_t> sizes;

  bool is_matrix(DType wanted) const { return dtype == wanted && sizes.size() == 2; }
  std::int64_t rows() const { return sizes[0]; }
  std::int64_t columns() const { return sizes[1]; }
};

// The tensors of one layer by the ends of their names.
class Layer {
 public:
  Layer(const StoredWeights& weights, const std::vector<std::uint32_t>& by_name,
        std::string_view prefix, const QuantisationHints& hints)
      : weights_(weights),
        by_name_(by_name),
        name_(prefix),
        prefix_(prefix.size()),
        hints_(HintsOf(prefix, hints)) {}

  std::optional<Part> Find(std::string_view end) const {
    name_.resize(prefix_);
    name_.append(end);
    const StringId id = weights_.program.strings.Find(name_);
    if (id == kNoString || id >= by_name_.size() || by_name_[id] == kNoId) return std::nullopt;
    const StoredTensor& tensor = weights_.tensors[by_name_[id]];
    return Part{by_name_[id], tensor.dtype, weights_.SizesOf(tensor)};
  }
  int bits() const { return hints_.bits; }
  std::int64_t group() const { return hints_.group; }

 private:
  static LayerHints HintsOf(std::string_view prefix, const QuantisationHints& hints) {
    if (prefix.ends_with('.')) prefix.remove_suffix(1);
    const auto found = hints.layers.find(prefix);
    return found == hints.layers.end() ? LayerHints{hints.bits, hints.group} : found->second;
  }

  const StoredWeights& weights_;
  const std::vector<std::uint32_t>& by_name_;
  mutable std::string name_;
  std::size_t prefix_;
  LayerHints hints_;
};

// What a layer is in a scheme.
struct Reading {
  std::string packing;
  std::vector<std::int64_t> sizes;
  DType dtype = DType::kFloat32;
};

bool IsFloat8(DType dtype) { return IsFloating(dtype) && BitsOf(dtype) == 8; }

bool IsWidth(std::int64_t bits) { return bits == 2 || bits == 3 || bits == 4 || bits == 8; }

// "gptq_int4_g128"; one group for a whole row is no group, unless groups are said to be as long.
std::string GroupedName(std::string_view scheme, std::int64_t bits, std::int64_t in,
                        std::int64_t groups, const Layer& layer) {
  std::string name = std::string(scheme) + "_int" + std::to_string(bits);
  if (groups > 1 || (groups == 1 && in == layer.group()))
    name += "_g" + std::to_string(DivideUp(in, groups));
  return name;
}

// Width of the numbers of zero points that are packed along rows of `columns` scales.
std::int64_t BitsOfZeros(const Part& zeros, const Part& scales) {
  const std::int64_t columns = scales.columns();
  if (columns == 0 || zeros.columns() > (INT64_MAX / kWordBits)) return 0;
  const std::int64_t bits = zeros.columns() * kWordBits / columns;
  return bits * columns == zeros.columns() * kWordBits && IsWidth(bits) ? bits : 0;
}

// How many numbers of so many bits `words` hold; nothing where it is no whole number.
std::optional<std::int64_t> Unpacked(std::int64_t words, std::int64_t bits) {
  if (bits <= 0 || words > INT64_MAX / kWordBits || words * kWordBits % bits != 0) return {};
  return words * kWordBits / bits;
}

std::optional<Reading> ReadGptq(const Part& weight, const Layer& layer) {
  const std::optional<Part> zeros = layer.Find("qzeros"), scales = layer.Find("scales");
  if (!zeros || !scales || !weight.is_matrix(DType::kInt32) || !zeros->is_matrix(DType::kInt32) ||
      scales->sizes.size() != 2 || weight.columns() != scales->columns()) {
    return std::nullopt;
  }
  const std::int64_t bits = BitsOfZeros(*zeros, *scales);
  const std::optional<std::int64_t> in = Unpacked(weight.rows(), bits);
  if (!in) return std::nullopt;
  return Reading{GroupedName("gptq", bits, *in, scales->rows(), layer),
                 {weight.columns(), *in},
                 scales->dtype};
}

std::optional<Reading> ReadAwq(const Part& weight, const Layer& layer) {
  const std::optional<Part> zeros = layer.Find("qzeros"), scales = layer.Find("scales");
  if (!zeros || !scales || !weight.is_matrix(DType::kInt32) || !zeros->is_matrix(DType::kInt32) ||
      scales->sizes.size() != 2 || weight.columns() != zeros->columns()) {
    return std::nullopt;
  }
  const std::int64_t bits = BitsOfZeros(*zeros, *scales);
  if (bits == 0) return std::nullopt;
  return Reading{GroupedName("awq", bits, weight.rows(), scales->rows(), layer),
                 {scales->columns(), weight.rows()},
                 scales->dtype};
}

// The sizes of the weight are in a tensor's data, which are not read.
std::optional<Reading> ReadBitsAndBytes4(const Part& weight, const Layer& layer) {
  if (!weight.is_matrix(DType::kUInt8) || weight.columns() != 1 || !layer.Find("weight.absmax")) {
    return std::nullopt;
  }
  const bool nf4 = layer.Find("weight.quant_state.bitsandbytes__nf4").has_value();
  const bool fp4 = layer.Find("weight.quant_state.bitsandbytes__fp4").has_value();
  if (nf4 == fp4 || weight.rows() > INT64_MAX / 2) return std::nullopt;
  return Reading{nf4 ? "bnb_nf4" : "bnb_fp4", {2 * weight.rows()}};
}

std::optional<Reading> ReadBitsAndBytes8(const Part& weight, const Layer& layer) {
  if (!weight.is_matrix(DType::kInt8) || !layer.Find("SCB")) return std::nullopt;
  return Reading{"bnb_int8", {weight.rows(), weight.columns()}, DType::kFloat16};
}

// Two numbers in a byte, scales of eight bits: NVFP4 and, with scales that are powers of two,
// MXFP4.
std::optional<Reading> ReadFloat4(const Part& weight, const Layer& layer) {
  const std::optional<Part> scale = layer.Find("weight_scale");
  if (!scale || !weight.is_matrix(DType::kUInt8) || scale->sizes.size() != 2 ||
      weight.columns() > INT64_MAX / 2) {
    return std::nullopt;
  }
  if (scale->dtype != DType::kUInt8 && !IsFloat8(scale->dtype)) return std::nullopt;
  return Reading{scale->dtype == DType::kFloat8E4M3 ? "nvfp4" : "mxfp4",
                 {weight.rows(), 2 * weight.columns()},
                 DType::kBFloat16};
}

// Rows of int32 words, one scale for a group. The width is told by zero points or a configuration.
std::optional<Reading> ReadPackedWords(const Part& weight, const Layer& layer) {
  const std::optional<Part> scale = layer.Find("weight_scale"),
                            zeros = layer.Find("weight_zero_point");
  if (!scale || !weight.is_matrix(DType::kInt32) || scale->sizes.size() != 2) return std::nullopt;
  std::int64_t bits = layer.bits();
  if (zeros && zeros->is_matrix(DType::kInt32) && scale->rows() > 0 &&
      zeros->rows() <= INT64_MAX / kWordBits && zeros->rows() * kWordBits % scale->rows() == 0) {
    bits = zeros->rows() * kWordBits / scale->rows();
  }
  const std::optional<std::int64_t> in = Unpacked(weight.columns(), bits);
  if (!in) return std::nullopt;
  return Reading{GroupedName("packed", bits, *in, scale->columns(), layer),
                 {weight.rows(), *in},
                 scale->dtype};
}

// With scales that are powers of two, of eight bits, numbers are MXFP4's and have no biases.
std::optional<Reading> ReadMlx(const Part& weight, const Layer& layer) {
  constexpr int kMxfp4Bits = 4;
  const std::optional<Part> scales = layer.Find("scales");
  if (!scales || weight.dtype != DType::kUInt32 || weight.sizes.size() < 2 ||
      scales->sizes.size() != weight.sizes.size()) {
    return std::nullopt;
  }
  const bool mxfp4 = scales->dtype == DType::kUInt8 && layer.bits() == kMxfp4Bits;
  if (!mxfp4 && !layer.Find("biases")) return std::nullopt;
  const std::optional<std::int64_t> in = Unpacked(weight.sizes.back(), layer.bits());
  if (!in) return std::nullopt;
  const std::string name =
      mxfp4 ? "mxfp4" : GroupedName("mlx", layer.bits(), *in, scales->sizes.back(), layer);
  Reading reading{
      name, {weight.sizes.begin(), weight.sizes.end()}, mxfp4 ? DType::kBFloat16 : scales->dtype};
  reading.sizes.back() = *in;
  return reading;
}

// Elements of eight bits with scales for the tensor, its rows or blocks of it.
std::optional<Reading> ReadScaled(const Part& weight, const Layer&) {
  if (weight.dtype != DType::kInt8 && !IsFloat8(weight.dtype)) return std::nullopt;
  return Reading{std::string(NameOf(weight.dtype)) + "_scaled",
                 {weight.sizes.begin(), weight.sizes.end()},
                 DType::kBFloat16};
}

// Experts of gpt-oss: groups of 16 bytes, 32 numbers, and a scale for each.
std::optional<Reading> ReadMxfp4Blocks(const Part& weight, const Layer& layer) {
  const std::optional<Part> scales = layer.Find("_scales");
  constexpr std::int64_t kBlockBytes = 16;
  if (!scales || weight.dtype != DType::kUInt8 || scales->dtype != DType::kUInt8 ||
      weight.sizes.size() < 2 || weight.sizes.back() != kBlockBytes ||
      !std::ranges::equal(weight.sizes.first(weight.sizes.size() - 1), scales->sizes)) {
    return std::nullopt;
  }
  Reading reading{"mxfp4", {scales->sizes.begin(), scales->sizes.end()}, DType::kBFloat16};
  if (reading.sizes.back() > INT64_MAX / (2 * kBlockBytes)) return std::nullopt;
  reading.sizes.back() *= 2 * kBlockBytes;
  return reading;
}

constexpr std::size_t kMostParts = 6;
using Ends = std::array<std::string_view, kMostParts>;

struct Scheme {
  std::string_view weight;  // how the name of the packed numbers ends
  std::string_view beside;  // a tensor without which it is not this scheme
  std::string_view name;    // how the name of the weight ends
  Ends parts;               // what else belongs to it
  std::optional<Reading> (*read)(const Part& weight, const Layer& layer);
};

constexpr Ends kGptqParts = {"qzeros", "scales", "g_idx"};
constexpr Ends kPackedParts = {"weight_scale",        "weight_zero_point",  "weight_shape",
                               "weight_global_scale", "input_global_scale", "weight_g_idx"};
constexpr Ends kScaleParts = {"weight_scale", "weight_scale_inv", "weight_scale_2",
                              "input_scale",  "activation_scale", "weight_zero_point"};

constexpr std::array kSchemes = {
    Scheme{"qweight", "qzeros", "weight", kGptqParts, ReadGptq},
    Scheme{"qweight", "qzeros", "weight", kGptqParts, ReadAwq},
    Scheme{"weight",
           "weight.absmax",
           "weight",
           {"weight.absmax", "weight.quant_map", "weight.nested_absmax", "weight.nested_quant_map",
            "weight.quant_state.bitsandbytes__nf4", "weight.quant_state.bitsandbytes__fp4"},
           ReadBitsAndBytes4},
    Scheme{"weight", "SCB", "weight", {"SCB", "weight_format"}, ReadBitsAndBytes8},
    Scheme{"weight_packed", "weight_scale", "weight", kPackedParts, ReadPackedWords},
    Scheme{"weight_packed", "weight_scale", "weight", kPackedParts, ReadFloat4},
    Scheme{"weight", "weight_scale_2", "weight", kScaleParts, ReadFloat4},
    Scheme{"weight", "weight_scale", "weight", kScaleParts, ReadScaled},
    Scheme{"weight", "weight_scale_inv", "weight", kScaleParts, ReadScaled},
    Scheme{"weight", "scales", "weight", {"scales", "biases"}, ReadMlx},
    Scheme{"weight._data",
           "weight._scale",
           "weight",
           {"weight._scale", "input_scale", "output_scale"},
           ReadScaled},
    Scheme{"_blocks", "_scales", "", {"_scales"}, ReadMxfp4Blocks},
};

// What packed numbers are stored as; of other dtypes no name needs to be looked at.
bool MayBePacked(DType dtype) { return IsIntegral(dtype) || IsFloat8(dtype); }

// "q_proj." of "q_proj.qweight" by "qweight": the end stands after a point, unless it begins with
// a line.
std::optional<std::string_view> PrefixBefore(std::string_view end, std::string_view name) {
  if (!name.ends_with(end)) return std::nullopt;
  const std::string_view prefix = name.substr(0, name.size() - end.size());
  if (end.front() == '_' || prefix.empty() || prefix.ends_with('.')) return prefix;
  return std::nullopt;
}

class Finder {
 public:
  Finder(const StoredWeights& weights, const QuantisationHints& hints)
      : weights_(weights), hints_(hints), by_name_(weights.program.strings.size(), kNoId) {
    for (std::uint32_t i = 0; i < weights.tensors.size(); ++i) {
      by_name_[weights.tensors[i].name] = i;
    }
  }

  std::optional<QuantisedWeight> At(std::uint32_t index) const {
    const StoredTensor& tensor = weights_.tensors[index];
    if (!MayBePacked(tensor.dtype) || tensor.packing != kNoString) return std::nullopt;
    const std::string_view name = weights_.NameOf(tensor);
    for (const Scheme& scheme : kSchemes) {
      const std::optional<std::string_view> prefix = PrefixBefore(scheme.weight, name);
      if (!prefix) continue;
      const Layer layer(weights_, by_name_, *prefix, hints_);
      if (!layer.Find(scheme.beside)) continue;
      std::optional<Reading> reading =
          scheme.read({index, tensor.dtype, weights_.SizesOf(tensor)}, layer);
      if (reading && Fits(reading->sizes)) return WeightOf(scheme, index, layer, *prefix, *reading);
    }
    return std::nullopt;
  }

 private:
  // The sizes are computed with, as those of any tensor.
  static bool Fits(const std::vector<std::int64_t>& sizes) {
    std::int64_t count = 8;  // bytes of the widest element
    for (const std::int64_t size : sizes) {
      if (__builtin_mul_overflow(count, size, &count)) return false;
    }
    return true;
  }

  static QuantisedWeight WeightOf(const Scheme& scheme, std::uint32_t index, const Layer& layer,
                                  std::string_view prefix, Reading& reading) {
    QuantisedWeight weight{.name = std::string(prefix).append(scheme.name),
                           .packing = std::move(reading.packing),
                           .dtype = reading.dtype,
                           .sizes = std::move(reading.sizes),
                           .tensors = {index}};
    for (const std::string_view end : scheme.parts) {
      if (end.empty()) continue;
      if (const std::optional<Part> part = layer.Find(end)) weight.tensors.push_back(part->index);
    }
    return weight;
  }

  const StoredWeights& weights_;
  const QuantisationHints& hints_;
  std::vector<std::uint32_t> by_name_;
};

}  // namespace

std::vector<QuantisedWeight> FindQuantisedWeights(const StoredWeights& weights,
                                                  const QuantisationHints& hints) {
  std::vector<QuantisedWeight> found;
  const Finder finder(weights, hints);
  for (std::uint32_t i = 0; i < weights.tensors.size(); ++i) {
    if (std::optional<QuantisedWeight> weight = finder.At(i)) found.push_back(*std::move(weight));
  }
  return found;
}

}  // namespace steelyard::weights
