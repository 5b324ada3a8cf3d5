// SPDX-License-Identifier: Apache-2.0
#include "support/assert.h"

#include <cstdio>
#include <cstdlib>

namespace steelyard {

void AssertFailed(const char* condition, const char* why, const char* file, int line) {
  std::fprintf(stderr, "steelyard: internal error: %s (%s, %s:%d). Please report it.\n", why,
               condition, file, line);
  std::abort();
}

}  // namespace steelyard
