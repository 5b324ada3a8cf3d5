// SPDX-License-Identifier: Apache-2.0
#include "import/hf_config/hf_config_importer.h"
#include "import/onnx/onnx_importer.h"
#include "import/pt2/pt2_importer.h"
#include "import/text/text_importer.h"
#include "import/weights/gguf_importer.h"
#include "import/weights/safetensors_importer.h"
#include "steelyard/import.h"

namespace steelyard {

std::span<const Importer> Importers() {
  static const Importer kImporters[] = {kPt2Importer,         kOnnxImporter, kHfConfigImporter,
                                        kSafetensorsImporter, kGgufImporter, kTextImporter};
  return kImporters;
}

}  // namespace steelyard
