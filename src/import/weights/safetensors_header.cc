// SPDX-License-Identifier: Apache-2.0
//
// Decides what of a safetensors file is believed: a length of the header only if the file is as
// long, a tensor only if its shape and dtype take exactly the bytes between its offsets, and all of
// them only if they leave no gap. A length that no header has may be another format's, which is
// then named.

#include "import/weights/safetensors_header.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "import/foreign.h"
#include "import/json.h"
#include "import/unreadable.h"
#include "import/weights/file.h"
#include "support/checked.h"

namespace steelyard::weights {
namespace {

constexpr std::int64_t kLengthBytes = 8;
constexpr std::string_view kMetadata = "__metadata__";
// Metadata are facts about the model where they are short; trainers also write logs into them.
constexpr std::size_t kMaxFacts = 8;
constexpr std::size_t kMaxFactBytes = 64;
constexpr std::string_view kDamaged =
    "The file is damaged or forged: is the download or the copy complete?";

struct DTypeName {
  std::string_view name;
  DType dtype;
};
constexpr std::array kDTypes = {
    DTypeName{"F32", DType::kFloat32},
    DTypeName{"F16", DType::kFloat16},
    DTypeName{"BF16", DType::kBFloat16},
    DTypeName{"I64", DType::kInt64},
    DTypeName{"I32", DType::kInt32},
    DTypeName{"I16", DType::kInt16},
    DTypeName{"I8", DType::kInt8},
    DTypeName{"U8", DType::kUInt8},
    DTypeName{"BOOL", DType::kBool},
    DTypeName{"F64", DType::kFloat64},
    DTypeName{"U64", DType::kUInt64},
    DTypeName{"U32", DType::kUInt32},
    DTypeName{"U16", DType::kUInt16},
    DTypeName{"C64", DType::kComplex64},
    DTypeName{"F8_E4M3", DType::kFloat8E4M3},
    DTypeName{"F8_E5M2", DType::kFloat8E5M2},
    DTypeName{"F8_E8M0", DType::kFloat8E8M0},
    DTypeName{"F8_E4M3FNUZ", DType::kFloat8E4M3FNUZ},
    DTypeName{"F4", DType::kFloat4E2M1},
    DTypeName{"F8_E5M2FNUZ", DType::kFloat8E5M2FNUZ},
    DTypeName{"F6_E2M3", DType::kFloat6E2M3},
    DTypeName{"F6_E3M2", DType::kFloat6E3M2},
};

class HeaderReader {
 public:
  HeaderReader(std::uint32_t file, StoredWeights* weights) : file_(file), weights_(*weights) {}

  bool Read(JsonValue root) {
    return json_.Object(root, [&](std::string_view name, JsonValue entry) {
      return name == kMetadata ? ReadMetadata(entry) : ReadTensor(name, entry);
    });
  }

  JsonReader& json() { return json_; }

 private:
  bool ReadMetadata(JsonValue value) {
    if (std::exchange(has_metadata_, true)) return json_.Fail("there are two of them");
    return json_.Object(value, [&](std::string_view key, JsonValue field) {
      std::string_view text;
      if (!json_.Text(field, text)) return false;
      // Every file says "pt", which is the library that wrote it.
      const bool is_fact = key != "format" && !key.empty() && key.size() <= kMaxFactBytes &&
                           !text.empty() && text.size() <= kMaxFactBytes;
      if (is_fact && facts_ < kMaxFacts && file_ == 0) {
        ++facts_;
        weights_.AddFact(key, text);
      }
      return true;
    });
  }

  bool ReadTensor(std::string_view name, JsonValue entry) {
    Result<StringId> id = weights_.TakeName(name);
    if (!id) return json_.Fail(std::move(id).error());
    StoredTensor tensor{.name = *id, .file = file_};
    tensor.sizes = static_cast<std::uint32_t>(weights_.sizes.size());
    std::array<std::int64_t, 2> place = {-1, -1};
    std::string_view dtype;
    bool has_shape = false;
    const bool read = json_.Object(entry, [&](std::string_view key, JsonValue field) {
      if (key == "dtype") return json_.Text(field, dtype);
      if (key == "shape") return !std::exchange(has_shape, true) && ReadShape(field, &tensor);
      if (key == "data_offsets") return ReadOffsets(field, &place);
      return true;
    });
    if (!read) return json_.Fail("the shape is there twice");
    if (dtype.empty() || !has_shape || place[1] < 0) {
      return json_.Fail("the dtype, the shape or the data_offsets are missing");
    }
    return SetDType(dtype, &tensor) && SetPlace(place, &tensor);
  }

  bool ReadShape(JsonValue value, StoredTensor* tensor) {
    return json_.Array(value, [&](JsonValue element) {
      std::int64_t size = 0;
      if (!json_.Int(element, size)) return false;
      if (size < 0) return json_.Fail("a size is " + std::to_string(size));
      if (tensor->rank == Dims::kMaxRank) {
        return json_.Fail("there are more than " + std::to_string(Dims::kMaxRank) + " dimensions");
      }
      ++tensor->rank;
      weights_.sizes.push_back(size);
      return true;
    });
  }

