// SPDX-License-Identifier: Apache-2.0
//
// The stages of a run, what they took and computed, and of what the device can that is a share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "execute/measurement.h"
#include "present/run.h"
#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::present {

struct StageRow {
  std::string_view name;
  Spread seconds;
  std::int64_t flops = 0;  // of products, two operations a multiply-add: all that runs
};
// The stages and, of several, their sum, repetition by repetition.
std::vector<StageRow> StageRows(const Run& run);
// Of a whole run; 0 where none was timed.
double SecondsOf(const std::vector<StageRow>& stages);

Quantity Seconds(double seconds);
double SpeedOf(std::int64_t flops, double seconds);
Quantity Speed(std::int64_t flops, double seconds);
// So many of something in each run, a second.
Quantity Rate(std::int64_t count, const std::vector<StageRow>& stages);

// The speed of a whole run as a share of the device's: that of the flops which the model needs,
// forward and backward (model flops utilisation), and that of those which run, what is computed
// again and the optimizer included (hardware flops utilisation). Nothing where no peak is known.
struct Utilisation {
  double model = 0;
  double hardware = 0;
  std::int64_t model_flops = 0;
  std::int64_t hardware_flops = 0;
};
std::optional<Utilisation> UtilisationOf(const Run& run, const std::vector<StageRow>& stages);

// "97.1 GFLOP/s, measured with products of 2048×2048 float32"; "989 TFLOP/s, as given".
// "PyTorch 2.15.0 on the CPU, 2 threads".
std::string WhereItRan(const Run& run);

report::Sentence PeakText(const DevicePeak& peak);

// "Kernels were timed one by one in 3 further runs, not in those of the medians:", where they were.
void AppendHowKernelsWereTimed(const Measurement& measurement, report::Document* document);

// Kernels of one operator.
struct TimedOperator {
  std::string_view name;
  std::int64_t calls = 0;
  double seconds = 0;
  NodeWork work;
};
// By operator, the longest first; without the ends of references, which are no kernels.
std::vector<TimedOperator> TimedOperators(const Run& run);

}  // namespace steelyard::present
