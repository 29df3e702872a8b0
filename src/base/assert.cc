#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace berth {

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "berth: internal error: %s:%d: %s does not hold; please report it with the journal\n", file,
               line, condition);
  std::abort();
}

}  // namespace berth
