// SPDX-License-Identifier: Apache-2.0
//
// The next character or word tells what an argument is; only `name=value` is looked for further
// ahead, on a copy of the scanner. Sizes without strides are those of a contiguous tensor. Values
// are known from the line that defines them on; only graphs may be mentioned before they are there.

#include "ir/text_value_reader.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/symbolic_layout.h"
#include "ir/text_words.h"

namespace steelyard {
namespace {

std::string Shown(const Program& program, const ValueName& name) {
  std::string out = "%";
  if (name.name == kNoString) return out + std::to_string(name.number);
  out.append(program.text(name.name));
  if (name.number > 0) out.append("~").append(std::to_string(name.number));
  return out;
}

}  // namespace

bool TextValueReader::Name(ValueName& out) {
  scan_.Peek();
  out = {.position = scan_.position()};
  if (!scan_.Accept('%')) {
    return scan_.Fail("expected a value, " + scan_.Found(),
                      "The names of values begin with '%', as in `input %x: f32[2,8]`.");
  }
  std::int64_t number = 0;
  if (IsDigit(scan_.Peek())) {
    if (!scan_.Unsigned(kNoId - 1, number)) return false;
    out.number = static_cast<std::uint32_t>(number);
    return true;
  }
  std::string quoted;
  std::string_view name;
  if (scan_.Sees("\"")) {
    if (!scan_.String(quoted)) return false;
    name = quoted;
  } else {
    name = scan_.Path();
  }
  if (name.empty()) {
    return scan_.Fail("expected the name of a value, " + scan_.Found(),
                      "A name is letters, digits, '_' and '.', or a string: %\"odd name\".");
  }
  out.name = program_.strings.Intern(name);
  if (!scan_.Accept('~')) return true;
  if (!scan_.Unsigned(kNoId - 1, number)) return false;
  out.number = static_cast<std::uint32_t>(number);
  return true;
}

bool TextValueReader::Reference(ValueId& out) {
  ValueName name;
  if (!Name(name)) return false;
  out = scope_.Find(name);
  if (out == kNoId) {
    return scan_.FailAt(name.position, Shown(program_, name) + " is not defined before this line",
                        "A value is an input or the result of an earlier line of the same graph.");
  }
  return true;
}

bool TextValueReader::Type(ValueText& out) {
  if (!scan_.Accept(':')) return true;
  out.typed = true;
  const std::size_t at = (scan_.Peek(), scan_.position());
  const std::string_view word = scan_.Word();
  const std::optional<DType> dtype = DTypeShortNamed(word);
  // "bool" is a type of tensors as well as of scalars: a tensor has brackets.
  if (dtype && scan_.Sees("[")) return TensorType(*dtype, out);
  if (const auto kind = ScalarKindNamed(word)) return ScalarType(*kind, out);
  if (dtype) return scan_.Expect("[", "a dtype");
  return scan_.FailAt(at, "there is no type \"" + std::string(word) + "\"",
                      "Tensors are written f32[2,8], with a dtype such as f32, bf16, i64 or bool; "
                      "scalars int, float, bool or object.");
}

bool TextValueReader::Sizes(char close, Dims& out) {
  if (scan_.Accept(close)) return true;
  while (true) {
    const std::size_t at = (scan_.Peek(), scan_.position());
    Dim dim(0);
    if (!dims_.Read(dim)) return false;
    if (dim.is_number() && dim.number() < 0) {
      return scan_.FailAt(at, "a size or stride is negative", "Sizes start at 0.");
    }
    if (out.size() == Dims::kMaxRank) {
      return scan_.FailAt(at, "the tensor has too many dimensions",
                          "PyTorch's limit is " + std::to_string(Dims::kMaxRank) + ".");
    }
    out.push_back(dim.raw());
    if (scan_.Accept(close)) return true;
    if (scan_.Accept(',')) continue;
    return scan_.Fail(
        "expected ',' or '" + std::string(1, close) + "' after a size, " + scan_.Found(),
        "Sizes are written as in f32[2,8], strides as in f32[2,8]{1,2}.");
  }
}

bool TextValueReader::TensorType(DType dtype, ValueText& out) {
  out.value.dtype = dtype;
  if (!scan_.Accept('[')) return false;
  if (scan_.Accept("...")) {
    out.value.has_layout = false;
    return scan_.Expect("]", "\"...\"");
  }
  if (!Sizes(']', out.sizes)) return false;
  const std::size_t at = (scan_.Peek(), scan_.position());
  if (!scan_.Accept('{')) {
    out.strides = ContiguousDims(program_.expressions, out.sizes);
    return true;
  }
  if (!Sizes('}', out.strides)) return false;
  if (out.strides.size() == out.sizes.size()) return true;
  return scan_.FailAt(at,
                      std::to_string(out.sizes.size()) + " sizes but " +
                          std::to_string(out.strides.size()) + " strides",
                      "Write one stride for each size, or none if the tensor is contiguous.");
}

bool TextValueReader::ScalarType(ValueKind kind, ValueText& out) {
  out.value.kind = kind;
  out.value.has_layout = false;
  if (!scan_.Accept('(')) return true;
  if (scan_.AcceptWord("True")) {
    out.value.scalar = Dim(1);
  } else if (scan_.AcceptWord("False")) {
    out.value.scalar = Dim(0);
  } else if (!dims_.Read(out.value.scalar)) {
    return false;
  }
  return scan_.Expect(")", "the scalar's value");
}

bool TextValueReader::Flag(std::string_view word, ValueText& out) {
  if (word == "requires_grad") {
    out.value.requires_grad = true;
  } else if (word == "frozen") {
    out.value.requires_grad = false;
  } else if (word == "wrapped") {
    out.value.wrapped_number = true;
  } else if (word == "no_storage") {
    out.storage = ValueText::Storage::kNone;
  } else if (word == "shares") {
    out.storage = ValueText::Storage::kShared;
    return Reference(out.shares);
  } else if (const auto role = RoleNamed(word)) {
    out.value.role = *role;
    out.role_given = true;
  } else {
    return scan_.Fail("unknown word \"" + std::string(word) + "\" after a type",
                      "Known are requires_grad, frozen, wrapped, no_storage, shares %x, and the "
                      "roles: parameter, buffer, input, activation, gradient, optimizer_state, "
                      "output.");
  }
  return true;
}

bool TextValueReader::Flags(ValueText& out) {
  while (true) {
    const std::string_view word = scan_.PeekWord();
    // These two belong to the statement.
    if (word.empty() || word == "tied" || word == "non_persistent" || word == "packed") return true;
    scan_.Word();
    if (!Flag(word, out)) return false;
  }
}

bool TextValueReader::Define(const ValueText& text, ValueId& out) {
  if (scope_.Find(text.name) != kNoId) {
    const std::string shown = Shown(program_, text.name);
    return scan_.FailAt(text.name.position, shown + " is defined twice",
                        "A second value of the same name is written " + shown + "~1.");
  }
  const Value& described = text.value;
  if (described.kind != ValueKind::kTensor) {
    out = program_.AddScalar(text.name.name, described.kind, described.scalar);
  } else {
    out = program_.AddTensor(text.name.name, described.dtype, text.sizes, text.strides,
                             described.role);
    Value& value = program_.values[out];
    value.has_layout = described.has_layout;
    value.requires_grad = described.requires_grad;
    value.wrapped_number = described.wrapped_number;
    if (text.storage != ValueText::Storage::kOwn) {
      --program_.storage_count;
      value.storage = text.shares == kNoId ? kNoId : program_.values[text.shares].storage;
    }
  }
  scope_.Add(text.name, out);
  return true;
}

bool TextValueReader::GraphName(GraphId& out) {
  const std::size_t at = (scan_.Peek(), scan_.position());
  if (!scan_.Accept('@')) {
    return scan_.Fail("expected a graph, " + scan_.Found(), "The names of graphs begin with '@'.");
  }
  std::string name(scan_.Path());
  if (name.empty()) {
    return scan_.Fail("expected the name of a graph, " + scan_.Found(), "Write @1 or @name.");
  }
  const auto mention = static_cast<GraphId>(graph_mentions_.size());
  const auto [entry, added] = graphs_by_name_.try_emplace(name, mention);
  if (added) graph_mentions_.push_back({std::move(name), at});
  out = entry->second;
  return true;
}

bool TextValueReader::Arguments(char close, std::vector<Argument>& out) {
  const auto at_end = [&] {
    const char c = scan_.Peek();
    return close == kLineEnd ? c == '\n' || c == '\0' || c == '}' : scan_.Accept(close);
  };
  if (at_end()) return true;
  while (true) {
    out.emplace_back();
    if (!NamedArgument(out.back())) return false;
    if (at_end()) return true;
    if (!scan_.Accept(',')) {
      return scan_.Fail(
          "expected ',' or " +
              (close == kLineEnd ? "the end of the line" : "'" + std::string(1, close) + "'") +
              " after an argument, " + scan_.Found(),
          "Arguments are separated by commas.");
    }
  }
}

// "name=value": the name is a word (or a string) with '=' but not "==" after it.
bool TextValueReader::NamedArgument(Argument& out) {
  if (const char c = scan_.Peek(); !IsWordStart(c) && c != '"') return ArgumentValue(out);
  TextScanner ahead = scan_;
  std::string name;
  if (ahead.Sees("\"")) {
    if (!ahead.String(name)) return scan_.String(name);
  } else {
    name = ahead.Word();
  }
  const bool named = !name.empty() && ahead.Sees("=") && !ahead.Sees("==");
  if (named) {
    ahead.Accept('=');
    scan_ = std::move(ahead);
  }
  if (!ArgumentValue(out)) return false;
  if (named) out.name = program_.strings.Intern(name);
  return true;
}

bool TextValueReader::WordArgument(Argument& out, bool& done) {
  const std::string_view word = scan_.PeekWord();
  done = !word.empty();
  if (!done) return true;
  if (word == "None") {
    out = Argument::None();
  } else if (word == "True" || word == "False") {
    out = Argument::OfBool(word == "True");
  } else if (word == "complex") {
    scan_.Word();
    return done = ComplexArgument(out);
  } else if (const auto dtype = DTypeShortNamed(word)) {
    scan_.Word();
    if (tensor_arguments_ && scan_.Sees("[")) return done = TensorArgument(*dtype, out);
    out = Argument::OfDType(*dtype);
    return true;
  } else {
    done = false;
    return true;
  }
  scan_.Word();
  return true;
}

// "complex(0.0, -1.0)"
bool TextValueReader::ComplexArgument(Argument& out) {
  std::array<double, 2> parts{};
  const bool read = scan_.Expect("(", "complex") && scan_.Real(parts[0]) &&
                    scan_.Expect(",", "the real part") && scan_.Real(parts[1]) &&
                    scan_.Expect(")", "the imaginary part");
  if (!read) return false;
  out = Argument::OfComplex(
      program_.AddArguments(std::array{Argument::OfFloat(parts[0]), Argument::OfFloat(parts[1])}));
  return true;
}

bool TextValueReader::TensorArgument(DType dtype, Argument& out) {
  ValueText text;
  text.name = {program_.strings.Intern("x"), static_cast<std::uint32_t>(program_.inputs.size()),
               scan_.position()};
  text.value.role = Role::kInput;
  if (!TensorType(dtype, text)) return false;
  const bool concrete = text.value.has_layout && program_.is_concrete();
  if (!concrete || !CheckLayout(dtype, text.sizes, text.strides)) {
    return scan_.FailAt(text.name.position, "not the sizes and strides of a tensor",
                        "They are numbers, none is negative, and the bytes fit in 63 bits.");
  }
  ValueId id = kNoId;
  if (!Define(text, id)) return false;
  program_.inputs.push_back(id);
  program_.main().inputs.push_back(id);
  out = Argument::OfValue(id);
  return true;
}

bool TextValueReader::ArgumentValue(Argument& out) {
  bool done = false;
  if (!WordArgument(out, done) || done) return done;
  if (scan_.Sees("%")) {
    ValueId value = kNoId;
    if (!Reference(value)) return false;
    out = Argument::OfValue(value);
  } else if (scan_.Sees("@")) {
    GraphId graph = 0;
    if (!GraphName(graph)) return false;
    out = Argument::OfGraph(graph);
  } else if (const char quote = scan_.Peek(); quote == '"' || quote == '\'') {
    std::string text;
    if (!scan_.String(text, quote)) return false;
    out = Argument::OfString(program_.strings.Intern(text));
  } else if (scan_.SeesReal()) {
    double real = 0.0;
    if (!scan_.Real(real)) return false;
    out = Argument::OfFloat(real);
  } else if (scan_.Accept('[')) {
    if (depth_ >= kMaxTextDepth) {
      return scan_.Fail("lists are nested too deeply",
                        "At most " + std::to_string(kMaxTextDepth) + " may be open.");
    }
    ++depth_;
    std::vector<Argument> elements;
    if (!Arguments(']', elements)) return false;
    --depth_;
    out = Argument::OfList(program_.AddArguments(elements));
  } else {
    Dim dim(0);
    if (!dims_.Read(dim)) return false;
    out = Argument::OfInt(dim);
  }
  return true;
}

}  // namespace steelyard
