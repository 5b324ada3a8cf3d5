// SPDX-License-Identifier: Apache-2.0
//
// The flags of `weigh` that say what text a model writes, and where it keeps what it has seen.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flag.h"
#include "steelyard/error.h"
#include "steelyard/weigh.h"

namespace steelyard::cli {

class GenerateFlags {
 public:
  void Add(std::vector<Flag>* flags);
  // What the flags said; nothing without --generate. Returns a usage error for one that is
  // malformed or given without it.
  Result<std::optional<GenerateOptions>> Options(std::span<const std::string_view> given) const;

 private:
  std::string tokens_;
  std::optional<std::int64_t> beams_;
  std::string store_;
  std::string numbers_;
  std::optional<std::int64_t> block_;
  std::optional<std::int64_t> shared_prefix_;
  std::string bandwidth_;
  std::string operations_;
  std::vector<std::string_view> names_;  // of the flags beside --generate
};

// Reads "512+128": tokens of a prompt, and those that are written.
Result<GenerateOptions> ReadGeneration(std::string_view text);
// Reads "989T", "3.35TB/s" or "1.5e15": so many in a second.
Result<double> ReadSpeed(std::string_view text, std::string_view flag);

}  // namespace steelyard::cli
