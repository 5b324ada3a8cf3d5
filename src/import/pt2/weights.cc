// SPDX-License-Identifier: Apache-2.0
//
// Two names are one tensor if they have the same key and the same layout: the key is the storage
// and offset where the archive lists them, else the name itself, given twice. Parameters are tied
// among each other, and buffers among each other.

#include "import/pt2/weights.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "import/json.h"

namespace steelyard::pt2 {
namespace {

bool ReadPayload(JsonReader& json, JsonValue value, StoredTensor& out) {
  return json.Object(value, [&](std::string_view key, JsonValue field) {
    if (key == "path_name") {
      std::string_view path;
      if (!json.Text(field, path)) return false;
      out.storage = path;
    }
    if (key != "tensor_meta" || JsonReader::IsNull(field)) return true;
    return json.Object(field, [&](std::string_view inner, JsonValue offset) {
      if (inner != "storage_offset") return true;
      return json.Variant(offset, [&](std::string_view kind, JsonValue number) {
        return kind != "as_int" || json.Int(number, out.offset);
      });
    });
  });
}

bool SameLayout(const Program& program, ValueId a, ValueId b) {
  const Value& x = program.values[a];
  const Value& y = program.values[b];
  return x.has_layout && y.has_layout && x.dtype == y.dtype && x.rank == y.rank &&
         std::ranges::equal(program.dims.span(x.dims, 2u * x.rank),
                            program.dims.span(y.dims, 2u * y.rank));
}

// Names of one tensor, as one list of parameters or buffers has them.
class Ties {
 public:
  explicit Ties(Program& program) : program_(program), one_for_(program.values.size(), kNoId) {
    used_.assign(program.values.size(), false);
    for (const Argument& argument : program.arguments) MarkUsed(argument);
    for (const Argument& output : program.main().outputs) MarkUsed(output);
  }

  // `keys[i]` says what the i-th tensor of `list` is; equal ones of equal layout are tied.
  void Find(std::vector<NamedTensor>& list, std::span<const std::uint64_t> keys) {
    std::unordered_map<std::uint64_t, std::uint32_t> firsts;
    firsts.reserve(list.size());
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      const std::uint32_t first = firsts.emplace(keys[i], i).first->second;
      if (first == i || !SameLayout(program_, list[first].value, list[i].value)) continue;
      list[i].tied_to = first;
      Join(list[first].value, list[i].value);
    }
    for (NamedTensor& tensor : list) tensor.value = OneFor(tensor.value);
  }

  void Apply() {
    if (!any_) return;
    for (Argument& argument : program_.arguments) Replace(argument);
    for (Graph& graph : program_.graphs) {
      for (Argument& output : graph.outputs) Replace(output);
    }
    for (ValueId& id : program_.mutated) id = OneFor(id);
    for (ValueId id = 0; id < one_for_.size(); ++id) {
      program_.values[id].storage = program_.values[OneFor(id)].storage;
    }
  }

 private:
  void MarkUsed(const Argument& argument) {
    if (argument.kind == ArgKind::kValue) used_[argument.value] = true;
  }
  // At most two steps: what stands for others is replaced only when it is first joined.
  ValueId OneFor(ValueId id) const {
    while (one_for_[id] != kNoId) id = one_for_[id];
    return id;
  }
  void Join(ValueId first, ValueId other) {
    first = OneFor(first);
    if (first == other) return;
    any_ = true;
    if (!used_[first] && used_[other]) std::swap(first, other);
    one_for_[other] = first;
  }
  void Replace(Argument& argument) {
    if (argument.kind == ArgKind::kValue) argument.value = OneFor(argument.value);
  }

  Program& program_;
  std::vector<bool> used_;
  std::vector<ValueId> one_for_;  // by ValueId: the value that stands for it; kNoId: itself
  bool any_ = false;
};

// What identifies tensors: the place where each is stored, or else its name.
class Keys {
 public:
  Keys(const Program& program, std::span<const StoredTensor> stored) : program_(program) {
    std::unordered_map<std::string, std::uint64_t> places;
    for (const StoredTensor& tensor : stored) {
      const std::string place = tensor.storage + ":" + std::to_string(tensor.offset);
      by_name_.emplace(tensor.name, places.emplace(place, places.size()).first->second);
    }
  }

  std::vector<std::uint64_t> Of(const std::vector<NamedTensor>& list) const {
    constexpr std::uint64_t kPlace = std::uint64_t{1} << 32U;  // above all ids of strings
    std::vector<std::uint64_t> keys;
    keys.reserve(list.size());
    for (const NamedTensor& tensor : list) {
      keys.push_back(tensor.name);
      if (by_name_.empty()) continue;
      const auto found = by_name_.find(program_.text(tensor.name));
      if (found != by_name_.end()) keys.back() = kPlace + found->second;
    }
    return keys;
  }

 private:
  const Program& program_;
  std::unordered_map<std::string_view, std::uint64_t> by_name_;
};

}  // namespace

std::vector<StoredTensor> ReadWeightsConfig(const PaddedText& text) {
  std::vector<StoredTensor> out;
  const JsonText json_text(text);
  if (!json_text.ok()) return {};
  JsonReader json;
  const bool ok = json.Object(json_text.root(), [&](std::string_view key, JsonValue config) {
    if (key != "config") return true;
    return json.Object(config, [&](std::string_view name, JsonValue payload) {
      StoredTensor& tensor = out.emplace_back();
      tensor.name = name;
      return ReadPayload(json, payload, tensor);
    });
  });
  return ok ? std::move(out) : std::vector<StoredTensor>();
}

void TieNames(Program& program, std::span<const StoredTensor> stored) {
  program.ties_known = !stored.empty();
  const Keys keys(program, stored);
  Ties ties(program);
  ties.Find(program.parameters, keys.Of(program.parameters));
  ties.Find(program.buffers, keys.Of(program.buffers));
  ties.Apply();
}

}  // namespace steelyard::pt2
