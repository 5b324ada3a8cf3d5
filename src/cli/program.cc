// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <fmt/core.h>
#include <sys/types.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/flag.h"
#include "cli/help.h"
#include "cli/message.h"
#include "cli/output.h"
#include "steelyard/error.h"
#include "steelyard/report.h"
#include "support/choices.h"

namespace steelyard::cli {
namespace {

Error UnknownCommand(const std::string& word) {
  std::vector<std::string_view> names;
  for (const CommandInfo& command : Commands()) {
    if (command.audience == Audience::kUsers) names.push_back(command.name);
  }
  std::string hint = "See steelyard --help.";
  std::error_code ignored;
  if (const std::string_view meant = NearestWord(word, names); !meant.empty()) {
    hint = fmt::format("Did you mean {}?", meant);
  } else if (std::filesystem::is_regular_file(word, ignored)) {
    hint = fmt::format("Did you mean steelyard weigh {}?", word);
  }
  return UsageError(fmt::format("there is no command \"{}\"", word), {}, std::move(hint));
}

Status RunCommand(const CommandInfo& info, std::span<const std::string> words) {
  const std::unique_ptr<Command> command = info.make();
  const std::vector<Flag> flags = command->Flags();
  std::vector<std::string_view> given;
  SY_ASSIGN_OR_RETURN(const Asked asked, ReadArguments(info, flags, words, &given));
  if (asked == Asked::kHelp) return WriteOutput(HelpOf(info, flags));
  command->SetGiven(std::move(given));
  return command->Run();
}

// steelyard help weigh
Status HelpWith(const std::string& word) {
  const CommandInfo* command = FindCommand(word);
  if (command == nullptr) return Unexpected(UnknownCommand(word));
  return WriteOutput(HelpOf(*command, command->make()->Flags()));
}

Status Dispatch(std::span<const std::string> words) {
  const bool asks = !words.empty() && words[0] == "help";
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || (asks && words.size() == 1)) {
    return WriteOutput(Overview());
  }
  if (asks) return HelpWith(words[1]);
  if (words[0] == "--version") return WriteOutput(fmt::format("steelyard {}\n", kVersion));
  const CommandInfo* command = FindCommand(words[0]);
  if (command == nullptr) return Unexpected(UnknownCommand(words[0]));
  return RunCommand(*command, words.subspan(1));
}

int Refuse(const Error& error) {
  const std::string line = ErrorLine(error);
  // Where standard error is closed there is nobody to tell.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  return ExitStatusOf(error.code);
}

}  // namespace

int RunProgram(std::span<const std::string> words) {
  try {
    const Status status = Dispatch(words);
    return status ? kDone : Refuse(status.error());
  } catch (const std::bad_alloc&) {
    return Refuse(Unsupported("there is not enough memory on this machine to weigh it"));
  } catch (const std::exception& defect) {
    return Refuse(InternalError(fmt::format("a defect of Steelyard: {}", defect.what()), {},
                                "Please report it with the command that you gave."));
  }
}

}  // namespace steelyard::cli
