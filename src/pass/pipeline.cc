// SPDX-License-Identifier: Apache-2.0
//
// The runner of passes: the one place that calls them, takes their times and holds what they give
// to the rules of programs.

#include <fmt/core.h>

#include <chrono>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/verify.h"
#include "steelyard/pass.h"
#include "support/choices.h"

namespace steelyard {
namespace {

Status VerifyAfter(const PassInfo& pass, const Program& program, const PassOptions& options) {
  if (!options.verify) return {};
  Status status = Verify(program);
  if (status) return {};
  Error error = std::move(status).error();
  error.code = ErrorCode::kInternal;
  error.message = fmt::format("after the pass {}: {}", pass.name, error.message);
  return Unexpected(std::move(error));
}

// Runs `work`, which gives a Result<Program>, as that pass.
template <class Work>
Result<Program> RunAs(const PassInfo& pass, const PassOptions& options,
                      std::vector<StageTime>* times, const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  Result<Program> program = work();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  times->push_back({.stage = pass.name, .seconds = taken.count()});
  if (program) SY_RETURN_IF_ERROR(VerifyAfter(pass, *program, options));
  return program;
}

Result<Program> Rewrite(const PassInfo& pass, Program program, const PassOptions& options,
                        std::vector<StageTime>* times) {
  return RunAs(pass, options, times, [&] { return pass.run(std::move(program), options); });
}

Result<Program> LowerAs(const PassInfo& pass, const Program& program, const PassOptions& options,
                        std::vector<StageTime>* times) {
  return RunAs(pass, options, times, [&] { return pass.lower(program, options); });
}

}  // namespace

const PassInfo* FindPass(std::string_view name) {
  for (const PassInfo& pass : Passes()) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

std::vector<std::string_view> PassesFor(const PassOptions& options) {
  std::vector<std::string_view> names;
  for (const PassInfo& pass : Passes()) {
    if (pass.applies(options)) names.push_back(pass.name);
  }
  return names;
}

Result<Program> RunPasses(Program program, std::span<const std::string_view> names,
                          const PassOptions& options) {
  std::vector<StageTime> times;
  for (std::string_view name : names) {
    const PassInfo* pass = FindPass(name);
    if (pass == nullptr) return Unexpected(NoSuch("pass", name, NamesOf(Passes())));
    Result<Program> next = pass->lower != nullptr
                               ? LowerAs(*pass, program, options, &times)
                               : Rewrite(*pass, std::move(program), options, &times);
    if (!next) return next;
    program = *std::move(next);
  }
  return program;
}

Result<Lowered> Lower(Program program, const PassOptions& options) {
  Lowered lowered{.imported = std::move(program), .kernels = {}, .times = {}};
  Program* present = &lowered.imported;  // what passes rewrite
  for (const PassInfo& pass : Passes()) {
    if (!pass.applies(options)) continue;
    if (pass.lower != nullptr) {
      SY_ASSIGN_OR_RETURN(lowered.kernels,
                          LowerAs(pass, lowered.imported, options, &lowered.times));
      present = &lowered.kernels;
    } else {
      SY_ASSIGN_OR_RETURN(*present, Rewrite(pass, std::move(*present), options, &lowered.times));
    }
  }
  return lowered;
}

}  // namespace steelyard
