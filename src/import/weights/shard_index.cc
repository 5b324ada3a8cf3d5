// SPDX-License-Identifier: Apache-2.0
#include "import/weights/shard_index.h"

#include <cstdint>
#include <map>
#include <string_view>

#include "import/json.h"

namespace steelyard::weights {
namespace {

constexpr std::string_view kDamaged = "The index is damaged or forged; download it again.";

// A file beside the index: its name is no path, which could lead anywhere.
bool IsFileName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

bool ReadMap(JsonReader& json, JsonValue value, ShardIndex* index) {
  std::map<std::string, std::uint32_t, std::less<>> files;
  const bool read = json.Object(value, [&](std::string_view name, JsonValue field) {
    std::string_view file;
    if (!json.Text(field, file)) return false;
    if (!IsFileName(file)) return json.Fail("it names no file beside the index: " + Quoted(file));
    if (!file.ends_with(".safetensors")) {
      return json.Fail(Unsupported("the index names files that are no safetensors: " + Quoted(file),
                                   {},
                                   "Pickles of PyTorch are never opened here. In Python, load the "
                                   "model if you trust it, and write model.save_pretrained()."));
    }
    const auto id = static_cast<std::uint32_t>(files.size());
    const auto at = files.try_emplace(std::string(file), id).first;
    index->tensors.emplace_back(name, at->second);
    return true;
  });
  std::vector<std::uint32_t> place(files.size());
  for (const auto& [file, id] : files) {
    place[id] = static_cast<std::uint32_t>(index->files.size());
    index->files.push_back(file);
  }
  for (auto& [name, file] : index->tensors) file = place[file];
  return read;
}

}  // namespace

Result<ShardIndex> ReadShardIndex(const PaddedText& text) {
  const JsonText json_text(text);
  if (!json_text.ok()) {
    return Unexpected(InvalidInput("the index is no JSON (" + ReasonOf(json_text.code()) + ")", {},
                                   std::string(kDamaged)));
  }
  ShardIndex index;
  JsonReader json;
  bool found = false;
  const bool ok = json.Object(json_text.root(), [&](std::string_view key, JsonValue field) {
    if (key != "weight_map") return true;
    if (found) return json.Fail("the index has two weight_maps");
    found = true;
    return ReadMap(json, field, &index);
  });
  if (ok && found && !index.files.empty()) return index;
  if (ok) {
    return Unexpected(
        InvalidInput("the index has no weight_map with files in it", {}, std::string(kDamaged)));
  }
  Error error = json.TakeError();
  if (error.hint.empty()) error.hint = kDamaged;
  return Unexpected(std::move(error));
}

}  // namespace steelyard::weights
