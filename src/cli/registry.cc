// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>
#include <span>
#include <string_view>

#include "cli/command.h"
#include "cli/compare_command.h"
#include "cli/docs_command.h"
#include "cli/ops_command.h"
#include "cli/run_command.h"
#include "cli/weigh_command.h"

namespace steelyard::cli {
namespace {

template <class Kind>
std::unique_ptr<Command> Make() {
  return std::make_unique<Kind>();
}

constexpr std::array kCommands = {
    CommandInfo{.name = "weigh",
                .summary = "tells what a model costs: parameters, memory to the byte, work",
                .example = "steelyard weigh bert.pt2 --input input_ids=32x128",
                .audience = Audience::kUsers,
                .make = Make<WeighCommand>},
    CommandInfo{.name = "run",
                .summary = "runs a model in PyTorch: time and memory, next to what is predicted",
                .example = "steelyard run bert.pt2 --train adamw --threads 4",
                .audience = Audience::kUsers,
                .make = Make<RunCommand>},
    CommandInfo{.name = "compare",
                .summary = "puts two models or two reports side by side: where they differ",
                .example = "steelyard compare bert-base.pt2 bert-large.pt2 --batch 8",
                .audience = Audience::kUsers,
                .make = Make<CompareCommand>},
    CommandInfo{.name = "ops",
                .summary = "lists the operators that are modelled",
                .example = "steelyard ops softmax",
                .audience = Audience::kUsers,
                .make = Make<OpsCommand>},
    CommandInfo{.name = "docs",
                .summary = "prints a page of the documentation that is made from the program",
                .example = "steelyard docs cli",
                .audience = Audience::kBuild,
                .make = Make<DocsCommand>},
};

}  // namespace

std::span<const CommandInfo> Commands() { return kCommands; }

const CommandInfo* FindCommand(std::string_view name) {
  for (const CommandInfo& command : kCommands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace steelyard::cli
