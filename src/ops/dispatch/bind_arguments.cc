// SPDX-License-Identifier: Apache-2.0
//
// Decides whether an argument may stand for a parameter, once for all operators, so that rules read
// what they are given without asking. A name goes before a place, a number may stand for a tensor
// or for a list of one number, and defaults are read from the text of PyTorch's own schema.

#include "ops/dispatch/bind_arguments.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

namespace steelyard {
namespace {

// The enumeration torch's schemas print by name where Python passes a number.
constexpr std::string_view kReductions[] = {"None", "Mean", "Sum"};

Argument ParseNumber(std::string_view text) {
  std::int64_t integer = 0;
  const char* end = text.data() + text.size();
  if (auto r = std::from_chars(text.data(), end, integer); r.ec == std::errc() && r.ptr == end) {
    return Argument::OfInt(integer);
  }
  double real = 0;
  std::from_chars(text.data(), end, real);
  return Argument::OfFloat(real);
}

// "[0, 1]", "[True, False]", "(None, 0.5)".
Argument ParseList(Program& program, std::string_view text) {
  std::vector<Argument> list;
  std::size_t begin = 1;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] != ',' && text[i] != ']' && text[i] != ')') continue;
    std::string_view item = text.substr(begin, i - begin);
    while (!item.empty() && item[0] == ' ') item.remove_prefix(1);
    if (item == "None") {
      list.push_back(Argument::None());
    } else if (!item.empty()) {
      const bool truth = item == "True" || item == "False";
      list.push_back(truth ? Argument::OfBool(item == "True") : ParseNumber(item));
    }
    begin = i + 1;
  }
  return Argument::OfList(program.AddArguments(list));
}

// A default as the schema writes it: None, True, 1e-05, [0, 1], Mean, contiguous_format.
Argument ParseDefault(Program& program, const Param& param) {
  const std::string_view text = param.default_text;
  if (text.empty() || text == "None") return Argument::None();
  const char first = text[0];
  if ((first >= '0' && first <= '9') || first == '-' || first == '.') return ParseNumber(text);
  if (text == "True" || text == "False") return Argument::OfBool(text == "True");
  if (text == "Mean" || text == "Sum") {
    return Argument::OfInt(text == kReductions[1] ? 1 : 2);
  }
  if (first == '[' || first == '(') return ParseList(program, text);
  const bool quoted = text.size() >= 2 && first == '"';
  return Argument::OfString(
      program.strings.Intern(quoted ? text.substr(1, text.size() - 2) : text));
}

bool IsRealNumber(const Argument& argument) {
  return argument.kind == ArgKind::kInt || argument.kind == ArgKind::kFloat ||
         argument.kind == ArgKind::kBool;
}
bool IsNumber(const Argument& argument) {
  return IsRealNumber(argument) || argument.kind == ArgKind::kComplex;
}

// Whether one element of a parameter may be this. Checked here, so that a rule that reads a number
// after the shape rule has passed cannot fail.
bool AcceptsOne(ParamType type, const Argument& argument) {
  switch (type) {
    case ParamType::kTensor:
      return argument.kind == ArgKind::kValue || IsNumber(argument);
    case ParamType::kInt:
    case ParamType::kBool:
      return IsRealNumber(argument) && argument.kind != ArgKind::kFloat;
    case ParamType::kFloat:
      return IsRealNumber(argument);
    case ParamType::kScalar:
      return IsNumber(argument);
    case ParamType::kDType:
      return argument.kind == ArgKind::kDType;
    case ParamType::kString:
      return argument.kind == ArgKind::kString;
    case ParamType::kOther:
      return true;
  }
  __builtin_unreachable();
}

bool Accepts(const Program& program, const Param& param, const Argument& argument) {
  if (argument.kind == ArgKind::kNone) {
    return param.optional || param.type == ParamType::kOther || param.list;
  }
  if (!param.list) return AcceptsOne(param.type, argument);
  // A number may stand for a list of one.
  if (argument.kind != ArgKind::kList) {
    return param.type != ParamType::kTensor && AcceptsOne(param.type, argument);
  }
  return std::ranges::all_of(program.list(argument.list), [&](const Argument& element) {
    const bool absent = element.kind == ArgKind::kNone && param.optional;
    return absent || AcceptsOne(param.type, element);
  });
}

std::string_view KindOf(ParamType type) {
  switch (type) {
    case ParamType::kTensor:
      return "a tensor";
    case ParamType::kInt:
      return "an integer";
    case ParamType::kFloat:
      return "a real number";
    case ParamType::kBool:
      return "True or False";
    case ParamType::kScalar:
      return "a number";
    case ParamType::kDType:
      return "a dtype";
    case ParamType::kString:
      return "a string";
    case ParamType::kOther:
      return "something else";
  }
  __builtin_unreachable();
}

}  // namespace

void BindArguments(Program& program, const OpDef& def, std::span<const Argument> given,
                   BoundArguments& bound) {
  const auto params = def.signature->params();
  std::uint32_t filled = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    std::size_t at = i;
    const std::string_view name =
        given[i].name == kNoString ? std::string_view() : program.text(given[i].name);
    if (!name.empty() && (i >= params.size() || params[i].name != name)) {
      const int found = def.signature->IndexOf(name);
      if (found < 0) Refuse(fmt::format("{} has no argument \"{}\"", def.name->text(), name));
      at = static_cast<std::size_t>(found);
    }
    if (at >= params.size()) {
      Refuse(fmt::format("{} takes {} arguments", def.name->text(), params.size()));
    }
    if ((filled >> at & 1u) != 0) {
      Refuse(fmt::format("argument \"{}\" is given twice", params[at].name));
    }
    if (const Param param = params[at]; !Accepts(program, param, given[i])) {
      Refuse(fmt::format("argument \"{}\" must be {}{}", param.name,
                         param.list ? "a list, each " : "", KindOf(param.type)));
    }
    bound[at] = given[i];
    filled |= 1u << at;
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    if ((filled >> i & 1u) != 0) continue;
    const Param param = params[i];
    const bool required =
        param.default_text.empty() && !param.optional && param.type != ParamType::kOther;
    if (required) Refuse(fmt::format("argument \"{}\" is missing", param.name));
    bound[i] = ParseDefault(program, param);
  }
}

}  // namespace steelyard
