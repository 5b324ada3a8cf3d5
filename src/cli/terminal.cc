// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

#include "steelyard/report.h"

namespace steelyard::cli {
namespace {

constexpr int kUsualWidth = 80;

bool IsSet(const char* variable) { return variable != nullptr && *variable != '\0'; }

int WidthOf(const char* columns) {
  int width = 0;
  if (!IsSet(columns)) return 0;
  const std::string_view text(columns);
  std::from_chars(text.data(), text.data() + text.size(), width);
  return std::max(width, 0);
}

// A locale that is not set says nothing: containers have none, and their terminals show UTF-8.
bool ShowsUnicode(const char* locale) {
  if (!IsSet(locale)) return true;
  std::string name(locale);
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.find("utf-8") != std::string::npos || name.find("utf8") != std::string::npos;
}

const char* FirstSet(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const char* value = std::getenv(name); IsSet(value)) return value;
  }
  return nullptr;
}

}  // namespace

report::RenderOptions TerminalLook(const Environment& environment, int columns) {
  const bool dumb = IsSet(environment.term) && std::string_view(environment.term) == "dumb";
  const int asked = WidthOf(environment.columns);
  report::RenderOptions look;
  look.width = asked > 0 ? asked : columns > 0 ? columns : kUsualWidth;
  look.colour = !IsSet(environment.no_color) && !dumb;
  look.unicode = ShowsUnicode(environment.locale);
  return look;
}

report::RenderOptions StandardOutputLook() {
  if (isatty(STDOUT_FILENO) == 0) return {};
  winsize size{};
  const bool known =
      ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;  // NOLINT(misc-include-cleaner): by sys/ioctl.h
  return TerminalLook({.no_color = std::getenv("NO_COLOR"),
                       .term = std::getenv("TERM"),
                       .columns = std::getenv("COLUMNS"),
                       .locale = FirstSet({"LC_ALL", "LC_CTYPE", "LANG"})},
                      known ? size.ws_col : 0);
}

}  // namespace steelyard::cli
