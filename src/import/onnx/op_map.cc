// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/op_map.h"

#include <map>
#include <utility>

namespace steelyard::onnx {
namespace {

using Key = std::pair<std::string_view, std::string_view>;
using Index = std::multimap<Key, const OpRow*>;

using Rows = std::span<const OpRow> (*)();
constexpr Rows kFamilies[] = {
    ElementwiseRows, ShapeRows,   IndexingRows,        NeuralRows, ReductionRows, WindowRows,
    RecurrentRows,   ControlRows, QuantizedRows,       ImageRows,  RandomRows,    AttentionRows,
    FusedRows,       SignalRows,  LinearAttentionRows, TextRows,   LearnedRows};

Index MakeIndex() {
  Index index;
  for (const Rows rows : kFamilies) {
    for (const OpRow& row : rows()) index.emplace(Key(row.domain, row.name), &row);
  }
  return index;
}

}  // namespace

const OpRow* FindRow(std::string_view domain, std::string_view name, std::int64_t opset) {
  static const Index kIndex = MakeIndex();
  if (domain == "ai.onnx") domain = {};
  const OpRow* best = nullptr;
  const auto [begin, end] = kIndex.equal_range(Key(domain, name));
  for (auto at = begin; at != end; ++at) {
    const OpRow* row = at->second;
    if (row->since <= opset && (best == nullptr || row->since > best->since)) best = row;
  }
  return best;
}

}  // namespace steelyard::onnx
