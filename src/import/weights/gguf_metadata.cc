// SPDX-License-Identifier: Apache-2.0
//
// Every pair has to be walked over, since only its type says how long it is. Kept are numbers,
// short texts and short lists of numbers, up to a number of them that no file has, and what the
// reader itself needs: the alignment and the place in a split. Counts are held against the rest of
// the file before they are gone through.

#include "import/weights/gguf_metadata.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "import/weights/ggml_types.h"

namespace steelyard::weights {
namespace {

constexpr std::string_view kDamaged = "The file is damaged or forged.";
constexpr std::string_view kCut = "The file is cut short: is the download or the copy complete?";
constexpr std::size_t kMaxFactBytes = 256;
constexpr std::uint64_t kLeastPairBytes = 8 + 1 + 4 + 1;  // a key of one letter, a type and a byte
constexpr std::size_t kMaxKept = 1024;                    // pairs
constexpr std::uint64_t kMaxListed = 4096;  // elements of a list: numbers for each layer
constexpr std::string_view kTokenizer = "tokenizer.";
constexpr std::int64_t kMaxAlignment = std::int64_t{1} << 30;

// By the numbers of value types: bytes of one, and whether it is signed; 0: of no fixed size.
struct ValueType {
  std::uint64_t bytes;
  bool is_signed;
  bool is_integer;
};
constexpr std::array kValueTypes = {
    ValueType{1, false, true},   // uint8
    ValueType{1, true, true},    // int8
    ValueType{2, false, true},   // uint16
    ValueType{2, true, true},    // int16
    ValueType{4, false, true},   // uint32
    ValueType{4, true, true},    // int32
    ValueType{4, false, false},  // float32
    ValueType{1, false, true},   // bool
    ValueType{0, false, false},  // string
    ValueType{0, false, false},  // array
    ValueType{8, false, true},   // uint64
    ValueType{8, true, true},    // int64
    ValueType{8, false, false},  // float64
};
constexpr std::uint64_t kString = 8;
constexpr std::uint64_t kArray = 9;

// A key whose value is a fact; one that begins with a point stands for that of any architecture.
struct FactKey {
  std::string_view key;
  std::string_view name;
};
constexpr std::array kFactKeys = {
    FactKey{"general.architecture", "architecture"},
    FactKey{"general.name", "name"},
    FactKey{"general.size_label", "size_label"},
    FactKey{"general.file_type", "quantisation"},
    FactKey{".context_length", "context_length"},
    FactKey{".block_count", "block_count"},
    FactKey{".embedding_length", "embedding_length"},
    FactKey{".feed_forward_length", "feed_forward_length"},
    FactKey{".attention.head_count", "head_count"},
    FactKey{".attention.head_count_kv", "head_count_kv"},
    FactKey{".expert_count", "expert_count"},
    FactKey{".expert_used_count", "expert_used_count"},
    FactKey{"tokenizer.ggml.tokens", "vocabulary"},
};

bool IsKeyOf(const FactKey& fact, std::string_view key) {
  if (!fact.key.starts_with('.')) return key == fact.key;
  const std::size_t point = key.find('.');
  return point != std::string_view::npos && key.substr(point) == fact.key;
}

// The value of an integer of so many bytes, if it fits.
std::optional<std::int64_t> IntegerOf(const ValueType& type, std::uint64_t raw) {
  if (!type.is_integer) return std::nullopt;
  if (type.is_signed) {
    const auto shift = static_cast<unsigned>(64 - 8 * type.bytes);
    return static_cast<std::int64_t>(raw << shift) >> shift;
  }
  if (raw > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  return static_cast<std::int64_t>(raw);
}

std::optional<double> RealOf(std::uint64_t bytes, std::uint64_t raw) {
  if (bytes == sizeof(double)) return std::bit_cast<double>(raw);
  return std::bit_cast<float>(static_cast<std::uint32_t>(raw));
}

Error Cut(std::string where) {
  return InvalidInput("the metadata do not end within the file", std::move(where),
                      std::string(kCut));
}

// Jumps over `count` strings.
bool SkipStrings(std::uint64_t count, Cursor* cursor) {
  if (count > static_cast<std::uint64_t>(cursor->rest()) / 8) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t length = 0;
    if (!cursor->Number(8, &length) || !cursor->Skip(length)) return false;
  }
  return true;
}

// The one number that all `count` elements are, if they are; false where the file ends before.
bool ReadList(const ValueType& of, std::uint64_t count, Cursor* cursor,
              std::optional<std::int64_t>* number) {
  bool equal = true;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t raw = 0;
    if (!cursor->Number(of.bytes, &raw)) return false;
    const std::optional<std::int64_t> element = IntegerOf(of, raw);
    equal = equal && element && (i == 0 || element == *number);
    *number = element;
  }
  if (!equal) number->reset();
  return true;
}

// A text, of which a long one is jumped over, or several, all of which are.
bool ReadText(bool array, Cursor* cursor, GgufValue* value) {
  if (array) return SkipStrings(value->elements, cursor);
  std::uint64_t length = 0;
  if (!cursor->Number(8, &length)) return false;
  if (length > kMaxFactBytes) return cursor->Skip(length);
  std::string_view text;
  if (!cursor->Text(length, &text)) return false;
  value->text = text;
  return true;
}

bool ReadNumbers(const ValueType& of, bool array, Cursor* cursor, GgufValue* value) {
  if (array) {
    const bool listed = of.is_integer && value->elements <= kMaxListed;
    return listed ? ReadList(of, value->elements, cursor, &value->number)
                  : cursor->Skip(value->elements, of.bytes);
  }
  std::uint64_t raw = 0;
  if (!cursor->Number(of.bytes, &raw)) return false;
  value->number = IntegerOf(of, raw);
  if (!of.is_integer) value->real = RealOf(of.bytes, raw);
  return true;
}

}  // namespace

