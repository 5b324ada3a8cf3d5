// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/generate_flags.h"
#include "cli/report_output.h"
#include "cli/train_flags.h"
#include "steelyard/pass.h"
#include "steelyard/weigh.h"

namespace steelyard::cli {

// steelyard weigh MODEL
class WeighCommand final : public Command {
 public:
  WeighCommand();
  std::vector<Flag> Flags() override;
  Status Run() override;

  // The heading of the flags of generated texts.
  static constexpr std::string_view kOfTexts = "Text that it writes";

  // For commands that weigh models besides: what is weighed, and what the flags said of it.
  void AddModelFlags(std::vector<Flag>* flags);
  // `names_precisions`: another flag says in which precisions it runs, as --amp does.
  Result<WeighOptions> Options(bool names_precisions = false) const;
  // The device that was asked for, by the name that the user gave it.
  const std::string& device() const { return device_; }

 private:
  void AddSizeFlags(std::vector<Flag>* flags);
  void AddRunFlags(std::vector<Flag>* flags);
  void AddDeviceFlags(std::vector<Flag>* flags);
  void AddCountFlags(std::vector<Flag>* flags);
  void AddImportFlags(std::vector<Flag>* flags);
  void AddReportFlags(std::vector<Flag>* flags);
  Result<std::string> TableFor(std::string_view format) const;
  Result<std::optional<std::int64_t>> Limit(const Target& target) const;
  Status PrintProgram(const WeighOptions& options) const;

  std::string model_;
  std::vector<std::string> inputs_;
  std::vector<std::string> sizes_;
  std::optional<std::int64_t> batch_;
  std::optional<std::int64_t> seq_;
  std::string fit_;
  std::string mode_ = "exported";
  std::string count_ = "torch";
  std::string runtime_ = "eager";
  std::string schedule_ = "post-order";
  std::string budget_;
  std::string device_ = "cpu";
  std::vector<std::string> devices_;
  std::vector<std::string> alloc_conf_;
  bool segments_ = false;
  bool no_cudnn_attention_ = false;
  bool deterministic_ = false;
  std::string torch_ = std::string(TorchReleases().back());
  std::string program_ = "exported";
  std::string amp_, amp_policy_ = "torch";
  std::vector<std::string> casts_;
  std::string from_, dtype_, attention_;
  ReportOptions report_;
  bool strict_ = false;
  bool progress_ = false;
  bool advise_ = false;
  std::string at_;
  std::string print_after_;
  TrainFlags train_;
  GenerateFlags generate_;
  bool use_cache_ = false;
  ReportOutput output_;
};

// Reads "NAME=2x128": an input and its sizes.
Result<InputShape> ReadInputShape(std::string_view text);
// Reads "aten::softmax=float32": an operator or a pattern of modules, and a dtype.
Result<CastOverride> ReadCast(std::string_view text);
// Reads "u0=128": a symbol and its size.
Result<SymbolSize> ReadSymbolSize(std::string_view text);

}  // namespace steelyard::cli
