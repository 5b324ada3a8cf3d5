// SPDX-License-Identifier: Apache-2.0
#include "execute/tensor_writer.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>
#include <utility>

namespace steelyard {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kDTypes{{
    {"float32", "F32"},
    {"float64", "F64"},
    {"float16", "F16"},
    {"bfloat16", "BF16"},
    {"int64", "I64"},
    {"int32", "I32"},
    {"int16", "I16"},
    {"int8", "I8"},
    {"uint8", "U8"},
    {"uint16", "U16"},
    {"uint32", "U32"},
    {"uint64", "U64"},
    {"bool", "BOOL"},
    {"complex64", "C64"},
    {"float8_e4m3fn", "F8_E4M3"},
}};

std::string Escaped(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

}  // namespace

Status TensorWriter::Add(std::string_view name, const SyElements& elements) {
  const std::string_view dtype = elements.layout.dtype;
  const auto* const found =
      std::ranges::find(kDTypes, dtype, [](const auto& row) { return row.first; });
  if (found == kDTypes.end()) {
    return Unexpected(
        Unsupported(fmt::format("safetensors cannot hold {}", dtype), std::string(name)));
  }
  const std::size_t begin = data_.size();
  const auto* const bytes = static_cast<const char*>(elements.bytes);
  data_.insert(data_.end(), bytes, bytes + elements.byte_count);
  header_ += fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                         header_.empty() ? "" : ",", Escaped(name), found->second,
                         fmt::join(std::span(elements.layout.sizes, elements.layout.rank), ","),
                         begin, data_.size());
  return {};
}

Status TensorWriter::Write(const std::string& path) const {
  const std::string header = "{" + header_ + "}";
  const std::uint64_t length = header.size();
  // Beside it first: the file of that name may be the one that the weights are read from.
  const std::string part = path + ".part";
  std::ofstream file(part, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << header;
  file.write(data_.data(), static_cast<std::streamsize>(data_.size()));
  file.close();
  std::error_code problem;
  if (file) std::filesystem::rename(part, path, problem);
  if (file && !problem) return {};
  std::filesystem::remove(part, problem);
  return Unexpected(InvalidInput("it cannot be written", path,
                                 "Name a file, in a folder that exists, which you may write."));
}

}  // namespace steelyard
