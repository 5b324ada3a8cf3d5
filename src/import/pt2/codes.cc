// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/codes.h"

#include <iterator>

namespace steelyard::pt2 {
namespace {

constexpr DTypeCode kDTypes[] = {
    {1, DType::kUInt8},           {2, DType::kInt8},
    {3, DType::kInt16},           {4, DType::kInt32},
    {5, DType::kInt64},           {6, DType::kFloat16},
    {7, DType::kFloat32},         {8, DType::kFloat64},
    {9, DType::kComplex32},       {10, DType::kComplex64},
    {11, DType::kComplex128},     {12, DType::kBool},
    {13, DType::kBFloat16},       {28, DType::kUInt16},
    {29, DType::kFloat8E4M3},     {30, DType::kFloat8E5M2},
    {31, DType::kFloat8E4M3FNUZ}, {32, DType::kFloat8E5M2FNUZ},
    {33, DType::kFloat8E8M0},     {34, DType::kUInt32},
    {35, DType::kUInt64},
};

// By code. Zero is "Unknown".
constexpr std::string_view kLayouts[] = {"",           "sparse_coo", "sparse_csr", "sparse_csc",
                                         "sparse_bsr", "sparse_bsc", "_mkldnn",    "strided"};
constexpr std::string_view kMemoryFormats[] = {"", "contiguous_format", "channels_last",
                                               "channels_last_3d", "preserve_format"};

template <std::size_t kSize>
std::string_view At(const std::string_view (&names)[kSize], std::int64_t code) {
  return code < 0 || code >= std::ssize(names) ? std::string_view()
                                               : names[static_cast<std::size_t>(code)];
}

std::string Joined(std::string_view space, std::string_view name) {
  std::string out(space);
  return out.append("::").append(name);
}

}  // namespace

const DTypeCode* FindDType(std::int64_t code) {
  for (const DTypeCode& row : kDTypes) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

std::string_view LayoutNamed(std::int64_t code) { return At(kLayouts, code); }

std::string_view MemoryFormatNamed(std::int64_t code) { return At(kMemoryFormats, code); }

std::string OpNameOf(std::string_view target) {
  constexpr std::string_view kOps = "torch.ops.";
  constexpr std::string_view kDefault = ".default";
  if (target.starts_with(kOps)) {
    target.remove_prefix(kOps.size());
    const std::size_t dot = target.find('.');
    if (dot == std::string_view::npos) return std::string(target);
    std::string_view name = target.substr(dot + 1);
    if (name.ends_with(kDefault)) name.remove_suffix(kDefault.size());
    return Joined(target.substr(0, dot), name);
  }
  if (target.starts_with('#')) {
    const std::size_t colon = target.find(':');
    if (colon == std::string_view::npos) return std::string(target);
    return Joined(target.substr(1, colon - 1), target.substr(colon + 1));
  }
  // A Python function: "_operator.mul", "math.ceil", "torch.sym_max".
  const std::size_t dot = target.rfind('.');
  if (dot == std::string_view::npos) return std::string(target);
  if (target.starts_with('_') && target.starts_with("_operator.")) target.remove_prefix(1);
  const std::size_t split = target.rfind('.');
  return Joined(target.substr(0, split), target.substr(split + 1));
}

}  // namespace steelyard::pt2
