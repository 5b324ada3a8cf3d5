// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/pt2_importer.h"
#include "import/text/text_importer.h"
#include "steelyard/import.h"

namespace steelyard {

std::span<const Importer> Importers() {
  static const Importer kImporters[] = {kPt2Importer, kTextImporter};
  return kImporters;
}

}  // namespace steelyard
