// SPDX-License-Identifier: Apache-2.0
//
// The architectures, each in a file of its own.
#pragma once

#include "models/model.h"

namespace steelyard::models {

extern const Architecture kGpt2;
extern const Architecture kLlama;

}  // namespace steelyard::models
