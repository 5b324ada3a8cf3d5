// SPDX-License-Identifier: Apache-2.0
//
// The schema of an operator, written as PyTorch writes it and read by the compiler: a schema that
// is malformed does not compile.
//
//   constexpr Signature s("(Tensor self, int dim=-1, *, ScalarType? dtype=None) -> Tensor");
//   s.params()[1].name;  // "dim"
#pragma once

#include <array>
#include <cstdint>
#include <ranges>
#include <string_view>

namespace steelyard {

// FNV-1a, so that names written in the source are hashed by the compiler.
constexpr std::uint64_t HashName(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// The name of an operator with its hash.
class OpName {
 public:
  consteval OpName(const char* text)
      : text_(text), hash_(HashName(text)) {}  // NOLINT(google-explicit-constructor)
  static OpName FromRuntime(std::string_view text) { return OpName(text, HashName(text)); }
  constexpr std::string_view text() const { return text_; }
  constexpr std::uint64_t hash() const { return hash_; }

 private:
  constexpr OpName(std::string_view text, std::uint64_t hash) : text_(text), hash_(hash) {}
  std::string_view text_;
  std::uint64_t hash_;
};

enum class ParamType : std::uint8_t {
  kTensor,
  kInt,
  kFloat,
  kBool,
  kScalar,
  kDType,
  kString,
  kOther,  // device, layout, memory format, generator
};

struct Param {
  std::string_view name;
  std::string_view default_text;  // "" where there is none
  ParamType type = ParamType::kOther;
  bool optional = false;  // "Tensor?": may be None
  bool list = false;      // "int[2]"
  bool written = false;   // "Tensor(a!)": overwritten
  bool aliased = false;   // "Tensor(a)": results are views of it
  bool variadic = false;  // "Any... operands": all that follows (higher-order operators)
};

class Signature {
 public:
  static constexpr int kMaxParams = 24;

  consteval Signature(const char* text) : text_(text) {
    Parse();
  }  // NOLINT(google-explicit-constructor)
  constexpr std::string_view text() const { return text_; }
  // Whether the result is one list: "-> Tensor[]", "-> Tensor(a)[]".
  constexpr bool GivesList() const { return text_.ends_with("[]"); }
  // A range of Param with random access; views of this signature.
  constexpr auto params() const {
    return std::views::iota(std::size_t{0}, std::size_t{count_}) |
           std::views::transform([this](std::size_t i) { return ParamAt(i); });
  }
  // Number of tensors returned; -1 for a list.
  constexpr int returns() const { return returns_; }
  constexpr int IndexOf(std::string_view name) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (params_[i].name.Of(text_) == name) return static_cast<int>(i);
    }
    return -1;
  }

 private:
  // A Param as places in the text: over a thousand rows stand in the program, and each page of them
  // that holds addresses is written whenever it starts.
  struct Word {
    std::uint16_t begin = 0, size = 0;
    constexpr std::string_view Of(std::string_view text) const { return text.substr(begin, size); }
  };
  struct Packed {
    Word name, default_text;
    ParamType type = ParamType::kOther;
    bool optional : 1 = false, list : 1 = false, written : 1 = false, aliased : 1 = false,
                    variadic : 1 = false;
  };

  constexpr Param ParamAt(std::size_t i) const {
    const Packed& param = params_[i];
    return {.name = param.name.Of(text_),
            .default_text = param.default_text.Of(text_),
            .type = param.type,
            .optional = param.optional,
            .list = param.list,
            .written = param.written,
            .aliased = param.aliased,
            .variadic = param.variadic};
  }
  consteval Word WordOf(std::string_view part) const {
    return {static_cast<std::uint16_t>(part.data() - text_.data()),
            static_cast<std::uint16_t>(part.size())};
  }
  static constexpr ParamType TypeOf(std::string_view base) {
    if (base == "Tensor") return ParamType::kTensor;
    if (base == "int" || base == "SymInt") return ParamType::kInt;
    if (base == "float") return ParamType::kFloat;
    if (base == "bool") return ParamType::kBool;
    if (base == "Scalar") return ParamType::kScalar;
    if (base == "ScalarType") return ParamType::kDType;
    if (base == "str") return ParamType::kString;
    return ParamType::kOther;
  }
  // "Tensor(a!)?", "SymInt[2]?", "Tensor?[]": the base word, then marks in any order.
  consteval Packed ParseParam(std::string_view part) {
    std::size_t space = part.rfind(' ');
    if (space == std::string_view::npos) throw "a parameter needs a type and a name";
    // A default may contain spaces ("[0, 1]"): the name is the word before '='.
    if (std::size_t equals = part.find('='); equals != std::string_view::npos) {
      space = part.substr(0, equals).rfind(' ');
    }
    std::string_view type = part.substr(0, space);
    std::string_view name = part.substr(space + 1);
    Packed param;
    if (std::size_t equals = name.find('='); equals != std::string_view::npos) {
      param.default_text = WordOf(name.substr(equals + 1));
      name = name.substr(0, equals);
    }
    param.name = WordOf(name);
    param.written = type.find('!') != std::string_view::npos;
    param.aliased = type.find("(a") != std::string_view::npos;
    param.list = type.find('[') != std::string_view::npos;
    param.optional = type.find('?') != std::string_view::npos;
    param.variadic = type.ends_with("...");
    param.type = TypeOf(type.substr(0, type.find_first_of("([?")));
    return param;
  }
  consteval void Parse() {
    const std::size_t arrow = text_.rfind(") -> ");
    if (text_.empty() || text_[0] != '(' || arrow == std::string_view::npos) throw "not a schema";
    ParseParams(text_.substr(1, arrow - 1));
    ParseReturns(text_.substr(arrow + 5));
  }
  consteval void ParseParams(std::string_view list) {
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= list.size(); ++i) {
      if (i < list.size() && (list[i] == '(' || list[i] == '[')) ++depth;
      if (i < list.size() && (list[i] == ')' || list[i] == ']')) --depth;
      if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
      std::string_view part = list.substr(begin, i - begin);
      while (!part.empty() && part[0] == ' ') part.remove_prefix(1);
      if (!part.empty() && part != "*") params_[count_++] = ParseParam(part);
      begin = i + 1;
    }
  }
  consteval void ParseReturns(std::string_view result) {
    if (result == "()") return;
    if (result.ends_with("[]")) {
      returns_ = -1;
      return;
    }
    returns_ = 1;
    if (result[0] != '(') return;
    int depth = 0;
    for (char c : result) {
      depth += (c == '(') - (c == ')');
      returns_ += c == ',' && depth == 1;
    }
  }

  std::string_view text_;
  std::array<Packed, kMaxParams> params_{};
  std::uint16_t count_ = 0;
  int returns_ = 0;
};

}  // namespace steelyard
