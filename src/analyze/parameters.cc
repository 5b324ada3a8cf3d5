// SPDX-License-Identifier: Apache-2.0

#include "analyze/parameters.h"

#include <algorithm>
#include <optional>

#include "analyze/experts.h"
#include "steelyard/op.h"

namespace steelyard {
namespace {

void AddTo(std::vector<DTypeTotal>& by_dtype, DType dtype, std::int64_t count, std::int64_t bytes) {
  auto found = std::ranges::find(by_dtype, dtype, &DTypeTotal::dtype);
  if (found == by_dtype.end()) found = by_dtype.insert(found, {dtype, {}});
  found->total.count += count;
  found->total.bytes += bytes;
}

}  // namespace

ParameterReport CountParameters(const Program& kernels) {
  ParameterReport report;
  std::vector<bool> seen(kernels.storage_count, false);
  const auto first_time = [&](ValueId id) {
    const StorageId storage = kernels.values[id].storage;
    const bool before = seen[storage];
    seen[storage] = true;
    return !before;
  };
  const ExpertUse experts = FindExperts(kernels);
  for (const NamedTensor& p : kernels.parameters) {
    if (p.value == kNoId) continue;
    if (!first_time(p.value)) {
      ++report.tied;
      continue;
    }
    const TensorView tensor(kernels, p.value);
    const std::int64_t count = tensor.count(), bytes = tensor.bytes();
    ++report.tensors;
    report.parameters.count += count;
    report.parameters.bytes += bytes;
    if (kernels.values[p.value].requires_grad) {
      report.trainable.count += count;
      report.trainable.bytes += bytes;
    }
    AddTo(report.by_dtype, kernels.values[p.value].dtype, count, bytes);
    const std::optional<ExpertShare> share = experts.Of(kernels.values[p.value].storage);
    report.active += share ? count / share->experts * share->active : count;
  }
  report.experts = experts.experts;
  report.active_experts = experts.active;
  for (const NamedTensor& b : kernels.buffers) {
    if (b.value == kNoId || !first_time(b.value)) continue;
    const TensorView tensor(kernels, b.value);
    report.buffers.count += tensor.count();
    report.buffers.bytes += tensor.bytes();
  }
  std::ranges::stable_sort(report.by_dtype, std::greater(),
                           [](const DTypeTotal& t) { return t.total.bytes; });
  return report;
}

}  // namespace steelyard
