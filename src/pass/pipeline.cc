// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <chrono>
#include <utility>

#include "ir/verify.h"
#include "steelyard/pass.h"
#include "support/choices.h"

namespace steelyard {

const PassInfo* FindPass(std::string_view name) {
  for (const PassInfo& pass : Passes()) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

Result<Program> RunPasses(Program program, std::span<const std::string_view> names,
                          const PassOptions& options, std::vector<PassRun>* runs) {
  for (std::string_view name : names) {
    const PassInfo* pass = FindPass(name);
    if (pass == nullptr) {
      return Unexpected(NoSuch("pass", name, NamesOf(Passes())));
    }
    const auto begin = std::chrono::steady_clock::now();
    SY_ASSIGN_OR_RETURN(program, pass->run(std::move(program), options));
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (runs != nullptr) runs->push_back({pass->name, taken.count(), program.main().nodes.size()});
    if (!options.verify) continue;
    if (Status status = Verify(program); !status) {
      Error error = status.error();
      error.code = ErrorCode::kInternal;
      error.message = fmt::format("after the pass {}: {}", pass->name, error.message);
      return Unexpected(std::move(error));
    }
  }
  return program;
}

}  // namespace steelyard
