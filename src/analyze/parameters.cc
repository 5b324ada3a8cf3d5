// SPDX-License-Identifier: Apache-2.0

#include "analyze/parameters.h"

#include <algorithm>
#include <optional>

#include "analyze/experts.h"

namespace steelyard {
namespace {

std::int64_t Elements(const Program& program, ValueId id) {
  std::int64_t n = 1;  // cannot overflow: layouts are checked when they enter a program
  for (std::int64_t size : program.sizes(id)) n *= size;
  return n;
}

std::int64_t Bytes(const Program& program, ValueId id) {
  return (Elements(program, id) * BitsOf(program.values[id].dtype) + 7) / 8;
}

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
    const std::int64_t count = Elements(kernels, p.value), bytes = Bytes(kernels, p.value);
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
    report.buffers.count += Elements(kernels, b.value);
    report.buffers.bytes += Bytes(kernels, b.value);
  }
  std::ranges::stable_sort(report.by_dtype, std::greater(),
                           [](const DTypeTotal& t) { return t.total.bytes; });
  return report;
}

}  // namespace steelyard
