// SPDX-License-Identifier: Apache-2.0
#include "import/weights/tensor_file.h"

#include <cstring>
#include <utility>

#include "import/weights/safetensors_header.h"

namespace steelyard::weights {

TensorFile::TensorFile(MemoryMap map, std::unique_ptr<StoredWeights> stored)
    : map_(std::move(map)), stored_(std::move(stored)) {
  std::uint64_t header = 0;
  std::memcpy(&header, map_.bytes().data(), sizeof header);
  data_ = sizeof header + static_cast<std::size_t>(header);
  for (std::size_t i = 0; i < stored_->tensors.size(); ++i) {
    places_.emplace(stored_->NameOf(stored_->tensors[i]), i);
  }
}

Result<TensorFile> TensorFile::Open(const std::string& path) {
  auto stored = std::make_unique<StoredWeights>();
  SY_RETURN_IF_ERROR(ReadSafetensors(path, 0, stored.get()));
  Result<MemoryMap> map = MemoryMap::Open(path);
  if (!map) return Unexpected(Within(path, std::move(map).error()));
  return TensorFile(*std::move(map), std::move(stored));
}

std::optional<TensorFile::Found> TensorFile::Find(std::string_view name) const {
  const auto found = places_.find(name);
  if (found == places_.end()) return std::nullopt;
  const StoredTensor& tensor = stored_->tensors[found->second];
  return Found{tensor.dtype, stored_->SizesOf(tensor),
               map_.bytes().data() + data_ + static_cast<std::size_t>(tensor.begin)};
}

}  // namespace steelyard::weights