  bool ReadOffsets(JsonValue value, std::array<std::int64_t, 2>* place) {
    std::size_t count = 0;
    const bool read = json_.Array(value, [&](JsonValue element) {
      std::int64_t offset = 0;
      if (!json_.Int(element, offset)) return false;
      if (count < place->size()) (*place)[count] = offset;
      ++count;
      return true;
    });
    if (!read) return false;
    if (count == place->size() && (*place)[0] >= 0 && (*place)[1] >= (*place)[0]) return true;
    return json_.Fail("the data_offsets are not where it begins and where it ends");
  }

  bool SetDType(std::string_view name, StoredTensor* tensor) {
    const auto found = std::ranges::find(kDTypes, name, &DTypeName::name);
    if (found == kDTypes.end()) {
      return json_.Fail(Unsupported("the dtype " + Quoted(name) + " is not known", {},
                                    "Is the file of a newer safetensors than this Steelyard?"));
    }
    tensor->dtype = found->dtype;
    return true;
  }

  bool SetPlace(const std::array<std::int64_t, 2>& place, StoredTensor* tensor) {
    CheckedInt bits = BitsOf(tensor->dtype);
    for (const std::int64_t size : weights_.SizesOf(*tensor)) bits = bits * CheckedInt(size);
    if (!bits.ok()) return json_.Fail("the shape has more bits than fit in 64 bits");
    tensor->begin = place[0];
    tensor->bytes = place[1] - place[0];
    if (bits.value() % 8 != 0 || bits.value() / 8 != tensor->bytes) {
      return json_.Fail("the shape takes " + std::to_string(bits.value()) +
                        " bits, and the data_offsets are " + std::to_string(tensor->bytes) +
                        " bytes apart");
    }
    weights_.tensors.push_back(*tensor);
    return true;
  }

  const std::uint32_t file_;
  StoredWeights& weights_;
  JsonReader json_;
  std::size_t facts_ = 0;
  bool has_metadata_ = false;
};

std::uint64_t LittleEndian(std::span<const char> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8U | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

}  // namespace

Status ReadSafetensorsHeader(const PaddedText& header, std::int64_t data_bytes, std::uint32_t file,
                             StoredWeights* weights) {
  JsonText text(header);
  if (!text.ok()) {
    return Unexpected(InvalidInput("the header is no JSON (" + ReasonOf(text.code()) + ")",
                                   "header", std::string(kDamaged)));
  }
  const std::size_t first = weights->tensors.size();
  HeaderReader reader(file, weights);
  bool ok = reader.Read(text.root());
  if (ok && text.Continues()) {
    ok = reader.json().Fail("something follows the end of the JSON");
  }
  if (!ok) {
    Error error = Within("header", reader.json().TakeError());
    if (error.hint.empty()) error.hint = kDamaged;
    return Unexpected(std::move(error));
  }
  return CheckPlaces(*weights, first, data_bytes, {.gapless = true});
}

namespace {

// As much of it as tells what else it may be.
std::string HeadOf(const File& file) {
  constexpr std::int64_t kTellingBytes = 64;
  std::string head(static_cast<std::size_t>(std::min(file.size(), kTellingBytes)), '\0');
  return file.Read(0, head) ? head : std::string();
}

}  // namespace

Status ReadSafetensors(const std::string& path, std::uint32_t file, StoredWeights* weights) {
  SY_ASSIGN_OR_RETURN(const File stored, File::Open(path));
  std::array<char, kLengthBytes> length = {};
  if (!stored.Read(0, length)) {
    return Unexpected(InvalidInput("the file is shorter than the length of a header", path,
                                   "Is the download or the copy complete?"));
  }
  const std::uint64_t claimed = LittleEndian(length);
  if (claimed > static_cast<std::uint64_t>(kMaxHeaderBytes)) {
    if (auto foreign = ForeignFormat(HeadOf(stored))) {
      return Unexpected(Within(path, *std::move(foreign)));
    }
    return Unexpected(InvalidInput("the header claims to be " + std::to_string(claimed) +
                                       " bytes long; the format allows 100,000,000",
                                   path, "Is it a safetensors file?"));
  }
  const auto bytes = static_cast<std::int64_t>(claimed);
  if (bytes > stored.size() - kLengthBytes) {
    return Unexpected(
        InvalidInput("the header claims to be " + std::to_string(bytes) +
                         " bytes long, and the file has " + std::to_string(stored.size()),
                     path, "The file is cut short: is the download or the copy complete?"));
  }
  PaddedText header(static_cast<std::size_t>(bytes));
  if (!stored.Read(kLengthBytes, {header.data(), header.size()})) {
    return Unexpected(CannotBeRead(path));
  }
  Status read = ReadSafetensorsHeader(header, stored.size() - kLengthBytes - bytes, file, weights);
  if (!read) return Unexpected(Within(path, std::move(read).error()));
  return {};
}

}  // namespace steelyard::weights
