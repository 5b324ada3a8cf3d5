// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

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
                          const PassOptions& options) {
  for (std::string_view name : names) {
    const PassInfo* pass = FindPass(name);
    if (pass == nullptr) {
      return Unexpected(NoSuch("pass", name, NamesOf(Passes())));
    }
    SY_ASSIGN_OR_RETURN(program, pass->run(std::move(program), options));
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
