// SPDX-License-Identifier: Apache-2.0
//
// Which parameters and modules a user means by a pattern.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

// Whether `text` is what `pattern` says, in which * stands for any letters and ? for one.
bool MatchesPattern(std::string_view pattern, std::string_view text);

// Whether `pattern`, in which * stands for any letters and ? for one, is `name` or a module around
// it: "bert.embeddings", "*.bias" and "bert.*.weight" all match whole words between points or more.
bool MatchesParameter(std::string_view pattern, std::string_view name);

// That no module matches the pattern, which `flag` gave: with the pattern that was meant where a
// module would match inside of another.
Error NoModuleMatches(const Program& program, std::string_view pattern, std::string_view flag);

// By module of the program: whether some pattern matches its path. Nothing matches the model
// itself. An error for a pattern that matches none.
Result<std::vector<bool>> ModulesMatching(const Program& program,
                                          std::span<const std::string> patterns,
                                          std::string_view flag);

// By value of the program: whether some name of that parameter matches.
std::vector<bool> ParametersMatching(const Program& program, std::string_view pattern);

}  // namespace steelyard
