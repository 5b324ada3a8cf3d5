// SPDX-License-Identifier: Apache-2.0
#include "models/registry.h"

#include <algorithm>
#include <array>

namespace steelyard::models {
namespace {

constexpr std::array kArchitectures{
    &kAlbert,     &kArcee,          &kBart,       &kBert,    &kBloom,      &kCamembert,
    &kClip,       &kClipText,       &kClipVision, &kCohere,  &kCohere2,    &kConvNext,
    &kDebertaV2,  &kDeepseekV3,     &kDeit,       &kDinov2,  &kDistilBert, &kElectra,
    &kErnie45,    &kExaone4,        &kGemma,      &kGemma2,  &kGemma3Text, &kGlm,
    &kGlm4,       &kGlm4Moe,        &kGpt2,       &kGptNeoX, &kGptOss,     &kGranite,
    &kGraniteMoe, &kHunYuanDenseV1, &kLlama,      &kMamba2,  &kMinistral,  &kMistral,
    &kMixtral,    &kModernBert,     &kMpnet,      &kMt5,     &kOlmo,       &kOlmo2,
    &kOlmo3,      &kOlmoe,          &kOpt,        &kPhi,     &kPhi3,       &kQwen2,
    &kQwen2Moe,   &kQwen3,          &kQwen3Moe,   &kRoberta, &kSeedOss,    &kSmolLm3,
    &kStableLm,   &kStarcoder2,     &kSwin,       &kT5,      &kUmt5,       &kVit,
    &kWhisper,    &kXlmRoberta};

constexpr std::array kAttentions{AttentionRow{"sdpa", Attention::kSdpa},
                                 AttentionRow{"eager", Attention::kEager},
                                 AttentionRow{"flash", Attention::kFlash}};

}  // namespace

std::span<const AttentionRow> Attentions() { return kAttentions; }

std::optional<Attention> AttentionNamed(std::string_view name) {
  if (name.empty()) return kAttentions.front().attention;
  const auto row = std::ranges::find(kAttentions, name, &AttentionRow::name);
  return row == kAttentions.end() ? std::nullopt : std::optional(row->attention);
}

std::span<const Architecture* const> Architectures() { return kArchitectures; }

const Architecture* FindArchitecture(std::string_view type) {
  const auto found =
      std::ranges::find(kArchitectures, type, [](const Architecture* one) { return one->type; });
  return found == kArchitectures.end() ? nullptr : *found;
}

}  // namespace steelyard::models
