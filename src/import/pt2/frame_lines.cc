// SPDX-License-Identifier: Apache-2.0
//
// Only the first line of a statement is in a trace. It is not parsed: of what Python can say it is
// looked at what tells which names a statement gives, and what else it says counts as nothing.

#include "import/pt2/frame_lines.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>

namespace steelyard::pt2 {
namespace {

constexpr std::string_view kFile = "File \"";
constexpr std::string_view kNumber = "\", line ";
constexpr std::string_view kIn = ", in ";
bool IsOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void SkipSpaces(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

std::string_view TakeName(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && IsOfName(text[end])) ++end;
  const std::string_view name = text.substr(0, end);
  if (!name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) != 0) return {};
  text.remove_prefix(end);
  return name;
}

// "= x", and "+= x"; not "=x", which is an argument of a call, nor "== x".
bool IsAssignment(std::string_view rest) {
  if (rest.size() >= 2 && std::string_view("+-*/@").find(rest[0]) != std::string_view::npos) {
    rest.remove_prefix(1);
  }
  return rest.starts_with("= ") || rest == "=";
}

// ": torch.Tensor" of "x: torch.Tensor = y".
void SkipAnnotation(std::string_view& text) {
  if (!text.starts_with(": ")) return;
  const std::size_t equals = text.find(" = ");
  if (equals != std::string_view::npos) text.remove_prefix(equals);
}

// "a, b" and "a, f(b, c)", not "f(b, c)".
bool HasCommaOutside(std::string_view code) {
  int depth = 0;
  for (const char c : code) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) return true;
  }
  return false;
}

FrameLines::Line LineOf(std::string_view frame) {
  FrameLines::Line line;
  frame.remove_prefix(kFile.size());
  line.file = frame.substr(0, frame.find('"'));
  frame.remove_prefix(line.file.size());
  if (!frame.starts_with(kNumber)) return line;
  frame.remove_prefix(kNumber.size());
  const auto read = std::from_chars(frame.data(), frame.data() + frame.size(), line.number);
  frame.remove_prefix(static_cast<std::size_t>(read.ptr - frame.data()));
  if (!frame.starts_with(kIn)) return line;
  frame.remove_prefix(kIn.size());
  const std::size_t end = std::min(frame.find('\n'), frame.size());
  line.function = frame.substr(0, end);
  frame.remove_prefix(end);
  frame.remove_prefix(std::min(frame.find_first_not_of(" \n"), frame.size()));
  line.code = frame.substr(0, frame.find('\n'));
  return line;
}

}  // namespace

std::uint32_t FrameLines::Read(std::string_view trace) {
  for (std::size_t at = trace.find(kFile); at != std::string_view::npos;) {
    const std::size_t next = trace.find(kFile, at + kFile.size());
    lines_.push_back(LineOf(trace.substr(at, next - at)));
    at = next;
  }
  begins_.push_back(lines_.size());
  return static_cast<std::uint32_t>(begins_.size() - 2);
}

std::uint32_t FrameLines::Common(std::span<const std::uint32_t> traces) {
  std::vector<Line> common;
  if (!traces.empty()) {
    const std::span<const Line> first = of(traces[0]);
    common.assign(first.begin(), first.end());
  }
  for (const std::uint32_t trace : traces) {
    const auto same = [](const Line& a, const Line& b) {
      return a.file == b.file && a.function == b.function && a.number == b.number;
    };
    const std::span<const Line> lines = of(trace);
    const auto differs = std::ranges::mismatch(common, lines, same).in1;
    common.erase(differs, common.end());
  }
  lines_.insert(lines_.end(), common.begin(), common.end());
  begins_.push_back(lines_.size());
  return static_cast<std::uint32_t>(begins_.size() - 2);
}

std::span<const FrameLines::Line> FrameLines::of(std::uint32_t trace) const {
  return std::span(lines_).subspan(begins_[trace], begins_[trace + 1] - begins_[trace]);
}

std::vector<std::string_view> AssignedNames(std::string_view code) {
  std::vector<std::string_view> names;
  if (code.starts_with('"')) {
    const std::size_t end = code.find("\": ");
    if (end != std::string_view::npos) names.push_back(code.substr(0, end + 1));
    return names;
  }
  while (true) {
    SkipSpaces(code);
    if (code.starts_with('*')) code.remove_prefix(1);
    const std::string_view name = TakeName(code);
    if (name.empty()) return {};
    names.push_back(name);
    SkipAnnotation(code);
    // An argument of a call has no space before its sign.
    const bool spaced = code.starts_with(' ');
    SkipSpaces(code);
    if (spaced && IsAssignment(code)) return names;
    if (!code.starts_with(',')) return {};
    code.remove_prefix(1);
  }
}

bool ReadsName(std::string_view code, std::string_view name) {
  const std::size_t equals = code.find("= ");
  if (equals == std::string_view::npos || equals == 0) return false;
  if (code[equals - 1] != ' ') return true;  // "+="
  for (std::size_t at = code.find(name, equals); at != std::string_view::npos;
       at = code.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = !IsOfName(code[at - 1]) && code[at - 1] != '.';
    const bool ends = end == code.size() || !IsOfName(code[end]);
    // Not the name of an argument that is given: "f(x=y)".
    const bool is_keyword =
        end < code.size() && code[end] == '=' && !code.substr(end).starts_with("==");
    if (begins && ends && !is_keyword) return true;
  }
  return false;
}

bool NamesElements(std::string_view code) {
  const std::size_t bracket = code.find('[');
  return bracket != std::string_view::npos && bracket + 1 < code.size() &&
         std::isdigit(static_cast<unsigned char>(code[bracket + 1])) != 0;
}

bool ReturnsSeveral(std::string_view code) {
  constexpr std::string_view kReturn = "return ";
  return code.starts_with(kReturn) && HasCommaOutside(code.substr(kReturn.size()));
}

bool ComputesSeveral(std::string_view code) {
  const std::size_t equals = code.find("= ");
  return equals != std::string_view::npos && HasCommaOutside(code.substr(equals));
}

}  // namespace steelyard::pt2
