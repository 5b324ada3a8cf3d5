// SPDX-License-Identifier: Apache-2.0
//
// A model of three linears, weighed by hand, so that each builder can be tested without the file
// reader, the passes and the runtime.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

// In float32, for two rows of eight: encoder.layer.0 and encoder.layer.1 (8 to 8 each), head (8
// to 4). The first layer needs four rows of scratch.
class WeighedModel {
 public:
  WeighedModel();
  Findings findings() const;

  Program imported, kernels;
  Timeline timeline;
  ParameterReport parameters;
  WorkReport work;
  PeakReport peak;
  TrainingState training;
  std::vector<KindReport> kinds;
  std::vector<ModuleReport> modules;
  std::vector<ClassReport> classes;
  std::vector<WorkReport> counts;
  Target target;

 private:
  void Run();
  void CountByHand();
};

inline constexpr std::int64_t kFloat = 4;              // bytes
inline constexpr std::int64_t kLayerMacs = 2 * 8 * 8;  // rows, inputs, outputs
inline constexpr std::int64_t kHeadMacs = 2 * 8 * 4;
inline constexpr std::int64_t kMacs = 2 * kLayerMacs + kHeadMacs;

// The value at a path of keys.
report::DataView At(const report::Data& data, std::string_view path);

// The body of a document as text of unlimited width.
std::string TextOf(const report::Document& document);

}  // namespace steelyard::present
