// SPDX-License-Identifier: Apache-2.0
//
// A caller lets what a model returns go as Python takes containers apart: tuples and lists from
// their end, others in the order of their fields.

#include "import/pt2/out_spec.h"

#include <algorithm>

#include "import/json.h"
#include "import/pt2/tree_spec.h"

namespace steelyard::pt2 {
namespace {

class SpecReader {
 public:
  std::optional<std::uint32_t> loss() const { return loss_; }

  bool Read(std::string_view spec, std::vector<std::uint32_t>& out) {
    return ReadTree(spec, json_, [&](JsonValue root) { return ReadNode(root, out); });
  }

 private:
  bool ReadNode(JsonValue value, std::vector<std::uint32_t>& out) {
    if (++depth_ > kMaxDepth) return json_.Fail("it is nested too deeply");
    bool is_leaf = true;
    std::string_view type;
    std::vector<std::vector<std::uint32_t>> parts;
    const bool ok = json_.Object(value, [&](std::string_view key, JsonValue field) {
      if (key == "type" && !JsonReader::IsNull(field)) {
        is_leaf = false;
        return json_.Text(field, type);
      }
      if (key == "context" && depth_ == 1 && !JsonReader::IsNull(field)) return ReadKeys(field);
      if (key != "children_spec") return true;
      const bool outermost = depth_ == 1;
      return json_.Array(field, [&](JsonValue child) {
        const std::uint32_t leaf = leaves_;
        if (!ReadNode(child, parts.emplace_back())) return false;
        if (outermost && parts.size() - 1 == place_ && parts.back() == std::vector{leaf})
          loss_ = leaf;
        return true;
      });
    });
    if (is_leaf) out.push_back(leaves_++);
    if (IsSequence(type)) std::ranges::reverse(parts);
    for (const std::vector<std::uint32_t>& part : parts) {
      out.insert(out.end(), part.begin(), part.end());
    }
    --depth_;
    return ok;
  }

  // The keys of a dictionary or class are JSON in a string; another type's context is something
  // else.
  bool ReadKeys(JsonValue value) {
    std::string_view context;
    if (!json_.Text(value, context)) return false;
    const PaddedText text(context);
    const JsonText keys(text);
    if (!keys.ok()) return true;
    JsonReader reader;
    std::size_t at = 0;
    reader.Array(keys.root(), [&](JsonValue key) {
      std::string_view name;
      if (!reader.Text(key, name)) return false;
      if (name == "loss") place_ = at;
      return ++at > 0;
    });
    return true;
  }

  JsonReader json_;
  std::uint32_t leaves_ = 0;
  std::size_t place_ = SIZE_MAX;  // of "loss" among the outermost parts
  std::optional<std::uint32_t> loss_;
  int depth_ = 0;
};

}  // namespace

OutSpec ReadOutSpec(std::string_view spec) {
  OutSpec out;
  SpecReader reader;
  if (!reader.Read(spec, out.released)) return {};
  out.loss = reader.loss();
  return out;
}

}  // namespace steelyard::pt2
