#include "state/tenant_domains.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "state/ledger.h"

namespace berth::tenant_domains_test {

constexpr std::size_t kWhole = static_cast<std::size_t>(Sharing::kExclusive);
constexpr std::size_t kCut = static_cast<std::size_t>(Sharing::kMig);

// Nodes 0 and 1 are in rack r1, 2 in r2, 3 in none. Tenants 0 and 1 trust each other, 2 and 3 nobody.
class Around {
 public:
  explicit Around(std::vector<Circle> apart) {
    for (const char* const rack : {"r1", "r1", "r2", ""}) {
      nodes_.push_back({.name = "node", .flavor = FlavorId(0), .gpus = 8});
      if (*rack != 0) nodes_.back().labels = {{"rack", rack}};
      domains_.add_node();
    }
    trust_.look_beyond_devices();
    apart.push_back({.queues = {QueueId(0), QueueId(1)}});
    trust_.set_circles(std::move(apart));
    domains_.look_at(trust_, nodes_);
  }

  PodRequest of(std::size_t tenant, Sharing mode = Sharing::kExclusive) {
    return {.gpus = 1, .gpu_milli = 1000, .sharing = mode, .sharer = trust_.intern({QueueId(tenant), UserId()})};
  }
  std::vector<NodeId> come(const PodRequest& request, std::size_t node, std::int32_t pods = 1) {
    return domains_.move(trust_, request, NodeId(node), pods);
  }
  // "0110": on which nodes it would be too near to nobody.
  std::string open_to(const PodRequest& request) const {
    std::string open;
    for (std::size_t node = 0; node < 4; ++node) open += domains_.allows(trust_, request, NodeId(node)) ? '1' : '0';
    return open;
  }
  std::string at_peace() const {
    std::string peace;
    for (std::size_t node = 0; node < 4; ++node) peace += domains_.is_at_peace(trust_, NodeId(node)) ? '1' : '0';
    return peace;
  }
  const TenantDomains& domains() const { return domains_; }
  const Trust& trust() const { return trust_; }

 private:
  std::vector<Node> nodes_;
  Trust trust_;
  TenantDomains domains_;
};

Circle of_all(const std::string& level) {
  Circle circle;
  circle.apart[kWhole] = level;
  return circle;
}

TEST(TenantDomains, StrangersAreKeptOutOfTheDomainsOfALevel) {
  const struct {
    const char* what;
    const char* level;
    std::size_t guest, comer, at;
    const char* open;
  } cases[] = {
      {"a stranger, off the node", "node", 0, 2, 0, "0111"},
      {"a stranger, out of the rack", "rack", 0, 2, 0, "0011"},
      {"and off a node that is in none", "rack", 0, 2, 3, "1110"},
      {"a friend from nothing", "rack", 0, 1, 0, "1111"},
      {"nor oneself", "rack", 2, 2, 0, "1111"},
      {"two who trust nobody", "node", 2, 3, 1, "1011"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    Around around({of_all(each.level)});
    around.come(around.of(each.guest), each.at);
    EXPECT_EQ(around.open_to(around.of(each.comer)), each.open);
    around.come(around.of(each.guest), each.at, -1);
    EXPECT_EQ(around.open_to(around.of(each.comer)), "1111");
  }
}

TEST(TenantDomains, ItIsEnoughThatOneOfTheTwoMinds) {
  Circle of_bank{.queues = {QueueId(2)}};
  of_bank.apart[kWhole] = "rack";
  Around around({of_bank});
  around.come(around.of(3), 0);
  EXPECT_EQ(around.open_to(around.of(2)), "0011");
  EXPECT_EQ(around.open_to(around.of(0)), "1111");
  around.come(around.of(2), 2);
  EXPECT_EQ(around.open_to(around.of(0)), "1101");
  EXPECT_EQ(around.open_to(around.of(2, Sharing::kMig)), "1111") << "it minds with whole GPUs alone";
  EXPECT_EQ(around.open_to(around.of(0, Sharing::kMig)), "1101") << "whatever the other has";
}

TEST(TenantDomains, WhoAsksNoGpuAndWhatIsHeldBackMindNobody) {
  Around around({of_all("rack")});
  around.come(around.of(0), 0);
  EXPECT_EQ(around.open_to({.cpu_milli = 1}), "1111");
  EXPECT_EQ(around.open_to({.gpus = 1, .gpu_milli = 1000}), "1111");
  EXPECT_TRUE(around.come({.gpus = 1, .gpu_milli = 1000}, 2).empty());
  EXPECT_EQ(around.open_to(around.of(2)), "0011");
}

TEST(TenantDomains, TellsWhichNodesOthersMayHaveFromNowOn) {
  Around around({of_all("rack")});
  EXPECT_EQ(around.come(around.of(0), 0), (std::vector<NodeId>{NodeId(0), NodeId(1)}));
  EXPECT_TRUE(around.come(around.of(0), 1).empty()) << "the tenant is there already";
  EXPECT_TRUE(around.come(around.of(0), 0, -1).empty());
  EXPECT_EQ(around.come(around.of(0), 1, -1), (std::vector<NodeId>{NodeId(0), NodeId(1)}));
}

TEST(TenantDomains, KnowsWhoWouldBeTooNearAndWhere) {
  Around around({of_all("rack")});
  const auto kept = [&](std::size_t node) {
    return around.domains().nodes_kept(around.trust(), around.of(0), NodeId(node), around.of(2));
  };
  EXPECT_EQ(kept(0), (std::vector<NodeId>{NodeId(0), NodeId(1)}));
  EXPECT_EQ(kept(3), std::vector<NodeId>{NodeId(3)});
  EXPECT_TRUE(around.domains().nodes_kept(around.trust(), around.of(0), NodeId(0), around.of(1)).empty());
  const auto apart = [&](std::size_t a, std::size_t b) {
    return around.domains().keep_apart(around.trust(), around.of(0), NodeId(a), around.of(2), NodeId(b));
  };
  EXPECT_TRUE(apart(0, 1));
  EXPECT_TRUE(apart(3, 3));
  EXPECT_FALSE(apart(0, 2));
  EXPECT_FALSE(apart(3, 2));
  EXPECT_EQ(around.domains().nodes_around(NodeId(1)), (std::vector<NodeId>{NodeId(0), NodeId(1)}));
}

TEST(TenantDomains, PeaceIsWhereNobodyIsTooNear) {
  Around around({of_all("rack")});
  around.come(around.of(0), 0);
  around.come(around.of(1), 1);
  EXPECT_EQ(around.at_peace(), "1111");
  around.come(around.of(2), 1);
  EXPECT_EQ(around.at_peace(), "0011");
  around.come(around.of(2), 1, -1);
  EXPECT_EQ(around.at_peace(), "1111");
}

TEST(TenantDomains, OfACutNodeTheOwnModeDecides) {
  Circle cut;
  cut.apart[kCut] = "node";
  Around around({cut});
  around.come(around.of(0, Sharing::kMig), 0);
  around.come(around.of(0), 1);
  EXPECT_EQ(around.open_to(around.of(2)), "0111");
}

}  // namespace berth::tenant_domains_test
