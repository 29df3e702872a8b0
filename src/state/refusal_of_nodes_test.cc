#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "state/invariants.h"
#include "state/refusal_cases_test.h"

namespace berth::refusal_of_nodes_test {
using namespace refusal_cases;

TEST(Refusal, OfNodes) {
  const Node good{.name = "",
                  .flavor = FlavorId(1),
                  .gpus = 64,
                  .gpu_memory_mib = 1 << 20,
                  .cpu_milli = kNodeCpuMilliMax,
                  .memory_bytes = kNodeMemoryBytesMax,
                  .pods_max = 0};
  const auto but = [&](const std::function<void(Node&)>& change) {
    Node node = good;
    change(node);
    return add_node(node);
  };
  const char* const flavor = "a node with GPUs has a flavor, others none";
  const char* const memory = "a node has at most a PiB of memory";
  expect(
      known(),
      {
          {"the largest", add_node(good), ""},
          {"nothing", NodesAdded{}, ""},
          {"too many GPUs", but([](Node& node) { node.gpus = 65; }), "a node has 0 to 64 GPUs"},
          {"negative GPUs", but([](Node& node) { node.gpus = -1; }), "a node has 0 to 64 GPUs"},
          {"GPUs of no flavor", but([](Node& node) { node.flavor = FlavorId(); }), flavor},
          {"a flavor of no GPUs", but([](Node& node) { node.gpus = 0; }), flavor},
          {"unknown flavor", but([](Node& node) { node.flavor = FlavorId(2); }),
           "a node names a flavor that there is not"},
          {"GPU memory", but([](Node& node) { ++node.gpu_memory_mib; }), "a GPU's memory is out of bounds"},
          {"cores", but([](Node& node) { ++node.cpu_milli; }), "a node has at most 50,000 cores"},
          {"negative cores", but([](Node& node) { node.cpu_milli = -1; }), "a node has at most 50,000 cores"},
          {"memory", but([](Node& node) { ++node.memory_bytes; }), memory},
          {"negative memory", but([](Node& node) { node.memory_bytes = -1; }), memory},
          {"pods", but([](Node& node) { node.pods_max = -1; }), "a node's pods cannot be negative"},
          {"the fleet's memory", NodesAdded{std::vector<Node>(4097, good)}, "the fleet has more than 4 EiB of memory"},
      });
  expect(known(), {
                      {"fail", NodeFailed{NodeId(0)}, ""},
                      {"drain", NodeDrained{NodeId(0)}, ""},
                      {"restore", NodeRestored{NodeId(0)}, ""},
                      {"fail none", NodeFailed{NodeId(1)}, "there is no such node"},
                      {"drain none", NodeDrained{NodeId()}, "there is no such node"},
                      {"restore none", NodeRestored{NodeId(1)}, "there is no such node"},
                  });
}

TEST(Refusal, OfTooManyNodes) {
  State state = new_state(Seed{1}, PlacementPolicy::kFgd, 0, {});
  state.apply(NodesAdded{std::vector<Node>(2)});
  std::vector<Node> nodes(static_cast<std::size_t>(kNodesMax) - 1);
  const Event event = NodesAdded{std::move(nodes)};
  EXPECT_EQ(state.refusal(event).value_or(""), "more than 16,777,216 nodes");
}

TEST(Refusal, OfNodesThatAreCutAndOfSlices) {
  const char* const mode = "a node that is cut into slices has GPUs of a model that can be";
  const char* const no_such = "a GPU cannot be cut into that slice";
  const char* const shape = "a pod's request is out of bounds";
  State state = cut();
  state.apply(FlavorAdded{{.name = "l4", .model = "L4"}});
  const auto with = [](PodRequest request, auto change) {
    change(request);
    return submit(request);
  };
  const PodRequest half = slice_called("3g.40gb");
  const auto fixed = [](MigPlaceSet slices, Sharing sharing = Sharing::kMig) {
    return add_node({.name = "", .flavor = FlavorId(0), .gpus = 1, .sharing = sharing, .fixed_slices = slices});
  };
  const MigPlaceSet smallest = MigPlaceSet::of(0), all = MigPlaceSet::of(kMigOfA100.places().size() - 1);
  expect(state, {
                    {"a node that was cut beforehand", fixed(smallest), ""},
                    {"into what cannot be together", fixed(smallest.united_with(all)),
                     "a node's GPUs cannot be cut into these slices together"},
                    {"into what there is not", fixed(MigPlaceSet::of(31)),
                     "a node's GPUs cannot be cut into these slices together"},
                    {"whole GPUs that were cut", fixed(smallest, Sharing::kExclusive),
                     "a node with slices has GPUs that are cut"},
                    {"a node of another family",
                     add_node({.name = "", .flavor = FlavorId(1), .gpus = 4, .sharing = Sharing::kMig}), ""},
                    {"a model without slices",
                     add_node({.name = "", .flavor = FlavorId(2), .gpus = 4, .sharing = Sharing::kMig}), mode},
                    {"no GPU to cut", add_node({.name = "", .flavor = FlavorId(), .gpus = 0, .sharing = Sharing::kMig}),
                     "a node that shares GPUs has some"},
                    {"a slice", submit(half), ""},
                    {"of a flavor that has fewer shapes",
                     with(half, [](PodRequest& r) { r.flavors = FlavorSet::of(FlavorId(1)), r.slice = 9; }), no_such},
                    {"of one that is not cut",
                     with(half, [](PodRequest& r) { r.flavors = FlavorSet::of(FlavorId(2)); }), no_such},
                    {"of one that is and one that is not",
                     with(half, [](PodRequest& r) { r.flavors.add(FlavorId(2)); }), no_such},
                    {"two in one pod", with(half, [](PodRequest& r) { r.gpus = 2, r.gpu_milli = 1000; }), shape},
                    {"of more processors than it has", with(half, [](PodRequest& r) { r.gpu_milli = 1000; }),
                     "a slice is another part of the GPU's processors"},
                    {"of fewer processors than it has", with(half, [](PodRequest& r) { r.gpu_milli = 100; }),
                     "a slice is another part of the GPU's processors"},
                    {"with memory of its own", with(half, [](PodRequest& r) { r.gpu_memory_mib = 1; }), shape},
                });
}

TEST(Refusal, OfNodesOfSeveralModes) {
  const auto node = [](Sharing own, SharingSet others, std::size_t flavor = 0) {
    return add_node({.name = "", .flavor = FlavorId(flavor), .gpus = 1, .sharing = own, .other_modes = others});
  };
  const SharingSet mig = SharingSet::of(Sharing::kMig);
  SharingSet both = mig;
  both.add(Sharing::kMps);
  Node fixed{.name = "", .flavor = FlavorId(0), .gpus = 1, .sharing = Sharing::kMig};
  fixed.other_modes = SharingSet::of(Sharing::kMps);
  fixed.fixed_slices = MigPlaceSet::of(0);
  State state = cut();
  state.apply(FlavorAdded{{.name = "l4", .model = "L4"}});
  expect(state,
         {
             {"whole or cut", node(Sharing::kExclusive, mig), ""},
             {"whole, cut or shared", node(Sharing::kExclusive, both), ""},
             {"the same twice", node(Sharing::kMig, mig), "the modes of a node are several different ones"},
             {"one that there is not", node(Sharing::kExclusive, SharingSet::from_bits(0x20)),
              "the modes of a node are several different ones"},
             {"in turns by itself", node(Sharing::kTimeslice, mig), "a time-sliced node is nothing else besides"},
             {"in turns instead", node(Sharing::kExclusive, SharingSet::of(Sharing::kTimeslice)),
              "a time-sliced node is nothing else besides"},
             {"cut beforehand", add_node(fixed), "a node that was cut beforehand is nothing else besides"},
             {"of a model that cannot be cut", node(Sharing::kExclusive, mig, 2),
              "a node that is cut into slices has GPUs of a model that can be"},
         });
}

TEST(Refusal, OfVgpus) {
  State state = known();
  state.apply(FlavorAdded{{.name = "gb200", .model = "GB200"}});
  const auto node = [](std::size_t flavor) {
    return add_node({.name = "", .flavor = FlavorId(flavor), .gpus = 1, .pods_max = 9, .sharing = Sharing::kVgpu});
  };
  const auto vgpu = [](std::int32_t milli) {
    return PodRequest{.gpus = 1, .gpu_milli = milli, .flavors = FlavorSet::first(1), .sharing = Sharing::kVgpu};
  };
  expect(state, {{"a node of a model that has some", node(0), ""},
                 {"a node of a model that has none", node(2), "a node with vGPUs has GPUs of a model that has some"},
                 {"half a GPU", submit(vgpu(500)), ""},
                 {"a third, of a model that has none", submit(vgpu(333)), "a GPU has no vGPUs of that size"}});
  state.apply(node(0));
  const NodeId there(state.nodes() - 1);
  const auto found = [&](const PodRequest& first, const PodRequest& second) {
    WorkloadFound event;
    event.workload.name = "found";
    event.workload.queue = QueueId(0);
    event.workload.shape.ways = {{{first, 1}, {second, 1}}};
    event.pods = {{there, GpuSet::from_bits(1)}, {there, GpuSet::from_bits(1)}};
    return Event(std::move(event));
  };
  const char* const otherwise = "its GPU has vGPUs of another profile";
  expect(state, {{"two of one profile", found(vgpu(250), vgpu(250)), ""},
                 {"a larger one beside it", found(vgpu(250), vgpu(500)), otherwise},
                 {"a smaller one beside it", found(vgpu(250), vgpu(200)), otherwise}});
  state.apply(found(vgpu(250), vgpu(250)));
  expect(state, {{"two more", found(vgpu(250), vgpu(250)), ""}, {"others", found(vgpu(200), vgpu(200)), otherwise}});
}

TEST(Refusal, OfScrubsWhereNodesTurn) {
  const char* const why =
      "GPUs that may be cut or not are not scrubbed between; let their nodes be of one mode, or let a scrub take no "
      "time";
  const Event turning = add_node({.name = "",
                                  .flavor = FlavorId(0),
                                  .gpus = 1,
                                  .sharing = Sharing::kMig,
                                  .other_modes = SharingSet::of(Sharing::kExclusive)});
  State state = cut();
  expect(state, {{"a scrub", ScrubChosen{seconds(60)}, ""}, {"such a node", turning, ""}});
  State turns = state.fork();
  turns.apply(turning);
  expect(turns, {{"a scrub that takes time", ScrubChosen{seconds(60)}, why}, {"none", ScrubChosen{seconds(0)}, ""}});
  state.apply(ScrubChosen{seconds(60)});
  expect(state, {{"such a node", turning, why}});
}

TEST(Refusal, OfScrubsWhereSlicesStay) {
  const char* const why =
      "slices that were cut beforehand are not scrubbed; let them be cut as pods ask, or let a scrub take no time";
  const Event fixed = add_node(
      {.name = "", .flavor = FlavorId(0), .gpus = 1, .sharing = Sharing::kMig, .fixed_slices = MigPlaceSet::of(0)});
  State state = cut();
  expect(state, {{"a scrub", ScrubChosen{seconds(60)}, ""}, {"slices", fixed, ""}});
  State scrubbed = cut();
  scrubbed.apply(ScrubChosen{seconds(60)});
  expect(scrubbed, {{"slices where something is scrubbed", fixed, why}});
  state.apply(fixed);
  expect(state, {{"a scrub where slices stay", ScrubChosen{seconds(60)}, why},
                 {"one that takes no time", ScrubChosen{Duration{0}}, ""}});
}

TEST(Refusal, OfNodesThatKeepSomethingForTheirGpusOrHaveZones) {
  const char* const kept = "a node keeps no more for its GPUs than it has";
  const char* const extra = "a node promises at most 10 times what it has";
  const char* const zones = "a node has 1 to 8 NUMA zones";
  const char* const policy = "a node with a NUMA policy has GPUs that are not shared";
  const auto with = [](auto change) {
    Node node{.name = "", .flavor = FlavorId(0), .gpus = 4, .cpu_milli = 40'003, .memory_bytes = 400};
    change(node);
    return add_node(node);
  };
  const auto without_gpus = [](auto change) {
    Node node{.name = "", .flavor = {}, .gpus = 0, .gpu_memory_mib = 0, .cpu_milli = 40'000};
    change(node);
    return add_node(node);
  };
  const State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  expect(state, {
                    {"all of it", with([](Node& n) { n.kept_per_gpu = {10'000, 100}; }), ""},
                    {"more CPUs", with([](Node& n) { n.kept_per_gpu = {10'001, 0}; }), kept},
                    {"more memory", with([](Node& n) { n.kept_per_gpu = {0, 101}; }), kept},
                    {"less than nothing", with([](Node& n) { n.kept_per_gpu = {-1, 0}; }), kept},
                    {"for no GPU", without_gpus([](Node& n) { n.kept_per_gpu = {1, 0}; }),
                     "a node that keeps something for its GPUs has some"},
                    {"all that may be promised", with([](Node& n) { n.extra = {9 * n.cpu_milli, 0}; }), ""},
                    {"more CPUs than that", with([](Node& n) { n.extra = {9 * n.cpu_milli + 1, 0}; }), extra},
                    {"more memory", with([](Node& n) { n.extra = {0, 9 * n.memory_bytes + 1}; }), extra},
                    {"less than it has", with([](Node& n) { n.extra = {0, -1}; }), extra},
                    {"the most zones", with([](Node& n) { n.numa_zones = kNumaZonesMax; }), ""},
                    {"one more", with([](Node& n) { n.numa_zones = kNumaZonesMax + 1; }), zones},
                    {"none", with([](Node& n) { n.numa_zones = 0; }), zones},
                    {"a policy", with([](Node& n) { n.numa_policy = NumaPolicy::kRestricted; }), ""},
                    {"of shared GPUs", with([](Node& n) {
                       n.numa_policy = NumaPolicy::kBestEffort;
                       n.sharing = Sharing::kMps;
                     }),
                     policy},
                    {"without GPUs", without_gpus([](Node& n) { n.numa_policy = NumaPolicy::kRestricted; }), policy},
                });
}

TEST(Refusal, OfNodesThatShareAndOfSharesAndReplicas) {
  const char* const replicas = "a time-sliced GPU counts as 2 to 32 replicas, any other as one";
  const char* const request = "a pod's request is out of bounds";
  const char* const terms = "replicas are for best effort that is not critical";
  const auto node = [](Sharing sharing, std::int32_t count) {
    return add_node({.name = "", .flavor = FlavorId(0), .gpus = 1, .sharing = sharing, .replicas = count});
  };
  const auto with = [](PodRequest asked, auto change) {
    change(asked);
    return submit(asked);
  };
  const auto on_terms = [](const PodRequest& asked, const Terms& of) {
    WorkloadShape shape = single_pod(asked);
    shape.terms = of;
    return submission(QueueId(0), shape);
  };
  WorkloadShape either{{{{kReplica, 1}}, {{kGpu, 1}}}, {.best_effort = true}};
  WorkloadShape neither = either;
  neither.ways[1][0].request.gpu_milli = 500;
  PodRequest all_of_it = kShare;
  all_of_it.gpu_milli = kMilliPerGpu;
  const WorkloadShape share_first{{{{all_of_it, 1}}, {{kGpu, 1}}}, {.best_effort = true}};
  const WorkloadShape gpu_first{{{{kGpu, 1}}, {{all_of_it, 1}}}, {.best_effort = true}};
  const char* const ways = "the ways of a workload may differ in their flavors only";
  expect(shared(), {
                       {"two replicas", node(Sharing::kTimeslice, 2), ""},
                       {"the most", node(Sharing::kTimeslice, kReplicasMax), ""},
                       {"one more", node(Sharing::kTimeslice, kReplicasMax + 1), replicas},
                       {"one that is none", node(Sharing::kTimeslice, 1), replicas},
                       {"elsewhere", node(Sharing::kMps, 2), replicas},
                       {"a share", submit(kShare), ""},
                       {"the least", with(kShare, [](PodRequest& r) { r.gpu_milli = kMpsMilliMin; }), ""},
                       {"less", with(kShare, [](PodRequest& r) { r.gpu_milli = kMpsMilliMin - 1; }), request},
                       {"with memory", with(kShare, [](PodRequest& r) { r.gpu_memory_mib = 9; }), ""},
                       {"of two", with(kShare, [](PodRequest& r) { r.gpus = 2, r.gpu_milli = 1000; }), request},
                       {"whose is ours to say", with(kShare, [](PodRequest& r) { r.sharer = SharerId(0); }), request},
                       {"a slice of a share", with(kShare, [](PodRequest& r) { r.slice = 0; }), request},
                       {"a replica that counts", submit(kReplica), terms},
                       {"one that does not", on_terms(kReplica, {.best_effort = true}), ""},
                       {"a critical one", on_terms(kReplica, {.best_effort = true, .latency_critical = true}), terms},
                       {"with memory of its own", with(kReplica, [](PodRequest& r) { r.gpu_memory_mib = 9; }), request},
                       {"a part of one", with(kReplica, [](PodRequest& r) { r.gpu_milli = 500; }), request},
                       {"a replica or a GPU", submission(QueueId(0), either), ""},
                       {"a replica or a part of a GPU", submission(QueueId(0), neither), ways},
                       {"a share of all of a GPU, or a GPU", submission(QueueId(0), share_first), ways},
                       {"a GPU, or a share of all of it", submission(QueueId(0), gpu_first), ways},
                   });
}

TEST(Refusal, OfImages) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  state.apply(NodesAdded{{{.name = "n", .flavor = {}, .cpu_milli = 1}}});
  const auto images = [](std::vector<NodeImage> list) { return NodeImagesChanged{NodeId(0), std::move(list)}; };
  const char* const why = "a node has at most 10,000 images, each name once, of a TiB at most";
  expect(state, {{"two", images({{"a", 1}, {"b", 0}}), ""},
                 {"one twice", images({{"a", 1}, {"a", 1}}), why},
                 {"of less than nothing", images({{"a", -1}}), why},
                 {"of more than a TiB", images({{"a", kImageBytesMax + 1}}), why},
                 {"of a node that comes", NodesAdded{{{.name = "m", .flavor = {}, .images = {{"a", -1}}}}}, why},
                 {"of no node", NodeImagesChanged{NodeId(1), {}}, "there is no such node"}});
}

TEST(Refusal, OfNewCuts) {
  const auto node = [](Duration recut, MigPlaceSet slices) {
    return add_node({.name = "",
                     .flavor = FlavorId(0),
                     .gpus = 2,
                     .sharing = Sharing::kMig,
                     .fixed_slices = slices,
                     .recut = recut});
  };
  const MigPlaceSet whole = MigPlaceSet::of(kMigOfA100.places().size() - 1);
  State state = cut();
  const char* const why = "only slices that were cut beforehand are cut anew, in an hour at most";
  expect(state, {{"of slices that are there", node(seconds(60), whole), ""},
                 {"of none", node(seconds(60), {}), why},
                 {"in less than no time", node(Duration{-1}, whole), why},
                 {"in an hour", node(kRecutMax, whole), ""},
                 {"in more", node(kRecutMax + Duration{1}, whole), why}});
  state.apply(node(seconds(60), whole));
  expect(state, {{"nobody has asked for one", SlicesRecut{NodeId(1), 0}, "the GPU is not being cut anew"},
                 {"of no GPU", SlicesRecut{NodeId(1), 2}, "its node has no such GPU"},
                 {"of no node", SlicesRecut{NodeId(2), 0}, "there is no such node"}});
  const PodRequest request = slice_called("1g.10gb");
  const auto place = *kMigOfA100.find_place(request.slice, 6);
  state.apply(submission(QueueId(0), single_pod(request)));
  const WorkloadId id(0);
  Plan plan{.now = Time{}, .revision = state.revision()};
  plan.starts.push_back({.workload = id, .pods = {{NodeId(1), GpuSet::from_bits(1), 6}}, .waits = true});
  plan.repartitions.push_back({.node = NodeId(1),
                               .gpu = 0,
                               .before = whole,
                               .after = MigPlaceSet::of(place),
                               .claimant = id,
                               .takes = seconds(60)});
  state.adopt(plan);
  EXPECT_TRUE(violations(state).empty());
  const WorkloadFound found{.workload = submission(QueueId(0), single_pod(request)),
                            .pods = {{NodeId(1), GpuSet::from_bits(1), 5}},
                            .started = Time{}};
  expect(state, {{"it is being cut", SlicesRecut{NodeId(1), 0}, ""},
                 {"on a slice that is not there", found, "its GPUs are not free on that node"}});
  state.apply(NodeDrained{NodeId(1)});
  expect(state, {{"a closed node", SlicesRecut{NodeId(1), 0},
                  "its node is closed, or somebody is still on a slice that goes"}});
  state.apply(NodeRestored{NodeId(1)});
  state.apply(SlicesRecut{NodeId(1), 0});
  expect(state, {{"it is done", SlicesRecut{NodeId(1), 0}, "the GPU is not being cut anew"}});
  EXPECT_EQ(state.next_wake(), Time{600'000});
  EXPECT_TRUE(violations(state).empty());
}

TEST(Refusal, OfNodesThatAreCutAtOnce) {
  const MigPlaceSet whole = MigPlaceSet::of(kMigOfA100.places().size() - 1);
  const PodRequest request = slice_called("1g.10gb");
  const MigPlaceSet seventh = MigPlaceSet::of(*kMigOfA100.find_place(request.slice, 6));
  const auto node = [&](Duration recut, std::vector<MigPlaceSet> layouts) {
    return add_node({.name = "",
                     .flavor = FlavorId(0),
                     .gpus = 2,
                     .sharing = Sharing::kMig,
                     .fixed_slices = whole,
                     .recut = recut,
                     .layouts = std::move(layouts)});
  };
  State state = cut();
  const char* const why = "only slices that are cut anew have layouts, 16 at most, each of some slices";
  expect(state, {{"one", node(seconds(60), {seventh}), ""},
                 {"16", node(seconds(60), std::vector<MigPlaceSet>(16, seventh)), ""},
                 {"17", node(seconds(60), std::vector<MigPlaceSet>(17, seventh)), why},
                 {"of nothing", node(seconds(60), {MigPlaceSet()}), why},
                 {"of slices that stay", node(Duration{0}, {seventh}), why},
                 {"of slices that are not there together", node(seconds(60), {seventh.united_with(whole)}),
                  "a node's GPUs cannot be cut into these slices together"}});
  state.apply(node(seconds(60), {seventh}));
  const NodeId id(1);
  expect(state,
         {{"as it is", CutFound{id, whole, false, Time{}}, ""},
          {"being cut", CutFound{id, seventh, true, Time{}}, ""},
          {"of a node that is not", CutFound{NodeId(0), seventh, false, Time{}},
           "only of nodes whose GPUs are cut at once it is told how they are cut"},
          {"of no node", CutFound{NodeId(2), seventh, false, Time{}}, "there is no such node"},
          {"into nothing", CutFound{id, {}, false, Time{}}, "a node's GPUs cannot be cut into these slices together"},
          {"until before", CutFound{id, whole, false, Time{-1}}, "a time is out of bounds"}});
  state.apply(CutFound{id, seventh, true, Time{}});
  EXPECT_EQ(state.to_recut().size(), 2u);
  state.apply(CutFound{id, seventh, false, Time{5'000}});
  EXPECT_EQ(state.next_wake(), Time{5'000});
  EXPECT_TRUE(state.being_cut().empty());
  EXPECT_TRUE(violations(state).empty());
  const WorkloadFound found{.workload = submission(QueueId(0), single_pod(request)),
                            .pods = {{id, GpuSet::from_bits(1), 6}},
                            .started = Time{}};
  state.apply(found);
  expect(state, {{"somebody has one that is not there", CutFound{id, whole, false, Time{}},
                  "somebody has a slice that is not among these"},
                 {"somebody is there", CutFound{id, seventh, true, Time{}}, "somebody is there"},
                 {"into what it is", CutFound{id, seventh, false, Time{}}, ""}});
  EXPECT_TRUE(violations(state).empty());
}

TEST(Refusal, OfScrubs) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  expect(state, {{"how long they take", ScrubChosen{Duration{1}}, ""},
                 {"less than no time", ScrubChosen{Duration{-1}}, "a time is out of bounds"}});
  state.apply(ScrubChosen{Duration{1000}});
  state.apply(NodesAdded{{{.name = "n", .flavor = FlavorId(0), .gpus = 2}}});
  WorkloadFound found{submission(QueueId(0), {{{{PodRequest{.gpus = 1, .gpu_milli = 1000}, 1}}}}), {}, Time{}};
  found.pods = {{NodeId(0), GpuSet::from_bits(1)}};
  state.apply(found);
  expect(state, {
                    {"one that is in use", DeviceScrubbed{NodeId(0), 0}, "somebody is on the device"},
                    {"one that is free", DeviceScrubbed{NodeId(0), 1}, ""},
                    {"one that is not there", DeviceScrubbed{NodeId(0), 2}, "its node has no such GPU"},
                    {"no number", DeviceScrubbed{NodeId(0), -1}, "its node has no such GPU"},
                    {"of no node", DeviceScrubbed{NodeId(1), 0}, "there is no such node"},
                });
  state.apply(WorkloadEnded{WorkloadId(0)});
  EXPECT_EQ(state.to_scrub(), std::vector<Device>({{NodeId(0), 0}}));
  EXPECT_EQ(state.quotas().capacity()[Dim(FlavorId(0), Resource::kGpu).index()], 2000);
  state.apply(DeviceScrubbed{NodeId(0), 0, true});
  EXPECT_EQ(state.to_scrub(), std::vector<Device>());
  EXPECT_EQ(state.quotas().capacity()[Dim(FlavorId(0), Resource::kGpu).index()], 1000);
  expect(state, {{"again", DeviceScrubbed{NodeId(0), 0}, "the device is quarantined"}});
  EXPECT_TRUE(violations(state).empty());
  state.apply(NodeRestored{NodeId(0)});
  EXPECT_EQ(state.quotas().capacity()[Dim(FlavorId(0), Resource::kGpu).index()], 2000);
  EXPECT_TRUE(violations(state).empty());
}

TEST(Refusal, OfRoomThatWasGivenBack) {
  State state = known();
  state.apply(TimePassed{Time{100}});
  state.apply(submission(QueueId(0), single_pod({})));
  expect(state, {
                    {"before", RoomGivenBack{WorkloadId(0), Time{100}}, ""},
                    {"to come", RoomGivenBack{WorkloadId(0), Time{101}}, "what was taken is past"},
                });
}

}  // namespace berth::refusal_of_nodes_test
