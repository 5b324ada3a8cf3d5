// SPDX-License-Identifier: Apache-2.0

#include "analyze/parameters.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "analyze/experts.h"
#include "ir/whole_bytes.h"
#include "ops/op_def.h"

namespace steelyard {
namespace {

void AddTo(std::vector<DTypeTotal>& by_dtype, std::string_view name, std::int64_t count,
           std::int64_t bytes) {
  auto found = std::ranges::find(by_dtype, name, &DTypeTotal::name);
  if (found == by_dtype.end()) found = by_dtype.insert(found, {.name = name, .total = {}});
  ++found->tensors;
  found->total.count += count;
  found->total.bytes += bytes;
}

}  // namespace

std::int64_t BytesOf(const Program& kernels, const NamedTensor& tensor) {
  return tensor.packing == kNoId ? TensorView(kernels, tensor.value).bytes()
                                 : kernels.stored_bytes(tensor);
}

ParameterReport CountParameters(const Program& kernels) {
  ParameterReport report;
  std::vector<bool> seen(kernels.storage_count, false);
  const std::vector<std::int64_t> whole = WholeBytes(kernels);
  const auto first_time = [&](ValueId id) {
    const StorageId storage = kernels.values[id].storage;
    const bool before = seen[storage];
    seen[storage] = true;
    return !before;
  };
  const ExpertUse experts = FindExperts(kernels);
  for (const NamedTensor& p : kernels.parameters) {
    if (p.value == kNoId) continue;
    const bool is_part = whole[kernels.values[p.value].storage] > 0;
    if (p.tied_to != kNoId || (!first_time(p.value) && !is_part)) {
      ++report.tied;
      continue;
    }
    const std::int64_t count = TensorView(kernels, p.value).count();
    const std::int64_t bytes = BytesOf(kernels, p);
    ++report.tensors;
    report.parameters.count += count;
    report.parameters.bytes += bytes;
    if (kernels.values[p.value].requires_grad) {
      report.trainable.count += count;
      report.trainable.bytes += bytes;
    }
    AddTo(report.by_dtype, kernels.stored_as(p), count, bytes);
    const std::optional<ExpertShare> share = experts.Of(kernels.values[p.value].storage);
    report.active += share ? count / share->experts * share->active : count;
  }
  report.experts = experts.experts;
  report.active_experts = experts.active;
  for (const NamedTensor& b : kernels.buffers) {
    if (b.value == kNoId || !first_time(b.value)) continue;
    report.buffers.count += TensorView(kernels, b.value).count();
    report.buffers.bytes += BytesOf(kernels, b);
  }
  std::ranges::stable_sort(report.by_dtype, std::greater(),
                           [](const DTypeTotal& t) { return t.total.bytes; });
  return report;
}

}  // namespace steelyard
