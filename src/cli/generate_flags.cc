// SPDX-License-Identifier: Apache-2.0
//
// Decides how a text that is to be written is asked for: "512+128" tokens, and speeds whose unit
// may stand there but changes nothing. A flag that means nothing by itself is refused: any of them
// without --generate, a size of blocks without a paged cache, one speed without the other.

#include "cli/generate_flags.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

#include "support/choices.h"

namespace steelyard::cli {
namespace {

constexpr std::string_view kGenerate = "--generate";

bool ReadCount(std::string_view text, std::int64_t* count) {
  const char* end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, *count);
  return problem == std::errc() && stopped == end && *count > 0;
}

struct Prefix {
  char letter;
  double factor;
};
constexpr std::array kPrefixes{Prefix{'k', 1e3}, Prefix{'K', 1e3},  Prefix{'M', 1e6},
                               Prefix{'G', 1e9}, Prefix{'T', 1e12}, Prefix{'P', 1e15}};
// What may stand behind a number.
constexpr std::array<std::string_view, 5> kUnits{"B/s", "FLOP/s", "FLOPS", "FLOPs", "B"};

}  // namespace

Result<GenerateOptions> ReadGeneration(std::string_view text) {
  GenerateOptions options;
  const std::size_t plus = text.find('+');
  const bool whole = plus != std::string_view::npos &&
                     ReadCount(text.substr(0, plus), &options.prompt) &&
                     ReadCount(text.substr(plus + 1), &options.tokens);
  if (whole) return options;
  return Unexpected(
      UsageError(fmt::format("\"{}\" is not the tokens of a prompt and those that follow", text),
                 "--generate", "Write it as --generate 512+128."));
}

Result<double> ReadSpeed(std::string_view text, std::string_view flag) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, number);
  std::string_view rest(stopped, static_cast<std::size_t>(end - stopped));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  for (const Prefix& prefix : kPrefixes) {
    if (!rest.starts_with(prefix.letter)) continue;
    number *= prefix.factor;
    rest.remove_prefix(1);
    break;
  }
  for (const std::string_view unit : kUnits) {
    if (rest == unit) rest = {};
  }
  constexpr double kMost = 1e24;
  if (problem == std::errc() && rest.empty() && number > 0 && number < kMost) return number;
  return Unexpected(UsageError(fmt::format("\"{}\" is not so many in a second", text),
                               std::string(flag), "Write it as 989T, 3.35TB/s or 3.35e12."));
}

void GenerateFlags::Add(std::vector<Flag>* flags) {
  const std::size_t first = flags->size();
  flags->insert(flags->end(),
                {{.name = kGenerate,
                  .arg = "512+128",
                  .help = "weigh the text that a model built from a config.json writes: tokens of "
                          "a prompt, and new ones",
                  .field = &tokens_},
                 {.name = "--beams",
                  .arg = "N",
                  .help = "continuations that are kept of each prompt",
                  .field = &beams_,
                  .least = 1},
                 {.name = "--cache",
                  .arg = "STORE",
                  .help = "how keys and values are stored; dynamic, where nothing is said",
                  .field = &store_,
                  .choices = NamesOf(CacheStores())},
                 {.name = "--cache-dtype",
                  .arg = "NAME",
                  .help = "in what numbers, where not in the model's",
                  .field = &numbers_,
                  .choices = NamesOf(CacheNumbers())},
                 {.name = "--block-size",
                  .arg = "TOKENS",
                  .help = "of the blocks of a paged cache; 16, where nothing is said",
                  .field = &block_,
                  .least = 1},
                 {.name = "--shared-prefix",
                  .arg = "TOKENS",
                  .help = "that all prompts begin with, whose full blocks are stored once",
                  .field = &shared_prefix_},
                 {.name = "--bandwidth",
                  .arg = "3.35TB/s",
                  .help = "what the device moves in a second, for the time of each call",
                  .field = &bandwidth_},
                 {.name = "--peak-flops",
                  .arg = "989T",
                  .help = "what it computes in a second",
                  .field = &operations_}});
  names_ = NamesBeside(kGenerate, std::span(*flags).subspan(first));
}

Result<std::optional<GenerateOptions>> GenerateFlags::Options(
    std::span<const std::string_view> given) const {
  if (tokens_.empty()) {
    const std::string_view flag = FirstOf(given, names_);
    if (flag.empty()) return std::optional<GenerateOptions>();
    return Unexpected(UsageError("no text is written", std::string(flag),
                                 "Say how much with --generate 512+128."));
  }
  SY_ASSIGN_OR_RETURN(GenerateOptions options, ReadGeneration(tokens_));
  options.beams = beams_.value_or(options.beams);
  if (!store_.empty()) options.store = store_;
  options.numbers = numbers_;
  if (block_ && options.store != "paged") {
    return Unexpected(UsageError("only a paged cache has blocks", "--block-size",
                                 "Say --cache paged, or leave it away."));
  }
  options.block = block_.value_or(options.block);
  options.shared_prefix = shared_prefix_.value_or(0);
  if (bandwidth_.empty() != operations_.empty()) {
    return Unexpected(UsageError("a time needs both speeds, --bandwidth and --peak-flops",
                                 bandwidth_.empty() ? "--peak-flops" : "--bandwidth",
                                 "An H100 has 3.35TB/s and 989T in bfloat16."));
  }
  if (!bandwidth_.empty()) {
    SY_ASSIGN_OR_RETURN(options.bandwidth, ReadSpeed(bandwidth_, "--bandwidth"));
    SY_ASSIGN_OR_RETURN(options.operations, ReadSpeed(operations_, "--peak-flops"));
  }
  return std::optional<GenerateOptions>(std::move(options));
}

}  // namespace steelyard::cli
