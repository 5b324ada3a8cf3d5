// SPDX-License-Identifier: Apache-2.0
//
// What the program can be asked to do. To add a command: a file pair with its class, and a row in
// registry.cc.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cli/flag.h"
#include "steelyard/error.h"

namespace steelyard::cli {

// One run of a command: holds the values of its flags.
class Command {
 public:
  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  // Its flags, those told by their place first. They write into this object.
  virtual std::vector<Flag> Flags() = 0;

  // Does it, with what the flags hold by then, and writes the outcome where it belongs.
  virtual Status Run() = 0;
};

// Whether the overview of commands shows it.
enum class Audience : unsigned char { kUsers, kBuild };

struct CommandInfo {
  std::string_view name;
  std::string_view summary;  // One phrase.
  std::string_view example;  // A whole command line.
  Audience audience;
  std::unique_ptr<Command> (*make)();
};

// Every command, in the order of the overview.
std::span<const CommandInfo> Commands();
const CommandInfo* FindCommand(std::string_view name);

}  // namespace steelyard::cli
