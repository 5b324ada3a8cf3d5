// SPDX-License-Identifier: Apache-2.0
#include "import/weights/configuration.h"

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "import/json.h"
#include "import/weights/file.h"

namespace steelyard::weights {
namespace {

constexpr std::int64_t kMaxConfigBytes = 16 << 20;
constexpr int kMaxDepth = 6;  // quantization_config, config_groups, group_0, weights, num_bits

// Collects the widths that an object and those in it give for weights.
class WidthReader {
 public:
  bool Read(JsonValue value, int depth) {
    return json_.Object(value, [&](std::string_view key, JsonValue field) {
      const std::string_view token = JsonReader::Token(field);
      if (token.starts_with('{')) {
        const bool of_weights = !key.ends_with("activations");
        return !of_weights || depth == kMaxDepth || Read(field, depth + 1);
      }
      if ((key != "bits" && key != "num_bits") || token == "null") return true;
      std::int64_t bits = 0;
      if (!json_.Int(field, bits)) return false;
      several_ |= bits_ != 0 && bits != bits_;
      bits_ = bits;
      return true;
    });
  }

  bool ReadRoot(JsonValue root) {
    return json_.Object(root, [&](std::string_view key, JsonValue field) {
      const bool told = key == "quantization_config" || key == "quantization";
      return !told || !JsonReader::Token(field).starts_with('{') || Read(field, 0);
    });
  }

  int bits() const {
    constexpr std::int64_t kWidest = 8;
    return several_ || bits_ < 0 || bits_ > kWidest ? 0 : static_cast<int>(bits_);
  }

 private:
  JsonReader json_;
  std::int64_t bits_ = 0;
  bool several_ = false;
};

}  // namespace

QuantisationHints HintsIn(const PaddedText& config) {
  const JsonText json(config);
  if (!json.ok()) return {};
  WidthReader reader;
  if (!reader.ReadRoot(json.root())) return {};
  return {.bits = reader.bits()};
}

QuantisationHints ReadHints(const std::string& path) {
  const std::filesystem::path beside = std::filesystem::path(path).parent_path() / "config.json";
  const Result<File> file = File::Open(beside.string());
  if (!file || file->size() > kMaxConfigBytes) return {};
  PaddedText text(static_cast<std::size_t>(file->size()));
  if (!file->Read(0, {text.data(), text.size()})) return {};
  return HintsIn(text);
}

}  // namespace steelyard::weights
