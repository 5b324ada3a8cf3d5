// SPDX-License-Identifier: Apache-2.0
#include "models/registry.h"

#include <algorithm>
#include <array>

namespace steelyard::models {
namespace {

constexpr std::array kArchitectures{
    &kAlbert,     &kBart,      &kBert,       &kBloom,      &kClip,    &kClipText, &kClipVision,
    &kConvNext,   &kDebertaV2, &kDeepseekV3, &kDistilBert, &kElectra, &kGemma,    &kGemma2,
    &kGemma3Text, &kGpt2,      &kGptNeoX,    &kLlama,      &kMistral, &kMixtral,  &kModernBert,
    &kOpt,        &kPhi3,      &kQwen2,      &kQwen2Moe,   &kQwen3,   &kQwen3Moe, &kRoberta,
    &kSwin,       &kT5,        &kVit,        &kWhisper};

}  // namespace

std::optional<Attention> AttentionNamed(std::string_view name) {
  if (name.empty() || name == "sdpa") return Attention::kSdpa;
  if (name == "eager") return Attention::kEager;
  return std::nullopt;
}

std::span<const Architecture* const> Architectures() { return kArchitectures; }

const Architecture* FindArchitecture(std::string_view type) {
  const auto found =
      std::ranges::find(kArchitectures, type, [](const Architecture* one) { return one->type; });
  return found == kArchitectures.end() ? nullptr : *found;
}

}  // namespace steelyard::models
