// SPDX-License-Identifier: Apache-2.0
//
// What this machine computes in a second at most, by a product of matrices.
#pragma once

#include <optional>

#include "execute/engine_abi.h"
#include "execute/measurement.h"
#include "steelyard/error.h"
#include "steelyard/weigh.h"

namespace steelyard {

// The dtype in which most multiply-adds of a weighed program are; nothing where there are none.
std::optional<DType> DTypeOfProducts(const Weighing& weighing);

// Of a device that is no CPU, as its row has it, on tensor cores where there are any for the dtype:
// operations a second; 0 where it is not known.
double PeakOf(const Target& target, DType dtype);

// Of the CPU: the fastest of products of square matrices, for about a second, with the threads that
// the engine has now. Ends as interrupted where `stop` is not 0, if there is one.
Result<DevicePeak> MeasurePeak(const SyEngine& engine, DType dtype,
                               const volatile int* stop = nullptr);

}  // namespace steelyard
