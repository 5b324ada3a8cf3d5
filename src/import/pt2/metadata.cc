// SPDX-License-Identifier: Apache-2.0
//
// Anything may stand in metadata: it comes from Python's tracebacks and from torch's own passes.
// So nothing here fails; what is not understood is the model's root or no line at all.
#include "import/pt2/metadata.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace steelyard::pt2 {
namespace {

// Torch's passes mark the nodes they insert with this in place of a stack.
constexpr std::string_view kNoStack = "_empty_nn_module_stack_from_metadata_hook";

// Longest path of a module. Its ancestors are looked up one by one, so it bounds the time.
constexpr std::size_t kMaxPath = 4096;

constexpr std::string_view kFrameStart = "File \"";

// The part of `text` up to the first `separator` outside of brackets; `text` becomes the rest.
std::string_view NextPart(std::string_view& text, char separator) {
  int depth = 0;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (c == separator && depth <= 0) break;
  }
  const std::string_view part = text.substr(0, i);
  text.remove_prefix(i < text.size() ? i + 1 : i);
  return part;
}

// "'name'" and "name" -> "name".
std::string_view Unquoted(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"')) {
    return text.substr(1, text.size() - 2);
  }
  return text;
}

void AppendStep(std::string& path, std::string_view step) {
  // Containers of a module's internals, which its own paths do not show.
  if (step.empty() || step == "_modules" || step == "_parameters") return;
  if (!path.empty()) path.push_back('.');
  path.append(step);
}

// Steps of an expression without its root: ".layer[0]['key'].x".
void AppendSteps(std::string& path, std::string_view rest) {
  while (!rest.empty()) {
    if (rest.front() == '[') {
      const std::size_t end = rest.find(']');
      AppendStep(path, Unquoted(rest.substr(1, end == std::string_view::npos ? end : end - 1)));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      continue;
    }
    if (rest.front() == '.') rest.remove_prefix(1);
    const std::size_t end = rest.find_first_of(".[");
    AppendStep(path, rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end);
  }
}

bool IsPythonExpression(std::string_view path) {
  return path.starts_with("L[") || path.starts_with("getattr(");
}

// The root of an expression is the model, whatever its author calls it: "L['self']". Around it may
// stand any number of "getattr(..., 'name')", whose names follow in the order of closing.
std::string PathOfExpression(std::string_view written) {
  constexpr std::string_view kGetattr = "getattr(";
  int calls = 0;
  while (written.starts_with(kGetattr)) {
    written.remove_prefix(kGetattr.size());
    ++calls;
  }
  if (!written.starts_with("L[")) return std::string(written);
  const std::size_t root = written.find(']');
  written.remove_prefix(root == std::string_view::npos ? written.size() : root + 1);
  std::string path;
  for (; calls > 0; --calls) {
    const std::size_t comma = written.find(", ");
    const std::size_t close = written.find(')', comma == std::string_view::npos ? 0 : comma);
    if (comma == std::string_view::npos || close == std::string_view::npos) break;
    AppendSteps(path, written.substr(0, comma));
    AppendStep(path, Unquoted(written.substr(comma + 2, close - comma - 2)));
    written.remove_prefix(close + 1);
  }
  AppendSteps(path, written);
  return path;
}

struct Frame {
  std::string_view text;
  std::string_view file;
};

// The last frame of `trace`, which loses it; an empty text when there is none.
Frame PopFrame(std::string_view& trace) {
  const std::size_t begin = trace.rfind(kFrameStart);
  if (begin == std::string_view::npos) return {};
  Frame frame;
  frame.text = trace.substr(begin);
  while (frame.text.ends_with('\n') || frame.text.ends_with(' ')) frame.text.remove_suffix(1);
  frame.file = frame.text.substr(kFrameStart.size());
  frame.file = frame.file.substr(0, frame.file.find('"'));
  trace = trace.substr(0, begin);
  return frame;
}

// Whether a file belongs to torch itself rather than to a model or a library of models.
bool IsTorchsOwn(std::string_view file) {
  return file.starts_with("torch/") || file.find("-packages/torch/") != std::string_view::npos ||
         file.find("/torch/nn/modules/") != std::string_view::npos ||
         file.find("/torch/nn/functional.py") != std::string_view::npos;
}

// A file of an installed package as Python imports it: "transformers/models/bert/modeling_bert.py".
std::string_view WithinItsPackages(std::string_view file) {
  constexpr std::string_view kPackages = "-packages/";  // of site-packages and dist-packages
  const std::size_t at = file.rfind(kPackages);
  return at == std::string_view::npos ? file : file.substr(at + kPackages.size());
}

}  // namespace

