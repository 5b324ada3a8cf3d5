// SPDX-License-Identifier: Apache-2.0
//
// Numbers and sizes are those of ggml.h and ggml-common.h of llama.cpp; tests/python/
// test_weights_peers.py holds them to the table of the package gguf. Of the types that llama.cpp
// has removed, those stay that files were published with.
#include "import/weights/ggml_types.h"

#include <algorithm>
#include <array>

namespace steelyard::weights {
namespace {

constexpr GgmlType Plain(std::uint32_t number, std::string_view name, std::int64_t bytes,
                         DType dtype) {
  return {number, name, 1, bytes, dtype};
}
constexpr GgmlType Blocks(std::uint32_t number, std::string_view name, std::int64_t elements,
                          std::int64_t bytes) {
  return {number, name, elements, bytes, std::nullopt};
}

constexpr std::array kTypes = {
    Plain(0, "float32", 4, DType::kFloat32),
    Plain(1, "float16", 2, DType::kFloat16),
    Blocks(2, "q4_0", 32, 18),
    Blocks(3, "q4_1", 32, 20),
    Blocks(6, "q5_0", 32, 22),
    Blocks(7, "q5_1", 32, 24),
    Blocks(8, "q8_0", 32, 34),
    Blocks(9, "q8_1", 32, 40),
    Blocks(10, "q2_k", 256, 84),
    Blocks(11, "q3_k", 256, 110),
    Blocks(12, "q4_k", 256, 144),
    Blocks(13, "q5_k", 256, 176),
    Blocks(14, "q6_k", 256, 210),
    Blocks(15, "q8_k", 256, 292),
    Blocks(16, "iq2_xxs", 256, 66),
    Blocks(17, "iq2_xs", 256, 74),
    Blocks(18, "iq3_xxs", 256, 98),
    Blocks(19, "iq1_s", 256, 50),
    Blocks(20, "iq4_nl", 32, 18),
    Blocks(21, "iq3_s", 256, 110),
    Blocks(22, "iq2_s", 256, 82),
    Blocks(23, "iq4_xs", 256, 136),
    Plain(24, "int8", 1, DType::kInt8),
    Plain(25, "int16", 2, DType::kInt16),
    Plain(26, "int32", 4, DType::kInt32),
    Plain(27, "int64", 8, DType::kInt64),
    Plain(28, "float64", 8, DType::kFloat64),
    Blocks(29, "iq1_m", 256, 56),
    Plain(30, "bfloat16", 2, DType::kBFloat16),
    Blocks(31, "q4_0_4_4", 32, 18),
    Blocks(32, "q4_0_4_8", 32, 18),
    Blocks(33, "q4_0_8_8", 32, 18),
    Blocks(34, "tq1_0", 256, 54),
    Blocks(35, "tq2_0", 256, 66),
    Blocks(36, "iq4_nl_4_4", 32, 18),
    Blocks(39, "mxfp4", 32, 17),
    Blocks(40, "nvfp4", 64, 36),
    Blocks(41, "q1_0", 128, 18),
};

struct FileType {
  std::int64_t number;
  std::string_view name;
};
constexpr std::array kFileTypes = {
    FileType{0, "F32"},       FileType{1, "F16"},       FileType{2, "Q4_0"},
    FileType{3, "Q4_1"},      FileType{7, "Q8_0"},      FileType{8, "Q5_0"},
    FileType{9, "Q5_1"},      FileType{10, "Q2_K"},     FileType{11, "Q3_K_S"},
    FileType{12, "Q3_K_M"},   FileType{13, "Q3_K_L"},   FileType{14, "Q4_K_S"},
    FileType{15, "Q4_K_M"},   FileType{16, "Q5_K_S"},   FileType{17, "Q5_K_M"},
    FileType{18, "Q6_K"},     FileType{19, "IQ2_XXS"},  FileType{20, "IQ2_XS"},
    FileType{21, "Q2_K_S"},   FileType{22, "IQ3_XS"},   FileType{23, "IQ3_XXS"},
    FileType{24, "IQ1_S"},    FileType{25, "IQ4_NL"},   FileType{26, "IQ3_S"},
    FileType{27, "IQ3_M"},    FileType{28, "IQ2_S"},    FileType{29, "IQ2_M"},
    FileType{30, "IQ4_XS"},   FileType{31, "IQ1_M"},    FileType{32, "BF16"},
    FileType{33, "Q4_0_4_4"}, FileType{34, "Q4_0_4_8"}, FileType{35, "Q4_0_8_8"},
    FileType{36, "TQ1_0"},    FileType{37, "TQ2_0"},    FileType{38, "MXFP4_MOE"},
    FileType{39, "NVFP4"},    FileType{40, "Q1_0"},
};

}  // namespace

std::span<const GgmlType> GgmlTypes() { return kTypes; }

const GgmlType* FindGgmlType(std::uint32_t number) {
  const auto found = std::ranges::find(kTypes, number, &GgmlType::number);
  return found == kTypes.end() ? nullptr : found;
}

std::string_view FileTypeNamed(std::int64_t number) {
  const auto found = std::ranges::find(kFileTypes, number, &FileType::number);
  return found == kFileTypes.end() ? std::string_view() : found->name;
}

}  // namespace steelyard::weights
