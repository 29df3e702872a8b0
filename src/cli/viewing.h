// A listing of what a cluster has: shown once, or again and again as it changes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/watched_objects.h"
#include "client/asking.h"
#include "client/listing.h"
#include "kube/transport.h"

namespace berth {

struct SeenKind {
  std::string qualified;
  std::string name_space = {};  // empty: all
  std::string fields = {};      // a field selector; empty: all
  bool if_allowed = false;      // whoever may not list it sees none of it
};

// What the domains of a cluster are told from: nodes, pods, and what says which levels there are.
inline const std::vector<SeenKind> kTopologyKinds = {
    {.qualified = "nodes"},
    {.qualified = "pods"},
    {.qualified = "topologies.kueue.x-k8s.io", .if_allowed = true},
    {.qualified = "hypernodes.topology.volcano.sh", .if_allowed = true}};

struct ListingView {
  std::vector<SeenKind> kinds;
  // Of the objects, kind by kind. A failure (a name that is not there) is said and ends the command.
  std::function<Asked<Listing>(const SeenObjects&)> listing;
  // Says on stderr that there is nothing, and perhaps why; the exit code.
  std::function<int()> nothing;
  OutputStyle style;
  bool watch = false;
};

// What there is of each kind now.
Asked<SeenObjects> see_once(Transport& server, const std::vector<SeenKind>& kinds);

// The exit code. With `watch` it goes on until it is killed, by watches that resume where the server was lost.
int show_view(Transport& server, const ListingView& view);

}  // namespace berth
