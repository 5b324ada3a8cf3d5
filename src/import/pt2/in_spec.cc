// SPDX-License-Identifier: Apache-2.0
//
// The tree's text is walked once; a node's type and keys stand before its children.

#include "import/pt2/in_spec.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "import/json.h"
#include "import/pt2/tree_spec.h"

namespace steelyard::pt2 {
namespace {

// Containers whose children Python finds by a key.
bool IsByKey(std::string_view type) {
  constexpr std::array<std::string_view, 3> kByKey = {
      "builtins.dict", "collections.OrderedDict", "torch.fx.immutable_collections.immutable_dict"};
  return std::ranges::find(kByKey, type) != kByKey.end();
}

class SpecReader {
 public:
  bool Read(std::string_view spec) {
    return ReadTree(spec, json_, [&](JsonValue root) { return ReadNode(root, Place{}); });
  }
  std::vector<std::string> TakePaths() { return std::move(paths_); }

 private:
  struct Place {
    int depth = 0;
    std::string path;   // empty above the arguments
    bool named = true;  // the path leads there
  };

  bool ReadNode(JsonValue value, const Place& place) {
    if (place.depth > kMaxDepth) return json_.Fail("it is nested too deeply");
    bool is_leaf = true;
    std::string_view type;
    std::vector<std::string> keys;
    std::size_t child = 0;
    const bool ok = json_.Object(value, [&](std::string_view key, JsonValue field) {
      if (key == "type" && !JsonReader::IsNull(field)) {
        is_leaf = false;
        return json_.Text(field, type);
      }
      if (key == "context" && IsByKey(type) && !JsonReader::IsNull(field)) {
        return ReadKeys(field, keys);
      }
      if (key != "children_spec") return true;
      return json_.Array(field, [&](JsonValue node) {
        return ReadNode(node, Inside(place, type, keys, child++));
      });
    });
    if (ok && is_leaf) AddLeaf(place);
    return ok;
  }

  static Place Inside(const Place& place, std::string_view type,
                      const std::vector<std::string>& keys, std::size_t child) {
    Place inside{place.depth + 1, place.path, place.named};
    if (place.depth == 0) {
      inside.path = child == 0 ? "args" : "kwargs";
    } else if (IsSequence(type)) {
      inside.path += fmt::format("[{}]", child);
    } else if (child < keys.size() && !keys[child].empty()) {
      inside.path += fmt::format("[{}]", keys[child]);
    } else {
      inside.named = false;
    }
    return inside;
  }

  void AddLeaf(const Place& place) {
    paths_.push_back(
        place.named
            ? place.path
            : fmt::format("torch.utils._pytree.tree_leaves((args, kwargs))[{}]", paths_.size()));
  }

  // The keys of a dictionary are JSON in a string. JSON's texts are Python's.
  bool ReadKeys(JsonValue value, std::vector<std::string>& keys) {
    std::string_view context;
    if (!json_.Text(value, context)) return false;
    const PaddedText text(context);
    const JsonText list(text);
    if (!list.ok()) return true;
    JsonReader reader;
    reader.Array(list.root(), [&](JsonValue key) {
      const std::string_view token = JsonReader::Token(key);
      keys.emplace_back(token.starts_with('[') || token.starts_with('{') ? "" : token);
      return true;
    });
    return true;
  }

  JsonReader json_;
  std::vector<std::string> paths_;
};

}  // namespace

std::vector<std::string> ReadInSpec(std::string_view spec) {
  SpecReader reader;
  if (!reader.Read(spec)) return {};
  return reader.TakePaths();
}

}  // namespace steelyard::pt2
