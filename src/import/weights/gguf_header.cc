// SPDX-License-Identifier: Apache-2.0
//
// Decides what of a GGUF file is believed: no count that the rest of the file could not hold, no
// row that is not whole blocks of its type, no place outside the data. The byte order is the one in
// which the version is a small number. Sizes are turned round, since ggml has the innermost first.

#include "import/weights/gguf_header.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "import/weights/cursor.h"
#include "import/weights/file.h"
#include "import/weights/ggml_types.h"
#include "support/checked.h"

namespace steelyard::weights {
namespace {

constexpr std::string_view kCut = "The file is cut short: is the download or the copy complete?";
constexpr std::string_view kDamaged = "The file is damaged or forged.";
constexpr std::uint64_t kMaxDimensions = 4;                     // GGML_MAX_DIMS
constexpr std::uint64_t kLeastTensorBytes = 8 + 1 + 4 + 4 + 8;  // without a dimension
constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 62U;

Error Cut(std::string where) {
  return InvalidInput("the descriptions of the tensors do not end within the file",
                      std::move(where), std::string(kCut));
}

// Reads the magic number and the version, and finds the byte order by it.
Status ReadVersion(Cursor* cursor) {
  std::uint64_t magic = 0, version = 0;
  constexpr std::uint64_t kMagic = 0x46554747;  // "GGUF"
  if (!cursor->Number(4, &magic) || magic != kMagic) {
    return Unexpected(
        InvalidInput("it does not begin with GGUF", "header", "Is it the file that was meant?"));
  }
  if (!cursor->Number(4, &version)) return Unexpected(Cut("header"));
  constexpr std::uint64_t kSwappedBits = 0xffffff;
  if (version > kSwappedBits && (version & kSwappedBits) == 0) {
    version >>= 24U;
    cursor->set_order(ByteOrder::kBig);
  }
  if (version == 2 || version == 3) return {};
  return Unexpected(Unsupported(
      "it is version " + std::to_string(version) + " of the format; 2 and 3 are read", "header",
      version == 1 ? "Convert it with llama.cpp's gguf tools of 2023, or the model again."
                   : "Is the file of a newer llama.cpp than this Steelyard?"));
}

class TensorReader {
 public:
  TensorReader(Cursor* cursor, std::uint32_t file, std::int64_t alignment, StoredWeights* weights)
      : cursor_(*cursor), file_(file), alignment_(alignment), weights_(*weights) {}

  Status Read() {
    std::uint64_t length = 0;
    std::string_view text;
    if (!cursor_.Number(8, &length)) return Unexpected(Cut("header"));
    if (length > Cursor::kMaxText) {
      return Unexpected(InvalidInput("a tensor's name is " + std::to_string(length) + " bytes long",
                                     "header", std::string(kDamaged)));
    }
    if (!cursor_.Text(length, &text)) return Unexpected(Cut("header"));
    const std::string name(text);
    Status read = ReadNamed(name);
    if (!read) return Unexpected(Within(QuotedName(name), std::move(read).error()));
    return {};
  }

 private:
  Status ReadNamed(const std::string& name) {
    SY_ASSIGN_OR_RETURN(const StringId id, weights_.TakeName(name));
    StoredTensor tensor{.name = id, .file = file_};
    SY_RETURN_IF_ERROR(ReadSizes(&tensor));
    std::uint64_t type = 0, offset = 0;
    if (!cursor_.Number(4, &type) || !cursor_.Number(8, &offset)) return Unexpected(Cut({}));
    const GgmlType* known = FindGgmlType(static_cast<std::uint32_t>(type));
    if (known == nullptr) {
      return Unexpected(Unsupported("the ggml type " + std::to_string(type) + " is not known", {},
                                    "Is the file of a newer llama.cpp than this Steelyard?"));
    }
    SY_RETURN_IF_ERROR(SetBytes(*known, &tensor));
    if (offset > kMaxSize || static_cast<std::int64_t>(offset) % alignment_ != 0) {
      return Unexpected(InvalidInput("it begins at " + std::to_string(offset) +
                                         ", which is no multiple of the alignment, " +
                                         std::to_string(alignment_),
                                     {}, std::string(kDamaged)));
    }
    tensor.begin = static_cast<std::int64_t>(offset);
    weights_.tensors.push_back(tensor);
    return {};
  }

