// SPDX-License-Identifier: Apache-2.0
//
// Everything in a program is appended to a pool and told by its index. What is appended may be a
// part of the pool itself, which moves as it grows. Operators are numbered as they are first
// mentioned, and that of dropped references is remembered, since it is asked for at every node.

#include "steelyard/program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace steelyard {
namespace {

// `items` may be a part of `pool`, as when a pass copies a node's arguments.
template <class T>
Argument::Run Append(std::span<const T> items, std::vector<T>& pool) {
  const std::size_t begin = pool.size();
  const T* base = pool.data();
  const bool inside =
      std::greater_equal<>{}(items.data(), base) && std::less<>{}(items.data(), base + begin);
  if (inside) {
    const auto offset = static_cast<std::size_t>(items.data() - base);
    pool.resize(begin + items.size());
    std::copy_n(pool.data() + offset, items.size(), pool.data() + begin);
  } else {
    pool.insert(pool.end(), items.begin(), items.end());
  }
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(items.size())};
}

Argument Of(ArgKind kind) {
  Argument a;
  a.kind = kind;
  return a;
}

}  // namespace

Argument Argument::OfValue(ValueId v) {
  Argument a = Of(ArgKind::kValue);
  a.value = v;
  return a;
}
Argument Argument::OfInt(Dim d) {
  Argument a = Of(ArgKind::kInt);
  a.dim = d;
  return a;
}
Argument Argument::OfFloat(double r) {
  Argument a = Of(ArgKind::kFloat);
  a.real = r;
  return a;
}
Argument Argument::OfBool(bool b) {
  Argument a = OfInt(Dim(b ? 1 : 0));
  a.kind = ArgKind::kBool;
  return a;
}
Argument Argument::OfString(StringId s) {
  Argument a = Of(ArgKind::kString);
  a.text = s;
  return a;
}
Argument Argument::OfDType(DType t) {
  Argument a = Of(ArgKind::kDType);
  a.dtype = t;
  return a;
}
Argument Argument::OfList(Run run) {
  Argument a = Of(ArgKind::kList);
  a.list = run;
  return a;
}
Argument Argument::OfComplex(Run parts) {
  Argument a = Of(ArgKind::kComplex);
  a.list = parts;
  return a;
}
Argument Argument::OfGraph(GraphId g) {
  Argument a = Of(ArgKind::kGraph);
  a.graph = g;
  return a;
}

Program::Program() : graphs(1), modules(1), frames(1) {}

const WholeCall* Program::whole_call(NodeId node) const {
  const auto after = std::ranges::upper_bound(whole_calls, node, {}, &WholeCall::first);
  if (after == whole_calls.begin()) return nullptr;
  const WholeCall& call = *std::prev(after);
  return node - call.first < call.count ? &call : nullptr;
}

OpId Program::op_at(NodeId node) const {
  const WholeCall* whole = whole_call(node);
  return whole != nullptr ? whole->op : main().nodes[node].op;
}

std::int64_t Program::runs(GraphId graph) const {
  if (graph < graph_runs.size()) return graph_runs[graph];
  return graph == 0 ? 1 : 0;
}

OpId Program::AddOpName(std::string_view op) {
  const StringId id = strings.Intern(op);
  if (op_of_string_.size() <= id) op_of_string_.resize(strings.size(), kNoId);
  if (op_of_string_[id] == kNoId) {
    op_of_string_[id] = static_cast<OpId>(op_names.size());
    op_names.push_back(id);
    if (op == kDropMark) drop_ = op_of_string_[id];
  }
  return op_of_string_[id];
}

OpId Program::FindOpName(std::string_view op) const {
  const StringId id = strings.Find(op);
  return id < op_of_string_.size() ? op_of_string_[id] : kNoId;
}

ValueId Program::AddTensor(StringId value_name, DType dtype, std::span<const std::int64_t> sizes,
                           std::span<const std::int64_t> strides, Role role) {
  Value value;
  value.name = value_name;
  value.dtype = dtype;
  value.role = role;
  value.storage = storage_count++;
  value.rank = static_cast<std::uint8_t>(std::min<std::size_t>(sizes.size(), Dims::kMaxRank));
  value.dims = dims.Allocate(2u * value.rank);
  const std::span<std::int64_t> out = dims.span(value.dims, 2u * value.rank);
  std::copy_n(sizes.begin(), value.rank, out.begin());
  std::copy_n(strides.begin(), std::min<std::size_t>(strides.size(), value.rank),
              out.begin() + value.rank);
  values.push_back(value);
  return static_cast<ValueId>(values.size() - 1);
}

ValueId Program::AddScalar(StringId value_name, ValueKind kind, Dim scalar) {
  Value value;
  value.name = value_name;
  value.kind = kind;
  value.has_layout = false;
  value.scalar = scalar;
  values.push_back(value);
  return static_cast<ValueId>(values.size() - 1);
}

Argument::Run Program::AddArguments(std::span<const Argument> args) {
  return Append(args, arguments);
}

Argument::Run Program::AddOutputs(std::span<const ValueId> ids) { return Append(ids, outputs); }

std::int64_t Program::stored_bytes(const NamedTensor& tensor) const {
  if (tensor.packing != kNoId) return packings[tensor.packing].bytes;
  return StorageBytes(values[tensor.value].dtype, sizes(tensor.value), strides(tensor.value));
}

std::string_view Program::stored_as(const NamedTensor& tensor) const {
  if (tensor.packing != kNoId) return text(packings[tensor.packing].name);
  return NameOf(values[tensor.value].dtype);
}

}  // namespace steelyard
