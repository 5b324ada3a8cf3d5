// SPDX-License-Identifier: Apache-2.0
//
// Of a config.json beside weights only what says how they are packed is read: widths and groups,
// wherever they stand, as long as all places agree.
#include "import/weights/configuration.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "import/json.h"
#include "import/weights/file.h"

namespace steelyard::weights {
namespace {

constexpr std::int64_t kMaxConfigBytes = 16 << 20;
constexpr int kMaxDepth = 6;  // quantization_config, config_groups, group_0, weights, num_bits

// One number that several places of a file give, or none where they differ.
class Agreed {
 public:
  void Add(std::int64_t number) {
    several_ |= number_ != 0 && number != number_;
    number_ = number;
  }
  std::int64_t From(std::int64_t least, std::int64_t most) const {
    return several_ || number_ < least || number_ > most ? 0 : number_;
  }

 private:
  std::int64_t number_ = 0;
  bool several_ = false;
};

// Collects the widths and groups that an object and those in it give for weights.
class HintReader {
 public:
  bool Read(JsonValue value, int depth) {
    return json_.Object(value, [&](std::string_view key, JsonValue field) {
      const std::string_view token = JsonReader::Token(field);
      if (token.starts_with('{')) {
        if (depth == 0 && key.find('.') != std::string_view::npos) return ReadLayer(key, field);
        const bool of_weights = !key.ends_with("activations");
        return !of_weights || depth == kMaxDepth || Read(field, depth + 1);
      }
      const bool is_width = key == "bits" || key == "num_bits";
      if ((!is_width && key != "group_size") || token == "null") return true;
      std::int64_t number = 0;
      if (!json_.Int(field, number)) return false;
      (is_width ? bits_ : group_).Add(number);
      return true;
    });
  }

  // What a layer has of its own: "model.layers.0.mlp.down_proj": {"bits": 8}.
  bool ReadLayer(std::string_view name, JsonValue value) {
    HintReader own;
    const std::string layer(name);  // reading on moves the text
    if (!own.Read(value, 1)) return false;
    const QuantisationHints hints = own.hints();
    layers_[layer] = {.bits = hints.bits, .group = hints.group};
    return true;
  }

  bool ReadRoot(JsonValue root) {
    return json_.Object(root, [&](std::string_view key, JsonValue field) {
      const bool told = key == "quantization_config" || key == "quantization";
      return !told || !JsonReader::Token(field).starts_with('{') || Read(field, 0);
    });
  }

  QuantisationHints hints() const {
    constexpr std::int64_t kWidest = 8, kLongest = 1 << 20;
    QuantisationHints hints;
    hints.bits = static_cast<int>(bits_.From(1, kWidest));
    hints.group = group_.From(1, kLongest);
    hints.layers = layers_;
    return hints;
  }

 private:
  JsonReader json_;
  Agreed bits_, group_;
  std::map<std::string, LayerHints, std::less<>> layers_;
};

}  // namespace

QuantisationHints HintsIn(const PaddedText& config) {
  const JsonText json(config);
  if (!json.ok()) return {};
  HintReader reader;
  if (!reader.ReadRoot(json.root())) return {};
  return reader.hints();
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
