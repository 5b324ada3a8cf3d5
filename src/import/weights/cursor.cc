// SPDX-License-Identifier: Apache-2.0
#include "import/weights/cursor.h"

#include <algorithm>

namespace steelyard::weights {

bool Cursor::Number(std::size_t bytes, std::uint64_t* out) {
  const char* at = Take(bytes);
  if (at == nullptr) return false;
  *out = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::size_t place = order_ == ByteOrder::kLittle ? bytes - 1 - i : i;
    *out = *out << 8U | static_cast<unsigned char>(at[place]);
  }
  return true;
}

bool Cursor::Skip(std::uint64_t bytes) {
  if (bytes > static_cast<std::uint64_t>(rest())) return false;
  position_ += static_cast<std::int64_t>(bytes);
  return true;
}

bool Cursor::Skip(std::uint64_t count, std::uint64_t bytes) {
  return count <= static_cast<std::uint64_t>(rest()) / bytes && Skip(count * bytes);
}

bool Cursor::Text(std::size_t bytes, std::string_view* out) {
  const char* at = Take(bytes);
  if (at == nullptr) return false;
  *out = {at, bytes};
  return true;
}

const char* Cursor::Take(std::size_t bytes) {
  if (static_cast<std::int64_t>(bytes) > rest()) return nullptr;
  const auto inside = static_cast<std::size_t>(position_ - window_begin_);
  if (inside + bytes > window_.size()) {
    window_begin_ = position_;
    window_.resize(std::min(kWindow, static_cast<std::size_t>(rest())));
    if (!file_.Read(window_begin_, window_)) {
      window_.clear();
      return nullptr;
    }
  }
  const char* at = window_.data() + (position_ - window_begin_);
  position_ += static_cast<std::int64_t>(bytes);
  return at;
}

}  // namespace steelyard::weights
