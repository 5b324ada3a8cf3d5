// SPDX-License-Identifier: Apache-2.0
//
// Weighing text that a model writes: each kind of call is a program of its own.
#pragma once

#include <functional>

#include "analyze/generation.h"
#include "steelyard/error.h"
#include "steelyard/import.h"
#include "steelyard/program.h"
#include "steelyard/weigh.h"

namespace steelyard {

// Weighs a program with the given options.
using WeighOne = std::function<Result<Weighing>(Program program, const WeighOptions& options)>;

// Refuses what a generation cannot be asked for. Requires: options.generate.
Status CheckGeneration(const WeighOptions& options);

// The last of its calls.
CacheStep LastCall(const GenerateOptions& generate);

// Weighs the calls of `options.generate` and returns the last, with what is to be told of all of
// them. With `options.fit`, where the cache is one that is weighed: the call that needs most and,
// where no batch is given, of the most sequences whose generation fits.
Result<Weighing> WeighGeneration(const WeighOptions& options, const ImportOptions& import,
                                 const WeighOne& weigh);

}  // namespace steelyard
