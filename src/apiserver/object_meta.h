// What the server itself writes into an object's metadata, and what it demands of the rest: names, uids, times,
// generations, finalizers, who created it.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/api_error.h"
#include "apiserver/user.h"
#include "base/rng.h"
#include "base/time.h"
#include "manifest/kinds.h"
#include "manifest/labels.h"
#include "manifest/value.h"

namespace berth {

// Where uids and generated names come from. Any thread may draw.
class NameDice {
 public:
  explicit NameDice(std::uint64_t seed);  // 0 = from the system
  std::string uid();                      // UUID, version 4
  std::string suffix();                   // five letters that spell no words
  std::uint64_t below(std::uint64_t bound);

 private:
  std::mutex mutex_;
  Rng rng_;
};

inline constexpr int kGenerateNameTriesMax = 8;
// `generateName` cut so that the suffix still fits, and the suffix.
std::string generated_name(std::string_view prefix, NameDice& dice);

bool is_dns_label(std::string_view text);      // RFC 1123, at most 63
bool is_dns_subdomain(std::string_view text);  // at most 253

// Everything wrong with apart from what its kind says: names, labels, annotations, finalizers, owners.
std::vector<ErrorCause> check_metadata(const KindInfo& kind, const Value& object);

// Of a new object: what only the server may say. The name is in it already.
void begin_metadata(const KindInfo& kind, Value& object, NameDice& dice, Time now);
// Of a changed one: what only the server may say stays as it was.
void keep_metadata(const Value& before, Value& object);
// One more if what the kind counts (the spec) differs.
void count_generation(const KindInfo& kind, const Value& before, Value& object);

// The object without what every write touches: equal when a write changes nothing.
bool same_content(const Value& a, const Value& b);

// Whether something still has to happen before an object that is being deleted may go.
bool has_finalizers(const KindInfo& kind, const Value& object);
bool has_finalizer(const Value& object, std::string_view finalizer);
void add_finalizer(Value& object, std::string_view finalizer);
// Finalizers that `object` has and `before`, which is being deleted, had not.
std::vector<ErrorCause> check_no_new_finalizers(const Value& before, const Value& object);

// kUserAnnotation says who created a job, pod or workload. Clients can neither set nor change it; Berth's controllers hand
// on their job's.
void stamp_user(const KindInfo& kind, const Value& before, Value& object, const User& user);

}  // namespace berth