Status GgufMetadata::Read(std::uint64_t count, Cursor* cursor) {
  static_assert(kFactKeys.size() <= kMaxFacts);
  if (count > static_cast<std::uint64_t>(cursor->rest()) / kLeastPairBytes) {
    return Unexpected(InvalidInput(
        "the file claims " + std::to_string(count) + " pairs of metadata, more than fit into it",
        "header", std::string(kDamaged)));
  }
  for (std::uint64_t i = 0; i < count; ++i) SY_RETURN_IF_ERROR(ReadPair(cursor));
  return {};
}

Status GgufMetadata::ReadPair(Cursor* cursor) {
  std::uint64_t length = 0, type = 0;
  std::string_view text;
  if (!cursor->Number(8, &length)) return Unexpected(Cut("header"));
  if (length > Cursor::kMaxText) {
    return Unexpected(InvalidInput("a key is " + std::to_string(length) + " bytes long", "header",
                                   std::string(kDamaged)));
  }
  if (!cursor->Text(length, &text)) return Unexpected(Cut("header"));
  const std::string key(text);
  if (!cursor->Number(4, &type)) return Unexpected(Cut(QuotedName(key)));
  GgufValue value;
  const bool array = type == kArray;
  if (array && (!cursor->Number(4, &type) || !cursor->Number(8, &value.elements))) {
    return Unexpected(Cut(QuotedName(key)));
  }
  if (type >= kValueTypes.size() || type == kArray) {
    return Unexpected(
        InvalidInput("the value is of type " + std::to_string(type) + ", " +
                         (type == kArray ? "an array of arrays" : "which is not known"),
                     QuotedName(key), std::string(kDamaged)));
  }
  const ValueType& of = kValueTypes[type];
  const bool read =
      type == kString ? ReadText(array, cursor, &value) : ReadNumbers(of, array, cursor, &value);
  if (!read) return Unexpected(Cut(QuotedName(key)));
  return Keep(key, std::move(value));
}

std::string GgufMetadata::architecture() const {
  const auto found = kept_.find("general.architecture");
  return found == kept_.end() ? std::string() : found->second.text;
}

const GgufValue* GgufMetadata::Find(std::string_view key) const {
  const auto found = kept_.find(architecture().append(".").append(key));
  return found == kept_.end() ? nullptr : &found->second;
}

Status GgufMetadata::Keep(std::string_view key, GgufValue value) {
  if (!key.starts_with(kTokenizer) && kept_.size() < kMaxKept) {
    kept_.emplace(key, value);
  }
  const auto at =
      std::ranges::find_if(kFactKeys, [&](const FactKey& f) { return IsKeyOf(f, key); });
  if (at != kFactKeys.end()) facts_[static_cast<std::size_t>(at - kFactKeys.begin())] = value;
  if (!value.number || value.elements > 0) return {};
  if (key == "general.alignment") {
    alignment_ = *value.number;
    const bool power = alignment_ > 0 && (alignment_ & (alignment_ - 1)) == 0;
    if (!power || alignment_ > kMaxAlignment) {
      return Unexpected(InvalidInput(
          "the alignment is " + std::to_string(alignment_) + ", which is no power of two",
          QuotedName(key), std::string(kDamaged)));
    }
  }
  if (key == "split.no") split_number_ = *value.number;
  if (key == "split.count") split_count_ = *value.number;
  if (key == "split.tensors.count") split_tensors_ = value.number;
  return {};
}

void GgufMetadata::AddFacts(StoredWeights* weights) const {
  for (std::size_t i = 0; i < kFactKeys.size(); ++i) {
    if (!facts_[i]) continue;
    const GgufValue& value = *facts_[i];
    const std::string_view name = kFactKeys[i].name;
    if (value.elements > 0) {
      // Of an array the length counts, as of the vocabulary; numbers for each layer are no fact.
      if (name == "vocabulary") weights->AddFact(name, static_cast<std::int64_t>(value.elements));
    } else if (name == "quantisation") {
      const std::string_view type = value.number ? FileTypeNamed(*value.number) : "";
      if (!type.empty()) weights->AddFact(name, type);
    } else if (value.number && *value.number >= 0) {
      weights->AddFact(name, *value.number);
    } else if (!value.text.empty()) {
      weights->AddFact(name, value.text);
    }
  }
}

}  // namespace steelyard::weights
