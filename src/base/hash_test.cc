#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace berth::hash_test {

TEST(Hasher, GivesTheSameDigestEverywhere) {
  // Journals hold digests: these may never change.
  EXPECT_EQ(Hasher().digest(), 0u);
  EXPECT_EQ(Hasher().add(std::uint64_t{1}).digest(), 0x910a2dec89025cc1ULL);
  EXPECT_EQ(Hasher().add(std::string_view("berth")).digest(), 5427461136543385825ULL);
}

TEST(Hasher, TakesAnIntegerByItsValueNotByItsType) {
  EXPECT_EQ(Hasher().add(std::int32_t{-1}).digest(), Hasher().add(std::int64_t{-1}).digest());
  EXPECT_EQ(Hasher().add(std::uint32_t{7}).digest(), Hasher().add(std::uint64_t{7}).digest());
}

TEST(Hasher, TellsApartWhatDiffers) {
  const auto text = [](std::string_view a, std::string_view b) { return Hasher().add(a).add(b).digest(); };
  std::set<std::uint64_t> digests = {
      text("ab", "c"),
      text("a", "bc"),
      text("", "abc"),
      text("abc", ""),
      text("c", "ab"),
      text("12345678", ""),
      text("12345678", std::string_view("\0", 1)),
      text(std::string_view("\0", 1), "12345678"),
      text("123456789", ""),
      Hasher().add(std::uint64_t{1}).add(std::uint64_t{2}).digest(),
      Hasher().add(std::uint64_t{2}).add(std::uint64_t{1}).digest(),
      Hasher().add(std::uint64_t{0}).digest(),
      Hasher().add(std::uint64_t{0}).add(std::uint64_t{0}).digest(),
  };
  EXPECT_EQ(digests.size(), 13u);
}

}  // namespace berth::hash_test
