// SPDX-License-Identifier: Apache-2.0
//
// The architectures, each in a file of its own.
#pragma once

#include "models/model.h"

namespace steelyard::models {

extern const Architecture kAlbert;
extern const Architecture kArcee;
extern const Architecture kBart;
extern const Architecture kBert;
extern const Architecture kBloom;
extern const Architecture kCamembert;
extern const Architecture kClip;
extern const Architecture kClipText;
extern const Architecture kClipVision;
extern const Architecture kCohere;
extern const Architecture kCohere2;
extern const Architecture kConvNext;
extern const Architecture kDebertaV2;
extern const Architecture kDeepseekV3;
extern const Architecture kDeit;
extern const Architecture kDinov2;
extern const Architecture kDistilBert;
extern const Architecture kElectra;
extern const Architecture kErnie45;
extern const Architecture kExaone4;
extern const Architecture kGemma;
extern const Architecture kGemma2;
extern const Architecture kGemma3Text;
extern const Architecture kGlm;
extern const Architecture kGlm4;
extern const Architecture kGlm4Moe;
extern const Architecture kGpt2;
extern const Architecture kGptNeoX;
extern const Architecture kGptOss;
extern const Architecture kGranite;
extern const Architecture kGraniteMoe;
extern const Architecture kHunYuanDenseV1;
extern const Architecture kLlama;
extern const Architecture kMamba2;
extern const Architecture kMinistral;
extern const Architecture kMistral;
extern const Architecture kMixtral;
extern const Architecture kModernBert;
extern const Architecture kMpnet;
extern const Architecture kMt5;
extern const Architecture kOlmo;
extern const Architecture kOlmo2;
extern const Architecture kOlmo3;
extern const Architecture kOlmoe;
extern const Architecture kOpt;
extern const Architecture kPhi;
extern const Architecture kPhi3;
extern const Architecture kQwen2;
extern const Architecture kQwen2Moe;
extern const Architecture kQwen3;
extern const Architecture kQwen3Moe;
extern const Architecture kRoberta;
extern const Architecture kSeedOss;
extern const Architecture kSmolLm3;
extern const Architecture kStableLm;
extern const Architecture kStarcoder2;
extern const Architecture kSwin;
extern const Architecture kT5;
extern const Architecture kUmt5;
extern const Architecture kVit;
extern const Architecture kWhisper;
extern const Architecture kXlmRoberta;

}  // namespace steelyard::models
