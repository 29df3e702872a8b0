#include "base/id.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace berth::id_test {

using ShipId = Id<struct ShipTag>;
using PierId = Id<struct PierTag>;

static_assert(!std::is_convertible_v<ShipId, PierId> && !std::is_constructible_v<ShipId, PierId>);
static_assert(!std::is_convertible_v<std::size_t, ShipId> && !std::is_convertible_v<ShipId, std::size_t>);
static_assert(sizeof(ShipId) == 4 && std::is_trivially_copyable_v<ShipId>);

TEST(Id, IsAnIndexOrNone) {
  EXPECT_TRUE(ShipId().is_none());
  EXPECT_FALSE(ShipId(0).is_none());
  EXPECT_EQ(ShipId(7).index(), 7u);
  EXPECT_EQ(ShipId(7).value(), 7u);
  EXPECT_EQ(ShipId(7), ShipId(7));
  EXPECT_LT(ShipId(6), ShipId(7));
  EXPECT_LT(ShipId(7), ShipId()) << "none stands behind all";
}

}  // namespace berth::id_test
