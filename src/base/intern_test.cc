#include "base/intern.h"

#include <gtest/gtest.h>

#include <map>

#include "base/hash.h"
#include "base/property_seeds.h"

namespace berth::intern_test {

std::uint64_t good_digest(const int& value) { return Hasher().add(std::int64_t{value}).digest(); }
std::uint64_t one_digest_for_all(const int&) { return 15; }

template <class Table>
void expect_numbers_in_order_of_arrival(Seed seed) {
  SCOPED_TRACE(name_of(seed));
  Rng rng(seed);
  Table table;
  std::map<int, std::size_t> number_of;
  for (int step = 0; step < 1000; ++step) {
    const int value = static_cast<int>(rng.below(300));
    const std::size_t number = table.intern(value);
    const auto [known, is_new] = number_of.emplace(value, number_of.size());
    ASSERT_EQ(number, known->second);
    ASSERT_EQ(table[number], value);
    ASSERT_EQ(table.size(), number_of.size());
    ASSERT_EQ(table.values().size(), number_of.size());
  }
}

TEST(InternTableProperty, NumbersValuesInTheOrderOfArrival) {
  for (const Seed seed : property_seeds(20)) {
    expect_numbers_in_order_of_arrival<InternTable<int, good_digest>>(seed);
    expect_numbers_in_order_of_arrival<InternTable<int, one_digest_for_all>>(seed);
    if (HasFailure()) return;
  }
}

}  // namespace berth::intern_test
