// SPDX-License-Identifier: Apache-2.0
//
// How fast a device multiplies is measured: by products of large matrices, in the dtype in which
// most of the model's products are.
#include "session/peak_flops.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "analyze/work.h"
#include "execute/execution.h"
#include "hardware/devices.h"
#include "ir/text_reader.h"
#include "session/analyses.h"
#include "steelyard/pass.h"

namespace steelyard {
namespace {

// Large enough that reading the matrices takes no time beside multiplying them; fewer rows are
// tried first, for some dtypes' products take a thousand times as long.
constexpr std::int64_t kRows = 2048;
constexpr std::int64_t kFirstRows = 256;
constexpr double kSeconds = 1;
constexpr int kFewest = 3;
constexpr std::int64_t kGrowth = 2;

}  // namespace

std::optional<DType> DTypeOfProducts(const Weighing& weighing) {
  const Program& kernels = weighing.kernels;
  const std::vector<Node>& nodes = kernels.main().nodes;
  std::map<DType, double> macs;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::int64_t of_node = weighing.analyses->work.by_node[i].macs;
    if (of_node == 0) continue;
    for (const Argument& argument : kernels.args(nodes[i])) {
      if (argument.kind != ArgKind::kValue) continue;
      macs[kernels.values[argument.value].dtype] += static_cast<double>(of_node);
      break;
    }
  }
  if (macs.empty()) return std::nullopt;
  return std::ranges::max_element(macs, {}, [](const auto& row) { return row.second; })->first;
}

double PeakOf(const Target& target, DType dtype) {
  constexpr double kTera = 1e12;
  const DeviceSpec* const device = FindDevice(target.name);
  if (device == nullptr) return 0;
  switch (dtype) {
    case DType::kFloat64:
      return device->peak.float64 * kTera;
    case DType::kFloat32:
      return device->peak.float32 * kTera;
    case DType::kFloat16:
      return device->peak.float16 * kTera;
    case DType::kBFloat16:
      return device->peak.bfloat16 * kTera;
    default:
      return 0;
  }
}

namespace {

// What a product of matrices of so many rows takes, in seconds: the shortest of a few, and of those
// that run within `budget`.
Result<double> SecondsOfProduct(const SyEngine& engine, DType dtype, std::int64_t rows,
                                double budget, const volatile int* stop) {
  const std::string type = fmt::format("{}[{},{}]", ShortNameOf(dtype), rows, rows);
  SY_ASSIGN_OR_RETURN(
      Program program,
      ParseText(fmt::format("input %a: {0}\ninput %b: {0}\n%c: {0} = aten::mm(%a, %b)\nreturn %c\n",
                            type),
                "the product of two matrices"));
  SY_ASSIGN_OR_RETURN(const Lowered lowered, Lower(std::move(program), {}));
  SY_ASSIGN_OR_RETURN(Execution execution, Execution::Open(engine, lowered.kernels, {}));
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const auto end = static_cast<NodeId>(lowered.kernels.main().nodes.size());
  SyRecord record{};
  record.stop = stop;
  const Clock::time_point begun = Clock::now();
  double fastest = 0;
  for (int run = 0; run < kFewest || since(begun) < budget; ++run) {
    const Clock::time_point start = Clock::now();
    SY_RETURN_IF_ERROR(execution.Run(0, end, record));
    const double seconds = since(start);
    execution.ReleaseOutputs();
    if (run == 0 || seconds < fastest) fastest = seconds;
  }
  return fastest;
}

}  // namespace

Result<DevicePeak> MeasurePeak(const SyEngine& engine, DType dtype, const volatile int* stop) {
  std::int64_t rows = kFirstRows;
  for (; rows < kRows; rows *= kGrowth) {
    SY_ASSIGN_OR_RETURN(const double seconds, SecondsOfProduct(engine, dtype, rows, 0, stop));
    if (seconds * kGrowth * kGrowth * kGrowth * kFewest > kSeconds) break;
  }
  SY_ASSIGN_OR_RETURN(const double seconds, SecondsOfProduct(engine, dtype, rows, kSeconds, stop));
  const auto size = static_cast<double>(rows);
  return DevicePeak{.flops_per_second = 2 * size * size * size / seconds,
                    .is_measured = true,
                    .dtype = dtype,
                    .size = rows};
}

}  // namespace steelyard
