// SPDX-License-Identifier: Apache-2.0
//
// A constant whose entry is not as it should be is left out: whoever wants it says so by name.
#include "import/pt2/constants.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "import/json.h"
#include "import/pt2/archive.h"
#include "import/pt2/codes.h"
#include "ir/layout.h"
#include "steelyard/error.h"

namespace steelyard::pt2 {
namespace {

constexpr std::string_view kFolder = "data/constants/";
constexpr int kBitsInByte = 8;
// Of a tensor that has each of its bytes many times.
constexpr std::int64_t kMostElements = std::int64_t{1} << 24;
constexpr std::string_view kConfig = "_constants_config.json";

// What the list of constants says of one.
struct Listed {
  std::string file;
  bool is_pickled = false;
  const DTypeCode* dtype = nullptr;
  std::vector<std::int64_t> sizes, strides;
  std::int64_t offset = 0;

  bool is_row_major() const {
    return offset == 0 && std::ranges::equal(strides, ContiguousStrides(sizes));
  }
  std::int64_t width() const { return BitsOf(dtype->dtype) / kBitsInByte; }  // of an element
  // Whether so many bytes hold it, and it is to be read; of none that is told in another way.
  bool is_in(std::size_t size) const {
    const auto bytes = static_cast<std::int64_t>(size);
    const auto lies_outside = [&](std::int64_t elements) {
      return elements < 0 || elements > bytes;
    };
    if (dtype == nullptr || is_pickled || BitsOf(dtype->dtype) % kBitsInByte != 0 ||
        sizes.size() != strides.size() || sizes.size() > Dims::kMaxRank || lies_outside(offset) ||
        std::ranges::any_of(strides, lies_outside)) {
      return false;
    }
    const std::optional<std::int64_t> count = NumElements(sizes);
    if (!count || *count > std::max(bytes, kMostElements)) return false;
    return CheckLayout(dtype->dtype, sizes, strides) &&
           StorageBytes(dtype->dtype, sizes, strides) <= bytes - offset * width();
  }
};

// The elements row by row, of a tensor that lies in another way.
std::string RowByRow(const Listed& listed, std::string_view bytes) {
  const auto width = static_cast<std::size_t>(listed.width());
  const std::int64_t count = *NumElements(listed.sizes);
  std::string out;
  out.reserve(static_cast<std::size_t>(count) * width);
  for (std::int64_t element = 0; element < count; ++element) {
    std::int64_t left = element, place = listed.offset;
    for (std::size_t dim = listed.sizes.size(); dim-- > 0;) {
      place += left % listed.sizes[dim] * listed.strides[dim];
      left /= listed.sizes[dim];
    }
    out += bytes.substr(static_cast<std::size_t>(place) * width, width);
  }
  return out;
}

// A number, as {"as_int": 4}.
bool ReadNumber(JsonReader& json, JsonValue value, std::int64_t& out) {
  return json.Variant(value, [&](std::string_view kind, JsonValue number) {
    return kind == "as_int" && json.Int(number, out);
  });
}

bool ReadNumbers(JsonReader& json, JsonValue value, std::vector<std::int64_t>& out) {
  return json.Array(
      value, [&](JsonValue element) { return ReadNumber(json, element, out.emplace_back()); });
}

bool ReadMeta(JsonReader& json, JsonValue value, Listed& out) {
  return json.Object(value, [&](std::string_view key, JsonValue field) {
    if (key == "sizes") return ReadNumbers(json, field, out.sizes);
    if (key == "strides") return ReadNumbers(json, field, out.strides);
    if (key == "storage_offset") return ReadNumber(json, field, out.offset);
    std::int64_t code = 0;
    if (key != "dtype") return true;
    if (!json.Int(field, code)) return false;
    out.dtype = FindDType(code);
    return true;
  });
}

bool ReadListed(JsonReader& json, JsonValue value, Listed& out) {
  return json.Object(value, [&](std::string_view key, JsonValue field) {
    std::string_view file;
    if (key == "use_pickle") return json.Bool(field, out.is_pickled);
    if (key == "tensor_meta" && !JsonReader::IsNull(field)) return ReadMeta(json, field, out);
    if (key != "path_name" || !json.Text(field, file)) return key != "path_name";
    out.file = file;
    return true;
  });
}

// By name; empty where it is not as it should be.
std::vector<std::pair<std::string, Listed>> ReadList(const PaddedText& text) {
  std::vector<std::pair<std::string, Listed>> out;
  const JsonText json_text(text);
  if (!json_text.ok()) return {};
  JsonReader json;
  const bool ok = json.Object(json_text.root(), [&](std::string_view key, JsonValue config) {
    if (key != "config") return true;
    return json.Object(config, [&](std::string_view name, JsonValue constant) {
      return ReadListed(json, constant, out.emplace_back(name, Listed{}).second);
    });
  });
  return ok ? std::move(out) : std::vector<std::pair<std::string, Listed>>();
}

std::optional<std::size_t> EntryNamed(const Archive& archive, std::string_view name) {
  for (std::size_t i = 0; i < archive.size(); ++i) {
    if (archive.name(i) == name) return i;
  }
  return std::nullopt;
}

// The entry that lists the constants: "bert/data/constants/model_constants_config.json".
std::optional<std::size_t> ListOf(const Archive& archive) {
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const std::string_view name = archive.name(i);
    if (name.ends_with(kConfig) && name.find(kFolder) != std::string_view::npos) return i;
  }
  return std::nullopt;
}

}  // namespace

Constants Constants::Of(const std::string& path) {
  Constants out;
  const Result<Archive> archive = Archive::Open(path);
  if (!archive) return out;
  const std::optional<std::size_t> list = ListOf(*archive);
  const Result<PaddedText> text = list ? archive->Read(*list) : PaddedText();
  if (!list || !text) return out;
  const std::string_view name = archive->name(*list);
  const std::string folder(name.substr(0, name.rfind('/') + 1));
  for (auto& [constant, listed] : ReadList(*text)) {
    const auto entry = EntryNamed(*archive, folder + listed.file);
    if (!entry) continue;
    Result<PaddedText> bytes = archive->Read(*entry);
    if (!bytes || !listed.is_in(bytes->size())) continue;
    PaddedText elements =
        listed.is_row_major() ? *std::move(bytes) : PaddedText(RowByRow(listed, bytes->view()));
    out.tensors_.emplace(constant,
                         Tensor{listed.dtype->dtype, std::move(listed.sizes), std::move(elements)});
  }
  return out;
}

std::optional<Constants::Found> Constants::Find(std::string_view name) const {
  const auto found = tensors_.find(std::string(name));
  if (found == tensors_.end()) return std::nullopt;
  const Tensor& tensor = found->second;
  return Found{tensor.dtype, tensor.sizes, std::as_bytes(std::span(tensor.bytes.view())).data()};
}

}  // namespace steelyard::pt2
