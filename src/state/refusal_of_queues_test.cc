#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "state/refusal_cases_test.h"

namespace berth::refusal_of_queues_test {
using namespace refusal_cases;

TEST(Refusal, OfFlavorsAndQueues) {
  const char* const flavor = "at most 64 flavors, each with a sensible memory and a weight of 1 to 1,000";
  expect(known(), {
                      {"a flavor", FlavorAdded{{"a", "b", 1 << 20}}, ""},
                      {"its memory", FlavorAdded{{"a", "b", (1 << 20) + 1}}, flavor},
                      {"negative memory", FlavorAdded{{"a", "b", -1}}, flavor},
                      {"a top queue", QueueAdded{{"q", QueueId(), Order::kSjf}}, ""},
                      {"a child without order", QueueAdded{{"q/r", QueueId(0), {}}}, ""},
                      {"a top queue without", QueueAdded{{"q", QueueId(), {}}}, "a queue at the top needs an order"},
                      {"its own parent", QueueAdded{{"q", QueueId(1), Order::kSjf}}, "a queue's parent is not known"},
                  });
  State full = new_state(Seed{1}, PlacementPolicy::kFgd, kFlavorsMax, {});
  expect(full, {{"one more", FlavorAdded{}, flavor}});
}

TEST(Refusal, OfBudgets) {
  const auto queue = [](std::int64_t budget) {
    Queue made{.name = "q", .parent = QueueId(), .order = Order::kFifo};
    made.quota.budget_gpu_us = budget;
    return Event(QueueAdded{made});
  };
  const char* const bounds = "a budget is 0 to 1,000,000,000 GPU-hours";
  expect(known(), {
                      {"nothing", queue(0), ""},
                      {"the most", queue(kGpuTimeMax), ""},
                      {"too much", queue(kGpuTimeMax + 1), bounds},
                      {"less than nothing", queue(-1), bounds},
                      {"a grant without a budget", GrantAdded{QueueId(0), 1, Time{9}},
                       "a grant goes beside a budget, and there is none"},
                      {"a grant to nobody", GrantAdded{QueueId(1), 1, Time{9}}, "there is no such queue"},
                  });
  State state = known();
  state.apply(queue(5));
  expect(state, {
                    {"a grant", GrantAdded{QueueId(1), 1, Time{9}}, ""},
                    {"of nothing", GrantAdded{QueueId(1), 0, Time{9}}, "a grant is up to 1,000,000,000 GPU-hours"},
                    {"without an end", GrantAdded{QueueId(1), 1, kTimeMax + Duration{1}}, "a time is out of bounds"},
                });
  const char* const no_pot = "GPU time is used of a budget or a grant, and there is none";
  expect(state, {
                    {"used before", GpuTimeUsed{QueueId(1), 0, kGpuTimeMax}, ""},
                    {"known already", GpuTimeUsed{QueueId(1), 0, -kGpuTimeMax}, ""},
                    {"more than there is", GpuTimeUsed{QueueId(1), 0, kGpuTimeMax + 1}, "GPU time is out of bounds"},
                    {"of no grant", GpuTimeUsed{QueueId(1), 1, 1}, no_pot},
                    {"of no budget", GpuTimeUsed{QueueId(0), 0, 1}, no_pot},
                    {"of nobody's", GpuTimeUsed{QueueId(2), 0, 1}, "there is no such queue"},
                });
  state.apply(TimePassed{Time{100}});
  const char* const past = "what was used is past";
  expect(state, {
                    {"all until now", GpuTimeCounted{QueueId(1), Time{100}}, ""},
                    {"and later", GpuTimeCounted{QueueId(1), Time{101}}, past},
                    {"where nothing is counted", GpuTimeCounted{QueueId(0), Time{100}},
                     "nothing is counted where there is no budget"},
                    {"one missed", GpuTimeMissed{QueueId(0), 1000, Time{0}, Time{100}}, ""},
                    {"that runs on", GpuTimeMissed{QueueId(0), 1000, Time{0}, Time{101}}, past},
                    {"backwards", GpuTimeMissed{QueueId(0), 1000, Time{9}, Time{8}}, past},
                    {"less than nothing", GpuTimeMissed{QueueId(0), -1, Time{0}, Time{9}}, "GPUs are out of bounds"},
                });
}

TEST(Refusal, OfWhatWasHeldOfAFloor) {
  State state = known();
  state.apply(TimePassed{Time{100}});
  const Dim gpus(FlavorId(0), Resource::kGpu), cpus(FlavorId(0), Resource::kCpu), nothing(FlavorId(9), Resource::kGpu);
  const char* const order = "of what was held the later is the smaller";
  const auto found = [](std::vector<FloorUse> held) { return Event(FloorUseFound{QueueId(0), {}, std::move(held)}); };
  expect(state,
         {
             {"less and less", found({{gpus, 8, Time{5}}, {gpus, 3, Time{9}}}), ""},
             {"each by itself", found({{gpus, 3, Time{9}}, {cpus, 9, Time{1}}}), ""},
             {"more and more", found({{gpus, 3, Time{5}}, {gpus, 8, Time{9}}}), order},
             {"nothing", found({{gpus, 0, Time{5}}}), "what was held is out of bounds"},
             {"to come", found({{gpus, 1, Time{101}}}), "what was held is past"},
             {"of what there is not", found({{nothing, 1, Time{5}}}), "a floor names a flavor that there is not"},
             {"of such a floor", FloorUseFound{QueueId(0), {{nothing, 5}}, {}},
              "a quota names a flavor that there is not"},
             {"by nobody", FloorUseFound{QueueId(1), {}, {}}, "there is no such queue"},
         });
}

TEST(Refusal, OfSlices) {
  State state = known();
  state.apply(FlavorAdded{{.name = "h100", .model = "H100"}});
  state.apply(FlavorAdded{{.name = "l4", .model = "L4"}});
  state.apply(TimePassed{Time{100}});
  const FlavorId h100(state.flavors().size() - 2), l4(state.flavors().size() - 1);
  const Dim slices = Dim::of_slices(h100, 4), none = Dim::of_slices(h100, kMigShapesMax - 1);
  const Dim of_none = Dim::of_slices(l4, 4), unknown = Dim::of_slices(FlavorId(9), 4);
  const auto queue = [](Quota quota) {
    return Event(QueueAdded{{.name = "queue", .parent = QueueId(), .order = Order::kFifo, .quota = std::move(quota)}});
  };
  const char* const cut = "a quota names slices that GPUs of the flavor cannot be cut into";
  expect(state, {
                    {"a floor", queue({.guarantee = {{slices, 4}}, .limit = {{slices, 8}}}), ""},
                    {"of no shape", queue({.guarantee = {{none, 4}}}), cut},
                    {"of GPUs that cannot be cut", queue({.limit = {{of_none, 4}}}), cut},
                    {"of no flavor", queue({.limit = {{unknown, 4}}}), "a quota names a flavor that there is not"},
                    {"kept", queue({.guarantee = {{slices, 4}}, .lending_limit = {{slices, 0}}}),
                     "a queue keeps no slices to itself; its floor by their profile is lent whole"},
                    {"held, and nobody counts them", FloorUseFound{QueueId(0), {}, {{slices, 1, Time{5}}}},
                     "a floor names a flavor that there is not"},
                    {"in a floor, and nobody counts them", FloorUseFound{QueueId(0), {{slices, 1}}, {}},
                     "a floor names slices of a profile that no queue names"},
                    {"in the past", PastUseFound{QueueId(0), Time{100}, {{slices, 5}}},
                     "what was used is of GPUs, CPUs and memory"},
                });
  state.apply(queue({.guarantee = {{slices, 4}}}));
  expect(state, {
                    {"held", FloorUseFound{QueueId(0), {{slices, 4}}, {{slices, 1, Time{5}}}}, ""},
                    {"of a flavor before them",
                     FloorUseFound{QueueId(0), {}, {{Dim(FlavorId(9), Resource::kGpu), 1, Time{5}}}},
                     "a floor names a flavor that there is not"},
                });
}

TEST(Refusal, OfWindows) {
  const auto window = [](const std::function<void(Window&)>& change, std::uint32_t number = 0) {
    Window made{.queue = QueueId(0), .known_until = {}};
    made.open = {{Time{0}, Time{5}}, {Time{5}, Time{9}}};
    change(made);
    return Event(WindowChanged{number, made});
  };
  const auto opens = [&](std::vector<Interval> open) { return window([&](Window& w) { w.open = std::move(open); }); };
  const char* const closes = "a window closes after it has opened";
  expect(known(),
         {
             {"a window", window([](Window&) {}), ""},
             {"a gap in the numbers", window([](Window&) {}, 1), "the windows have no gap in their numbers"},
             {"no such queue", window([](Window& w) { w.queue = QueueId(1); }), "there is no such queue"},
             {"an unknown flavor", window([](Window& w) { w.limit = {{Dim(FlavorId(2), Resource::kGpu), 1}}; }),
              "a quota names a flavor that there is not"},
             {"no weight", window([](Window& w) { w.weight_milli = 0; }), "a queue's weight is 0.001 to 1,000"},
             {"never open", opens({}), ""},
             {"for no time", opens({{Time{5}, Time{5}}}), closes},
             {"too late", opens({{Time{5}, kTimeMax + Duration{1}}}), closes},
             {"twice at once", opens({{Time{0}, Time{5}}, {Time{4}, Time{9}}}),
              "a window has closed before it opens again"},
             {"too often", opens(std::vector<Interval>(10'001)), "a window opens at most 10,000 times"},
             {"known too far", window([](Window& w) { w.known_until = Time{2 * kTimeMax.ms + 1}; }),
              "a time is out of bounds"},
             {"the time", TimePassed{Time{0}}, ""},
             {"before all time", TimePassed{Time{-1}}, "a time is out of bounds"},
             {"after all time", CalendarTurned{kTimeMax + Duration{1}}, "a time is out of bounds"},
         });
  State later = known();
  later.apply(TimePassed{Time{10}});
  expect(later, {{"a turn in the past", CalendarTurned{Time{9}}, "time does not go backwards"}});
}

TEST(Refusal, OfTooManyHours) {
  // Eight windows that count in twos make 256 different hours, and a ninth makes more.
  State state = known();
  const auto counter = [](std::uint32_t number) {
    Window window{.queue = QueueId(0), .known_until = {}};
    const std::int64_t length = std::int64_t{1} << number;
    for (std::int64_t at = length; at < 1024; at += 2 * length) window.open.push_back({Time{at}, Time{at + length}});
    window.known_until = Time{1024};
    return Event(WindowChanged{number, window});
  };
  for (std::uint32_t number = 0; number < 8; ++number) {
    ASSERT_EQ(state.refusal(counter(number)).value_or(""), "") << number;
    state.apply(counter(number));
  }
  EXPECT_EQ(state.refusal(counter(8)).value_or(""),
            "the windows make more than 256 different hours; let more of them open and close together");
}

TEST(Refusal, OfQueuesThatChange) {
  State state = known();
  state.apply(QueueAdded{{"queue/child", QueueId(0), {}}});
  const auto top = [](const std::function<void(Queue&)>& change) {
    Queue queue{.name = "queue", .parent = {}, .order = Order::kFifo};
    change(queue);
    return QueueChanged{QueueId(0), queue};
  };
  const char* const stays = "a queue keeps its name and its parent";
  const char* const line = "whether a queue has a line of its own does not change";
  expect(state, {
                    {"nothing", top([](Queue&) {}), ""},
                    {"its order", top([](Queue& queue) { queue.order = Order::kSjf; }), ""},
                    {"its amounts",
                     top([](Queue& queue) { queue.quota.limit = {{Dim(FlavorId(0), Resource::kGpu), 1}}; }), ""},
                    {"amounts out of bounds",
                     top([](Queue& queue) { queue.quota.limit = {{Dim(FlavorId(0), Resource::kGpu), -1}}; }),
                     "a quota's amount is out of bounds"},
                    {"held and closed", top([](Queue& queue) { queue.held = queue.closed = true; }), ""},
                    {"its name", top([](Queue& queue) { queue.name = "other"; }), stays},
                    {"its parent", top([](Queue& queue) { queue.parent = QueueId(1); }), stays},
                    {"no order", top([](Queue& queue) { queue.order.reset(); }), line},
                    {"a first order", QueueChanged{QueueId(1), {"queue/child", QueueId(0), Order::kFifo}}, line},
                    {"nobody", QueueChanged{QueueId(2), {"queue", {}, Order::kFifo}}, "there is no such queue"},
                });
}

// Three tenants, of whom the first has a queue with work below it and one without.
TEST(Refusal, OfReservations) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 2, {Order::kFifo});
  Queue bounded{.name = "bounded", .parent = {}, .order = Order::kFifo};
  bounded.quota.limit = {{Dim(FlavorId(0), Resource::kGpu), 2000}};
  state.apply(QueueAdded{bounded});
  state.apply(NodesAdded{{{.name = "a", .flavor = FlavorId(0), .gpus = 4},
                          {.name = "b", .flavor = FlavorId(0), .gpus = 4, .sharing = Sharing::kMps}}});
  const Reservation good{.name = "r",
                         .queue = QueueId(0),
                         .flavor = FlavorId(0),
                         .gpus = 4,
                         .nodes = {},
                         .from = Time{10'000},
                         .lasts = Duration{1000}};
  const auto with = [&](auto change) {
    Reservation made = good;
    made.name = "other";
    change(made);
    return Event(ReservationAdded{made});
  };
  const auto close = [&](std::vector<NodeId> nodes) {
    Reservation made{good};
    made.name = "m";
    made.queue = {};
    made.flavor = {};
    made.gpus = 0;
    made.nodes = std::move(nodes);
    made.from = Time{10'000};
    made.lasts = Duration{1000};
    return Event(ReservationAdded{made});
  };
  const auto found = [&](auto change) {
    ReservationAdded made{.reservation = good, .found = true, .had = {}};
    made.reservation.name = "other";
    change(made);
    return Event(made);
  };
  expect(state, {{"one", ReservationAdded{good}, ""}});
  ReservationAdded had{.reservation = good, .found = true, .had = {{NodeId(1), GpuSet::from_bits(1)}}};
  state.apply(had);
  state.apply(TimePassed{Time{5000}});
  const char* const past = "a reservation begins in the past; let it begin later";
  const char* const one_by_one = "the times of a reservation are one after the other, and each lasts for some time";
  const char* const of_gpus = "there are 4 GPUs of flavor that are not shared; reserve no more";
  expect(
      state,
      {
          {"another", with([](Reservation&) {}), ""},
          {"its name", with([](Reservation& r) { r.name = "r"; }),
           "there is a reservation r already; take another name, or cancel that one"},
          {"no name", with([](Reservation& r) { r.name = ""; }), "a reservation has a name"},
          {"now", with([](Reservation& r) { r.from = Time{5000}; }), ""},
          {"the past", with([](Reservation& r) { r.from = Time{4999}; }), past},
          {"no time", with([](Reservation& r) { r.lasts = Duration{0}; }),
           "a reservation lasts no time; write for how long"},
          {"a year and more", with([](Reservation& r) { r.lasts = kReservationLastsMax + Duration{1}; }),
           "a reservation lasts at most 366 days"},
          {"every day", with([](Reservation& r) { r.lasts = r.every = kReservationDay; }), ""},
          {"longer than a day, every day", with([](Reservation& r) {
             r.every = kReservationDay;
             r.lasts = kReservationDay + Duration{1};
           }),
           "what comes every day lasts at most 24 hours"},
          {"on days",
           with([](Reservation& r) { r.later = {{Time{11'000}, Time{12'000}}, {Time{12'000}, Time{13'000}}}; }), ""},
          {"on days, and every day", with([](Reservation& r) {
             r.every = kReservationDay;
             r.later = {{Time{11'000}, Time{12'000}}};
           }),
           "what comes every day has no other times besides"},
          {"again before it is over", with([](Reservation& r) { r.later = {{Time{10'999}, Time{12'000}}}; }),
           one_by_one},
          {"again for no time", with([](Reservation& r) { r.later = {{Time{11'000}, Time{11'000}}}; }), one_by_one},
          {"again, and again before",
           with([](Reservation& r) { r.later = {{Time{13'000}, Time{14'000}}, {Time{11'000}, Time{12'000}}}; }),
           one_by_one},
          {"again for too long",
           with([](Reservation& r) { r.later = {{Time{11'000}, Time{11'001} + kReservationLastsMax}}; }),
           "a reservation lasts at most 366 days"},
          {"later times", ReservationTimesTold{ReservationId(0), {{Time{11'000}, Time{12'000}}}}, ""},
          {"later times of none", ReservationTimesTold{ReservationId(1), {}}, "there is no such reservation"},
          {"later times that are not", ReservationTimesTold{ReservationId(0), {{Time{10'999}, Time{12'000}}}},
           one_by_one},
          {"every hour", with([](Reservation& r) { r.every = Duration{3'600'000}; }),
           "a reservation comes once or every day"},
          {"an unknown queue", with([](Reservation& r) { r.queue = QueueId(2); }), "there is no such queue"},
          {"an unknown flavor", with([](Reservation& r) { r.flavor = FlavorId(2); }), "there is no such flavor"},
          {"nothing", with([](Reservation& r) { r.gpus = 0; }), "nothing is reserved; write how many GPUs"},
          {"more than there are", with([](Reservation& r) { r.gpus = 5; }), of_gpus},
          {"nodes of a queue", with([](Reservation& r) { r.nodes = {NodeId(0)}; }),
           "a queue reserves GPUs, and not nodes"},
          {"as many as it may hold", with([](Reservation& r) {
             r.queue = QueueId(1);
             r.gpus = 2;
           }),
           ""},
          {"more than it may hold", with([](Reservation& r) { r.queue = QueueId(1); }),
           "queue bounded may hold 2 of these GPUs at most when it begins; reserve no more, or raise its limit"},
          {"maintenance", close({NodeId(0), NodeId(1)}), ""},
          {"of nothing", close({}), "maintenance is of some nodes; name them"},
          {"of one node twice", close({NodeId(1), NodeId(1)}), "maintenance names each node once"},
          {"of a node that there is not", close({NodeId(2)}), "there is no such node"},
          {"found, begun", found([](ReservationAdded& e) { e.reservation.from = Time{4500}; }), ""},
          {"found, over", found([](ReservationAdded& e) { e.reservation.from = Time{4000}; }),
           "a reservation is over already; let it begin later"},
          {"found, of more than there are", found([](ReservationAdded& e) { e.reservation.gpus = 5; }), ""},
          {"found, of far too many", found([](ReservationAdded& e) { e.reservation.gpus = 1'000'001; }),
           "a reservation is of 1,000,000 GPUs at most"},
          {"what it had", found([](ReservationAdded& e) { e.had = {{NodeId(0), GpuSet::from_bits(3)}}; }), ""},
          {"had, and new", found([](ReservationAdded& e) {
             e.found = false;
             e.had = {{NodeId(0), GpuSet::from_bits(3)}};
           }),
           "what is reserved anew has no places yet"},
          {"had nothing of a node", found([](ReservationAdded& e) { e.had = {{NodeId(0), GpuSet()}}; }),
           "there are no such GPUs"},
          {"had a fifth of four", found([](ReservationAdded& e) { e.had = {{NodeId(0), GpuSet::from_bits(16)}}; }),
           "there are no such GPUs"},
          {"had some of another node", found([](ReservationAdded& e) { e.had = {{NodeId(2), GpuSet::from_bits(1)}}; }),
           "there are no such GPUs"},
          {"a node twice", found([](ReservationAdded& e) {
             e.had = {{NodeId(0), GpuSet::from_bits(1)}, {NodeId(0), GpuSet::from_bits(2)}};
           }),
           "places are named node by node"},
          {"had more than is reserved", found([](ReservationAdded& e) {
             e.had = {{NodeId(0), GpuSet::from_bits(7)}};
             e.reservation.gpus = 2;
           }),
           "a reservation has more than was reserved"},
          {"had what another has", found([](ReservationAdded& e) { e.had = {{NodeId(1), GpuSet::from_bits(1)}}; }),
           "a GPU is another reservation's at the same time"},
          {"had it at another time", found([](ReservationAdded& e) {
             e.had = {{NodeId(1), GpuSet::from_bits(1)}};
             e.reservation.from = Time{20'000};
           }),
           ""},
          {"its end", ReservationRemoved{ReservationId(0)}, ""},
          {"the end of another", ReservationRemoved{ReservationId(1)}, "there is no such reservation"},
      });
}

TEST(Refusal, OfCirclesOfTrust) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo, Order::kFifo, Order::kFifo});
  for (int child = 0; child < 2; ++child) state.apply(QueueAdded{{"queue/child", QueueId(0), Order::kFifo}});
  const QueueId busy(3), idle(4);
  WorkloadSubmitted fact = submission(busy, {{{{PodRequest{.gpus = 1, .gpu_milli = 500}, 1}}}});
  state.apply(fact);
  const auto circles = [](const std::vector<std::vector<QueueId>>& list, Time part_by = Time{5}) {
    TrustChanged made{{}, part_by};
    for (const std::vector<QueueId>& queues : list) made.circles.push_back({.queues = queues});
    return made;
  };
  const char* const once = "a circle names each of its queues once";
  expect(state, {
                    {"none", circles({}), ""},
                    {"two that overlap", circles({{QueueId(0), QueueId(1)}, {QueueId(1), QueueId(2)}}), ""},
                    {"a queue below the top, without work", circles({{QueueId(1), idle}}), ""},
                    {"one with work", circles({{QueueId(1), busy}}),
                     "queue queue/child has work already that is its tenant's above it; name it in a circle before"},
                    {"nobody in it", circles({{}}), once},
                    {"one twice", circles({{QueueId(1), QueueId(1)}}), once},
                    {"in disorder", circles({{QueueId(1), QueueId(0)}}), once},
                    {"an unknown queue", circles({{QueueId(0), QueueId(5)}}), "there is no such queue"},
                    {"as many as there may be", circles(std::vector<std::vector<QueueId>>(64, {QueueId(0)})), ""},
                    {"one more", circles(std::vector<std::vector<QueueId>>(65, {QueueId(0)})),
                     "more than 64 circles of trust; put those together that trust each other"},
                    {"for ever", circles({}, kForever), ""},
                    {"in the year 20,000", circles({}, Time{kTimeMax.ms + 1}), "a time is out of bounds"},
                    {"how long a scrub takes, too late", ScrubChosen{Duration{1}},
                     "how long a scrub takes is said before the first workload comes"},
                });
  state.apply(WorkloadCancelled{WorkloadId(0)});
  expect(state, {{"its work has gone", circles({{QueueId(1), busy}}), ""}});
}

TEST(Refusal, OfStrangersThatAreKeptAway) {
  const auto apart = [](std::vector<std::string> levels, bool beyond_devices = true) {
    TrustChanged made{{}, Time{5}, beyond_devices};
    for (std::string& level : levels) made.circles.push_back({.queues = {}, .apart = {std::move(level)}});
    return made;
  };
  std::vector<std::string> labels;
  for (int i = 0; i < 31; ++i) labels.push_back("label" + std::to_string(i));
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  expect(state, {{"from nodes", apart({"node"}), ""},
                 {"from domains of 31 labels, and nodes", apart(labels), ""},
                 {"nobody from anything", apart({""}), "a circle names each of its queues once"},
                 {"where that is not known", apart({"node"}, false), "whose work is on which GPUs is not known here"}});
  labels.emplace_back("rack");
  expect(state,
         {{"from domains of 32 labels", apart(labels), "strangers are kept out of the domains of at most 31 labels"}});
  State late = state.fork();
  late.apply(submission(QueueId(0), {{{{PodRequest{.gpus = 1, .gpu_milli = 1000}, 1}}}}));
  expect(late, {{"when somebody is there", apart({"node"}),
                 "whose work is on which GPUs is to be known before anybody is there"}});
  state.apply(TrustChanged{{}, Time{}, true});
  state.apply(submission(QueueId(0), {{{{PodRequest{.gpus = 1, .gpu_milli = 1000}, 1}}}}));
  expect(state, {{"when it was known before", apart({"node"}, false), ""}});
}

}  // namespace berth::refusal_of_queues_test