  // ggml has the dimension along which elements are neighbours first, PyTorch last.
  Status ReadSizes(StoredTensor* tensor) {
    std::uint64_t rank = 0;
    if (!cursor_.Number(4, &rank)) return Unexpected(Cut({}));
    if (rank > kMaxDimensions) {
      return Unexpected(
          InvalidInput("it has " + std::to_string(rank) + " dimensions; ggml has at most 4", {},
                       std::string(kDamaged)));
    }
    tensor->sizes = static_cast<std::uint32_t>(weights_.sizes.size());
    tensor->rank = static_cast<std::uint8_t>(rank);
    for (std::uint64_t i = 0; i < rank; ++i) {
      std::uint64_t size = 0;
      if (!cursor_.Number(8, &size)) return Unexpected(Cut({}));
      if (size > kMaxSize) {
        return Unexpected(
            InvalidInput("a size is " + std::to_string(size), {}, std::string(kDamaged)));
      }
      weights_.sizes.push_back(static_cast<std::int64_t>(size));
    }
    std::reverse(weights_.sizes.begin() + tensor->sizes, weights_.sizes.end());
    return {};
  }

  Status SetBytes(const GgmlType& type, StoredTensor* tensor) {
    const std::span<const std::int64_t> sizes = weights_.SizesOf(*tensor);
    const std::int64_t row = sizes.empty() ? 1 : sizes.back();
    if (row % type.block_elements != 0) {
      return Unexpected(InvalidInput(
          "rows of " + std::to_string(row) + " elements are no blocks of " +
              std::to_string(type.block_elements) + ", as " + std::string(type.name) + " has them",
          {}, std::string(kDamaged)));
    }
    CheckedInt elements = 1;
    for (const std::int64_t size : sizes) elements = elements * CheckedInt(size);
    CheckedInt bytes = 0;
    if (elements.ok())
      bytes = CheckedInt(elements.value() / type.block_elements) * type.block_bytes;
    if (!elements.ok() || !bytes.ok() || bytes.value() > static_cast<std::int64_t>(kMaxSize)) {
      return Unexpected(
          InvalidInput("it has more bytes than fit in 63 bits", {}, std::string(kDamaged)));
    }
    tensor->bytes = bytes.value();
    tensor->dtype = type.dtype.value_or(DType::kFloat32);
    if (!type.dtype) tensor->packing = weights_.program.strings.Intern(type.name);
    return {};
  }

  Cursor& cursor_;
  const std::uint32_t file_;
  const std::int64_t alignment_;
  StoredWeights& weights_;
};

// Up to the first tensor. Gives how many there are.
Result<std::uint64_t> ReadPairs(Cursor* cursor, GgufMetadata* metadata) {
  SY_RETURN_IF_ERROR(ReadVersion(cursor));
  std::uint64_t tensors = 0, pairs = 0;
  if (!cursor->Number(8, &tensors) || !cursor->Number(8, &pairs)) return Unexpected(Cut("header"));
  SY_RETURN_IF_ERROR(metadata->Read(pairs, cursor));
  return tensors;
}

Result<GgufSplit> ReadHeader(const File& stored, std::uint32_t file, StoredWeights* weights) {
  Cursor cursor(stored);
  GgufMetadata metadata;
  SY_ASSIGN_OR_RETURN(const std::uint64_t tensors, ReadPairs(&cursor, &metadata));
  if (file == 0) metadata.AddFacts(weights);
  if (tensors > static_cast<std::uint64_t>(cursor.rest()) / kLeastTensorBytes) {
    return Unexpected(InvalidInput(
        "the file claims " + std::to_string(tensors) + " tensors, more than fit into it", "header",
        std::string(kDamaged)));
  }
  const std::size_t first = weights->tensors.size();
  TensorReader reader(&cursor, file, metadata.alignment(), weights);
  for (std::uint64_t i = 0; i < tensors; ++i) SY_RETURN_IF_ERROR(reader.Read());
  const std::int64_t begin =
      (cursor.position() + metadata.alignment() - 1) / metadata.alignment() * metadata.alignment();
  SY_RETURN_IF_ERROR(
      CheckPlaces(*weights, first, std::max<std::int64_t>(stored.size() - begin, 0), {}));
  return GgufSplit{.number = metadata.split_number(),
                   .count = metadata.split_count(),
                   .tensors = metadata.split_tensors()};
}

}  // namespace

Result<GgufSplit> ReadGguf(const std::string& path, std::uint32_t file, StoredWeights* weights) {
  SY_ASSIGN_OR_RETURN(const File stored, File::Open(path));
  Result<GgufSplit> split = ReadHeader(stored, file, weights);
  if (!split) return Unexpected(Within(path, std::move(split).error()));
  return split;
}

Result<GgufMetadata> ReadGgufMetadata(const std::string& path) {
  SY_ASSIGN_OR_RETURN(const File stored, File::Open(path));
  Cursor cursor(stored);
  GgufMetadata metadata;
  const Result<std::uint64_t> tensors = ReadPairs(&cursor, &metadata);
  if (!tensors) return Unexpected(Within(path, tensors.error()));
  return metadata;
}

}  // namespace steelyard::weights
