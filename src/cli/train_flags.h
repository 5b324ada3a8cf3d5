// SPDX-License-Identifier: Apache-2.0
//
// The flags of `weigh` that say which training step is weighed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flag.h"
#include "steelyard/error.h"
#include "steelyard/pass.h"

namespace steelyard::cli {

class TrainFlags {
 public:
  void Add(std::vector<Flag>* flags);
  // What the flags said. Returns a usage error for one that is malformed, or given without --train.
  Result<TrainOptions> Options(std::span<const std::string_view> given) const;

 private:
  void AddOptimizer(std::vector<Flag>* flags);
  void AddStep(std::vector<Flag>* flags);
  void AddProcesses(std::vector<Flag>* flags);
  void AddParts(std::vector<Flag>* flags);
  Status Check() const;
  Status AddOptions(TrainOptions* options) const;
  Status AddGroups(TrainOptions* options) const;
  Status CheckWrapper() const;
  Status CheckNesterov(const std::vector<OptimizerOption>& given) const;

  std::string optimizer_;
  std::string loss_;
  bool first_step_ = false;
  std::optional<double> momentum_;
  std::optional<double> weight_decay_;
  bool nesterov_ = false;
  bool foreach_ = false;
  bool fused_ = false;
  std::vector<std::string> arguments_, arguments_of_engine_;
  std::vector<std::string> no_decay_;
  std::vector<std::string> groups_;
  std::vector<std::string> freeze_;
  std::vector<std::string> recompute_;
  bool recompute_reentrant_ = false;
  std::vector<std::string> inplace_;
  std::optional<std::int64_t> fused_loss_;
  std::optional<std::int64_t> loss_output_;
  std::optional<double> clip_norm_;
  std::optional<double> clip_value_;
  int accumulate_ = 1, ranks_ = 1;
  std::string parallel_;
  std::optional<std::int64_t> bucket_cap_mb_;
  bool bucket_views_ = false;
  bool find_unused_ = false, static_graph_ = false;
  std::vector<std::string> units_;
  bool keep_gathered_ = false, parameter_views_ = false;
  std::optional<std::int64_t> rank_;
  std::string mp_policy_;
  std::vector<std::string> plan_;
  std::string zero_grad_ = "none";
  std::vector<std::string_view> names_;  // of the flags beside --train
};

// Reads "momentum=0.9,nesterov=True".
Result<std::vector<OptimizerOption>> ReadOptimizerOptions(std::string_view text);
// Reads "param_dtype=bfloat16,cast_forward_inputs=False".
Result<ShardPrecision> ReadShardPrecision(std::string_view text);
// Reads "*.up=colwise,*.down=rowwise".
Result<std::vector<LayerPlan>> ReadLayerPlan(std::string_view text);
// Reads "*.bias:weight_decay=0,optimizer=adamw".
Result<ParameterGroup> ReadParameterGroup(std::string_view text);

}  // namespace steelyard::cli
