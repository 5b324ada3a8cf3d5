// SPDX-License-Identifier: Apache-2.0

#include "import/pt2/out_spec.h"

#include <algorithm>
#include <array>

#include "import/json.h"

namespace steelyard::pt2 {
namespace {

// Torch's own nest a handful of levels.
constexpr int kMaxDepth = 64;

// Types that CPython's deallocators take apart from the end (Objects/tupleobject.c, listobject.c).
constexpr std::array<std::string_view, 4> kFromTheEnd = {
    "builtins.tuple", "builtins.list", "collections.namedtuple",
    "torch.fx.immutable_collections.immutable_list"};

class SpecReader {
 public:
  // The tree is the second element, after the version of the form.
  bool Read(JsonValue root, std::vector<std::uint32_t>& out) {
    int index = 0;
    return json_.Array(root,
                       [&](JsonValue element) { return index++ != 1 || ReadNode(element, out); });
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
      if (key != "children_spec") return true;
      return json_.Array(field,
                         [&](JsonValue child) { return ReadNode(child, parts.emplace_back()); });
    });
    if (is_leaf) out.push_back(leaves_++);
    if (std::ranges::find(kFromTheEnd, type) != kFromTheEnd.end()) std::ranges::reverse(parts);
    for (const std::vector<std::uint32_t>& part : parts) {
      out.insert(out.end(), part.begin(), part.end());
    }
    --depth_;
    return ok;
  }

  JsonReader json_;
  std::uint32_t leaves_ = 0;
  int depth_ = 0;
};

}  // namespace

std::vector<std::uint32_t> ReleasedLeaves(std::string_view spec) {
  const PaddedText text(spec);
  const JsonText json(text);
  std::vector<std::uint32_t> out;
  if (!json.ok()) return {};
  SpecReader reader;
  return reader.Read(json.root(), out) ? out : std::vector<std::uint32_t>();
}

}  // namespace steelyard::pt2
