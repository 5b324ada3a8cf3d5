// SPDX-License-Identifier: Apache-2.0
//
// Names and the values they stand for. Each graph has names of its own: an inner graph that uses a
// name of an outer one means another value, and gives the name back when it ends.
#include <algorithm>

#include "import/pt2/graph_reader.h"

namespace steelyard::pt2 {

GraphReader::Name& GraphReader::Lookup(std::string_view name) {
  const std::size_t index = names_.IndexOf(name);
  Name& found = names_.at(index);
  if (found.text == kNoString) found.text = program_.strings.Intern(name);
  if (found.scope != scope_) {
    if (found.value != kNoId) shadowed_.push_back({index, found});
    found.value = kNoId;
    found.scope = scope_;
  }
  return found;
}

ValueId GraphReader::Find(std::string_view name) { return Lookup(name).value; }

bool GraphReader::ValueNamed(std::string_view name, ValueKind kind, ValueId& out) {
  if (name.empty()) return json_.Fail("a value has an empty name");
  Name& found = Lookup(name);
  if (found.value == kNoId) found.value = NewValue(found.text, kind);
  out = found.value;
  if (program_.values[out].kind == kind) return true;
  return json_.Fail(Quoted(name) + " is one kind of value here and another kind elsewhere");
}

bool GraphReader::Define(ValueId id, std::uint32_t definition) {
  if (states_[id].definition != 0) return json_.Fail(QuotedName(id) + " is defined twice");
  states_[id].definition = definition;
  return true;
}

ValueId GraphReader::NewValue(StringId name, ValueKind kind) {
  Value value;
  value.name = name;
  value.kind = kind;
  value.has_layout = false;
  if (kind == ValueKind::kTensor) value.storage = program_.storage_count++;
  program_.values.push_back(value);
  states_.emplace_back();
  return static_cast<ValueId>(program_.values.size() - 1);
}

std::string GraphReader::QuotedName(ValueId id) const {
  return Quoted(program_.text(program_.values[id].name));
}

void GraphReader::Note(const std::string& note) {
  const StringId id = program_.strings.Intern(note);
  if (std::ranges::find(program_.notes, id) == program_.notes.end()) program_.notes.push_back(id);
}

}  // namespace steelyard::pt2
