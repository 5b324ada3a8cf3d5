// SPDX-License-Identifier: Apache-2.0
//
// Texts as counts of the words that follow each other in them. PyTorch has no operator for it: each
// n-gram becomes one number, which is looked up in the sorted ones of the model, and counted at the
// place that the model has for it.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "import/onnx/op_map.h"

namespace steelyard::onnx {
namespace {

// More kinds of n-grams are not taken apart one by one.
constexpr std::int64_t kMostKinds = 256;

struct Grams {
  std::int64_t length = 1, distance = 1;  // of words; 1: they follow each other
  std::int64_t known = 0;                 // as many of that length has the model
};

// How many n-grams of `length` the model has: `ngram_counts` says where those of each length begin
// in the pool.
std::int64_t KnownOf(const std::vector<std::int64_t>& begins, std::int64_t pool,
                     std::int64_t length) {
  const auto at = static_cast<std::size_t>(length - 1);
  if (at >= begins.size()) return 0;
  const std::int64_t end = at + 1 < begins.size() ? begins[at + 1] : pool;
  if (begins[at] < 0 || end < begins[at] || end > pool) Call::GiveUp("n-grams beyond the pool");
  return (end - begins[at]) / length;
}

std::vector<Grams> KindsOf(Call& call, std::int64_t words) {
  const auto begins = call.integers("ngram_counts"), pool = call.integers("pool_int64s");
  if (!begins || !pool) Call::GiveUp("n-grams of texts, which no tensor of PyTorch's holds");
  const std::int64_t least = call.integer("min_gram_length", 1),
                     most = call.integer("max_gram_length", 1),
                     skips = call.integer("max_skip_count", 0);
  if (least < 1 || most < least || skips < 0 || most > kMostKinds || skips > kMostKinds) {
    Call::GiveUp("n-grams of no length, or of more than 256 kinds");
  }
  std::vector<Grams> kinds;
  for (std::int64_t length = least; length <= most; ++length) {
    const std::int64_t known = KnownOf(*begins, static_cast<std::int64_t>(pool->size()), length);
    if (known == 0) continue;
    // A word alone has no distance.
    for (std::int64_t skip = 0; skip <= (length == 1 ? 0 : skips); ++skip) {
      if ((length - 1) * (skip + 1) >= words) break;
      kinds.push_back({.length = length, .distance = skip + 1, .known = known});
      if (static_cast<std::int64_t>(kinds.size()) > kMostKinds) {
        Call::GiveUp("n-grams of more than 256 kinds");
      }
    }
  }
  return kinds;
}

// A column of the model, of so many n-grams or places.
Tensor Table(Call& call, const std::string& name, DType dtype, std::int64_t count) {
  Builder& builder = call.workshop().builder;
  const Builder::Scope root = builder.Within(0);
  return builder.Buffer(std::string(call.output_name(0)) + "." + name, dtype, Builder::Shape{count},
                        true);
}

// `counts` with those of one kind added.
Tensor Counted(Call& call, Tensor words, std::int64_t total, const Grams& kind, Tensor counts) {
  const std::int64_t windows = total - (kind.length - 1) * kind.distance;
  Tensor grams;
  for (std::int64_t i = 0; i < kind.length; ++i) {
    const std::int64_t from = i * kind.distance;
    const Tensor word = call.Emit("aten::slice.Tensor", words, -1, from, from + windows);
    if (!grams.defined()) {
      grams = word;
      continue;
    }
    const Tensor shifted = call.Emit("aten::mul.Tensor", grams, std::int64_t{1} << 20);
    grams = call.Emit("aten::add.Tensor", shifted, word);
  }
  const std::string of = std::to_string(kind.length) + "grams";
  const Tensor known = Table(call, of, DType::kInt64, kind.known);
  const Tensor places = Table(call, of + ".places", DType::kInt64, kind.known);
  Tensor at = call.Emit("aten::searchsorted.Tensor", known, grams);
  at = call.Emit("aten::clamp_max", at, kind.known - 1);
  const auto found = [&](Tensor table) {
    return call.Emit("aten::index.Tensor", table, std::vector<Tensor>{at});
  };
  const Tensor is_known = call.Emit("aten::eq.Tensor", found(known), grams);
  const Tensor one = call.Emit("aten::to.dtype", is_known, DType::kFloat32);
  return call.Emit("aten::scatter_add", counts, -1, found(places), one);
}

void CountGrams(Call& call) {
  Shape to = call.shape(0);
  if (to.empty() || to.size() > 2 || !to.back().is_number()) {
    Call::GiveUp("other than texts of a known length");
  }
  const std::int64_t words = to.back().number();
  const auto places = call.integers("ngram_indexes");
  if (!places || places->empty()) Call::GiveUp("no ngram_indexes");
  const std::int64_t last = *std::ranges::max_element(*places);
  if (last < 0 || last >= std::int64_t{1} << 31) Call::GiveUp("places of no vector");
  to.back() = Dim(last + 1);
  const std::string mode = call.text("mode", "TF");
  const Tensor texts = call.Emit("aten::to.dtype", call.tensor(0), DType::kInt64);
  Tensor counts = call.Emit("aten::zeros", ToSizes(to), Builder::Named("dtype", DType::kFloat32));
  for (const Grams& kind : KindsOf(call, words)) {
    counts = Counted(call, texts, words, kind, counts);
  }
  if (mode == "IDF") counts = call.Emit("aten::clamp_max", counts, 1);
  if (mode != "TF" && call.attribute("weights")) {
    const Tensor weights = Table(call, "weights", DType::kFloat32, last + 1);
    counts = call.Emit("aten::mul.Tensor", counts, weights);
  }
  call.Give(counts, {DType::kFloat32, to});
}

constexpr std::array kRows{
    OpRow{"TfIdfVectorizer", 9, CountGrams},
};

}  // namespace

std::span<const OpRow> TextRows() { return kRows; }

}  // namespace steelyard::onnx
