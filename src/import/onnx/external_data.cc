// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/external_data.h"

#include <system_error>
#include <utility>

namespace steelyard::onnx {
namespace {

// ONNX allows names of files in the model's folder and in folders within it.
bool IsWithin(const std::filesystem::path& location) {
  if (location.empty() || location.is_absolute()) return false;
  for (const std::filesystem::path& part : location) {
    if (part == "..") return false;
  }
  return true;
}

std::optional<MemoryMap> Opened(const std::filesystem::path& path) {
  std::error_code ignored;
  // Opening a pipe would wait for a writer.
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  Result<MemoryMap> map = MemoryMap::Open(path.string());
  if (!map) return std::nullopt;
  return *std::move(map);
}

}  // namespace

std::optional<std::string_view> ExternalData::Bytes(std::string_view location, std::int64_t offset,
                                                    std::size_t size) {
  // As text: a path would end at a zero byte.
  if (location.find('\0') != std::string_view::npos || !IsWithin(location)) return std::nullopt;
  auto file = files_.find(location);
  if (file == files_.end()) {
    file = files_.emplace(std::string(location), Opened(folder_ / location)).first;
  }
  if (!file->second) return std::nullopt;
  const std::string_view bytes = file->second->bytes();
  if (offset < 0 || static_cast<std::uint64_t>(offset) > bytes.size()) return std::nullopt;
  const std::string_view rest = bytes.substr(static_cast<std::size_t>(offset));
  if (rest.size() < size) return std::nullopt;
  return rest.substr(0, size);
}

}  // namespace steelyard::onnx
