// SPDX-License-Identifier: Apache-2.0
//
// Reads ONNX models (docs/onnx.md).
#pragma once

#include "steelyard/import.h"

namespace steelyard {

extern const Importer kOnnxImporter;

}  // namespace steelyard
