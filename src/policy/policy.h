// A policy as Berth understands it, whatever it was written in: flavors, the tree of queues with their amounts, who may
// submit; each with the place where it was said, and with a list of all that is not followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manifest/queue_spec.h"
#include "manifest/window_times.h"
#include "model/calendar.h"
#include "model/flavor.h"
#include "model/node.h"
#include "model/queue.h"
#include "model/workload.h"
#include "policy/finding.h"
#include "policy/parts.h"
#include "state/quota_tree.h"

namespace berth {

struct PolicyFlavor {
  Flavor flavor;
  bool declared = true;  // else only amounts name it
  std::vector<std::pair<std::string, std::string>> node_labels;
  PolicyPlace place;
  std::string topology = {};  // empty: none
  PolicyPlace topology_place = {};
};

struct PolicyQueue {
  Queue queue;
  Origin origin = Origin::kBerth;
  bool cohort = false;
  bool declared = true;  // else it is only named, by others of its cohort
  // Kueue: its work may have GPUs of the flavors that it lists, and no others: those have the limit 0.
  std::vector<FlavorId> closed_flavors;
  std::vector<WindowSpec> windows;
  std::vector<GrantSpec> grants;
  Submitters submitters;
  PolicyPlace place;
  std::map<std::pair<AmountKind, std::size_t>, PolicyPlace> amount_places;

  // Of an amount, or else of the queue.
  const PolicyPlace& place_of(AmountKind kind, Dim dim) const;
};

// Other amounts of a queue at some hours.
struct PolicyWindow {
  Window window;  // without the moments at which it is open
  WindowTimes times;
  std::string hours;  // as they were written: "daily 20:00-08:00 Europe/Berlin"
  PolicyPlace place;
};

// Why no nodes that there are could ever run a workload, in words, and what to write instead.
struct NeverRuns {
  std::string what;
  std::string instead;
};

// A workload that somebody wants to run.
struct PolicyWorkload {
  std::string name;
  QueueId queue;
  WorkloadShape shape;
  PolicyPlace place;
  std::optional<NeverRuns> never = {};  // as the core says it, where there is a state to ask it of
};

// So many equal nodes.
struct PolicyNodes {
  Node node;  // without its name where that is not known
  std::int64_t count = 1;
};

// A level in whose domains strangers are kept apart.
struct PolicyTrust {
  std::string level;
  PolicyPlace place;
};

// INVARIANT: parents stand before their children; flavors are numbered by their place in the list; there are kWindowsMax windows
// at most, and of those of one queue the later ones hold.
struct Policy {
  std::vector<PolicyFlavor> flavors;
  std::vector<PolicyQueue> queues;
  std::vector<PolicyWindow> windows = {};
  std::vector<QueueDoor> doors;
  std::vector<Priority> priorities;
  std::vector<TopologyPart> topologies = {};
  std::vector<PolicyWorkload> workloads;
  std::vector<PolicyTrust> trust = {};
  std::optional<std::vector<PolicyNodes>> fleet;  // none: nobody said what nodes there are
  std::vector<NotFollowed> not_followed;
  std::vector<PolicyFinding> findings;

  const std::string& name_of(QueueId queue) const { return queues[queue.index()].queue.name; }
  const std::string& name_of(FlavorId flavor) const { return flavors[flavor.index()].flavor.name; }
  std::vector<Queue> plain_queues() const;
  // Profiles of slices that amounts name, those of windows too.
  NamedProfiles named_profiles() const;
  // As the objects of queues name it.
  FlavorAmount named(Dim dim, std::int64_t amount = 0) const;
  // "h100 GPUs", "h100 CPUs", "memory of nodes without GPUs"
  std::string name_of(Dim dim) const;
  // "24 h100 GPUs"
  std::string text_of(std::int64_t amount, Dim dim) const;
};

}  // namespace berth
