// SPDX-License-Identifier: Apache-2.0
//
// What the program can be asked to do. To add a command: a file pair with its class, and a row in
// registry.cc.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
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

  // Tells which flags the command line holds, for commands that tell a default from the same word
  // typed. Without it none are.
  void SetGiven(std::vector<std::string_view> names) { given_ = std::move(names); }

 protected:
  // The names of the flags that the command line holds, in their order there.
  std::span<const std::string_view> given() const { return given_; }
  // The first of the flags of these names that the command line holds; empty if it holds none.
  std::string_view FirstGiven(std::span<const std::string_view> names) const {
    return FirstOf(given_, names);
  }

 private:
  std::vector<std::string_view> given_;
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
