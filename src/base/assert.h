// What we believe, checked in every build: a scheduler that runs on with a broken ledger hands one GPU to two tenants.
// Only for our own mistakes; whatever a user or the world can cause is a Result or an answer.
#pragma once

namespace berth {

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace berth

#define BERTH_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::berth::assertion_failed(#condition, __FILE__, __LINE__))
