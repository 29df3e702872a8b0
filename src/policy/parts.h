// What single objects say about queues, as they name each other: queues, flavors, doors into queues, priorities. Readers
// make parts of objects (read_objects.h); assemble() makes the policy of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manifest/queue_spec.h"
#include "model/amount.h"
#include "model/queue.h"
#include "model/quota.h"
#include "policy/finding.h"

namespace berth {

// Whose words a thing is said in. Names are looked up among things of the same origin.
enum class Origin : std::uint8_t { kBerth, kKueue, kVolcano };

enum class AmountKind : std::uint8_t { kGuarantee, kLimit, kBorrowingLimit, kLendingLimit, kUserLimit };
inline constexpr std::string_view kAmountKindNames[] = {"guarantee", "limit", "borrowing limit", "lending limit",
                                                        "user limit"};
constexpr std::string_view name_of(AmountKind kind) { return kAmountKindNames[static_cast<std::size_t>(kind)]; }
// The list of a quota that holds amounts of a kind.
AmountList& amounts_of(Quota& quota, AmountKind kind);
const AmountList& amounts_of(const Quota& quota, AmountKind kind);

struct PartAmount {
  AmountKind kind = AmountKind::kGuarantee;
  std::string flavor;  // empty: none is named
  Resource resource = Resource::kGpu;
  std::int64_t amount = 0;  // as model/amount.h counts it
  PolicyPlace place;
  std::string profile = {};  // of slices: as models of the catalogue call it
};

// Who may submit.
struct Submitters {
  enum class Who : std::uint8_t { kEverybody, kNobody, kNamed };
  Who who = Who::kEverybody;
  std::vector<std::string> namespaces;  // of kNamed; so are the others
  std::vector<std::string> users = {};
  std::vector<std::string> groups = {};

  friend bool operator==(const Submitters&, const Submitters&) = default;
};

// A window of a queue, and its amounts once more with the flavors that they name.
struct WindowPart {
  WindowSpec spec;
  std::vector<PartAmount> amounts = {};
  PolicyPlace place = {};
};

struct QueuePart {
  Origin origin = Origin::kBerth;
  // Kueue has two kinds of queues whose names are apart. Here an inner one is a Cohort.
  bool cohort = false;
  std::string name;
  std::string parent;  // empty: at the top
  std::optional<Order> order;
  Quota quota = {};  // without its amounts
  std::vector<PartAmount> amounts;
  std::vector<CellSpec> cells = {};
  bool reclaims = true;  // Kueue: whether it takes back from others of its cohort
  bool held = false;
  bool closed = false;
  std::vector<WindowPart> windows = {};
  std::vector<GrantSpec> grants = {};
  Submitters submitters = {};
  PolicyPlace place;
  PolicyPlace parent_place;
};

struct FlavorPart {
  Origin origin = Origin::kBerth;
  std::string name;
  std::string model;  // of the GPU catalogue; empty: any GPU
  std::int64_t memory_mib = 0;
  std::int64_t weight = 1;
  std::vector<std::pair<std::string, std::string>> node_labels;
  PolicyPlace place;
  std::string topology = {};  // its work may ask the levels of this one alone; empty: any
  PolicyPlace topology_place = {};
};

// Kueue's Topology.
struct TopologyPart {
  std::string name;
  std::vector<std::string> levels;  // labels of nodes, the widest first
  PolicyPlace place;
};

// Kueue's LocalQueue: under this name the workloads of a namespace reach a queue.
struct QueueDoor {
  std::string name_space;
  std::string name;
  std::string queue;
  PolicyPlace place;

  friend bool operator==(const QueueDoor&, const QueueDoor&) = default;
};

struct Priority {
  std::string name;
  std::int64_t value = 0;
  bool preempts = true;
  std::string description;
  PolicyPlace place;

  friend bool operator==(const Priority&, const Priority&) = default;
};

struct PolicyParts {
  std::vector<QueuePart> queues;
  std::vector<FlavorPart> flavors;
  std::vector<QueueDoor> doors;
  std::vector<Priority> priorities;
  std::vector<TopologyPart> topologies = {};
  // Of Kueue's Configuration: whether its queues take from each other by shares.
  std::optional<FairReclaim> kueue_fair_sharing;
  std::vector<NotFollowed> not_followed;
  std::vector<PolicyFinding> findings;  // what the readers cannot make sense of
};

}  // namespace berth