std::string ModulePath(std::string_view written) {
  // "layer.0@1": the second call of layer.0.
  const std::size_t mark = written.rfind('@');
  if (mark != std::string_view::npos &&
      written.find_first_not_of("0123456789", mark + 1) == std::string_view::npos) {
    written = written.substr(0, mark);
  }
  return IsPythonExpression(written) ? PathOfExpression(written) : std::string(written);
}

ModuleId ModuleStacks::Find(std::string_view path) const {
  const StringId name = program_.strings.Find(path);
  if (name == kNoString) return path.empty() ? 0 : kNoId;  // a path that no module has
  return name < modules_.size() ? modules_[name] : kNoId;
}

ModuleId ModuleStacks::Enter(std::string_view path, std::string_view class_name) {
  const StringId name = program_.strings.Intern(path);
  if (modules_.size() <= name) modules_.resize(name + std::size_t{1}, kNoId);
  modules_[kNoString] = 0;
  if (modules_[name] == kNoId) {
    Module module;
    module.path = name;
    module.parent = 0;
    // The parent is the nearest known module whose path this one's begins with. Not the caller: a
    // module may be called from anywhere, and its place in the tree is what its path says.
    for (std::size_t dot = path.rfind('.'); dot != std::string_view::npos && dot > 0;
         dot = path.rfind('.', dot - 1)) {
      const ModuleId found = Find(path.substr(0, dot));
      if (found == kNoId) continue;
      module.parent = found;
      break;
    }
    modules_[name] = static_cast<ModuleId>(program_.modules.size());
    program_.modules.push_back(module);
  }
  Module& module = program_.modules[modules_[name]];
  if (module.class_name == kNoString) module.class_name = program_.strings.Intern(class_name);
  return modules_[name];
}

// "key,path,class", where keys and paths may be Python expressions with commas in brackets.
ModuleId ModuleStacks::ReadEntry(std::string_view entry) {
  NextPart(entry, ',');
  const std::string_view path = NextPart(entry, ',');
  if (entry.empty() || path.size() > kMaxPath) return 0;
  return Enter(ModulePath(path), entry);
}

// Calls of one module have entries of their own, "L__self__layer@1", and so have calls within them.
CallId ModuleStacks::EnterCall(CallId parent, std::size_t entry) {
  const std::uint64_t key = (std::uint64_t{parent} << 32U) | entry;
  const auto [found, fresh] = calls_.try_emplace(key, static_cast<CallId>(program_.calls.size()));
  if (fresh) program_.calls.push_back({entries_.at(entry), parent});
  return found->second;
}

ModuleId ModuleStacks::Read(std::string_view stack) {
  last_call_ = kNoId;
  if (stack.starts_with(kNoStack)) return 0;
  ModuleId innermost = 0;
  while (!stack.empty()) {
    const std::size_t end = std::min(stack.find(';'), stack.size());
    const std::size_t index = entries_.IndexOf(stack.substr(0, end));
    if (entries_.at(index) == kNoId) entries_.at(index) = ReadEntry(stack.substr(0, end));
    innermost = entries_.at(index);
    last_call_ = EnterCall(last_call_, index);
    stack.remove_prefix(std::min(end + 1, stack.size()));
  }
  return innermost;
}

SourceId StackTraces::Read(std::string_view trace) {
  const Frame innermost = PopFrame(trace);
  Frame chosen = innermost;
  while (!chosen.text.empty() && IsTorchsOwn(chosen.file)) chosen = PopFrame(trace);
  if (chosen.text.empty()) chosen = innermost;
  if (chosen.text.empty()) return kNoId;

  SourceId& line = lines_[chosen.text];
  if (line != kNoId) return line;
  SourceLine source;
  source.file = program_.strings.Intern(WithinItsPackages(chosen.file));
  // After the file: `", line 84, in forward\n    code`.
  std::string_view rest = chosen.text.substr(kFrameStart.size() + chosen.file.size());
  constexpr std::string_view kLine = "\", line ";
  constexpr std::string_view kIn = ", in ";
  if (rest.starts_with(kLine)) {
    rest.remove_prefix(kLine.size());
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), source.line);
    rest.remove_prefix(static_cast<std::size_t>(read.ptr - rest.data()));
  }
  if (rest.starts_with(kIn)) {
    rest.remove_prefix(kIn.size());
    const std::size_t end = rest.find('\n');
    source.function = program_.strings.Intern(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end);
    // The first line of the code: what follows are the rest of a statement and Python's markers.
    const std::size_t code = rest.find_first_not_of(" \n");
    if (code != std::string_view::npos) {
      rest.remove_prefix(code);
      source.code = program_.strings.Intern(rest.substr(0, rest.find('\n')));
    }
  }
  line = static_cast<SourceId>(program_.sources.size());
  program_.sources.push_back(source);
  return line;
}

}  // namespace steelyard::pt2
