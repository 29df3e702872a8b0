// Makes a timeline of the records of a journal, or of a run into the future, as they are taken in.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sim/replay.h"
#include "sim/session.h"
#include "sim/timeline.h"

namespace berth {

class TimelineRecorder {
 public:
  // Of a state that is there already: who runs has run since his start, who waits since he came.
  void begin_with(const State& state, const std::vector<std::string>& workloads, Time now);

  // After it was taken in. Where moments are dates, a run that follows another goes on with its rows: a scheduler begins anew
  // with what it finds. Else only the last run is told of.
  void take(const State& state, const JournalRecord& record);

  // Of facts without a moment that no cycle has followed: they happened later than whatever was looked at.
  void forget_undated();
  // So far it is known what they do.
  Timeline finish(Time end) &&;

 private:
  struct Seat {
    std::size_t row = 0;
    std::uint32_t attempts_before = 0;  // in the runs before
    std::vector<WorkloadId> steps = {};
  };

  void take_event(const State& state, const Event& event);
  void on(const State& state, const WorkloadSubmitted& event) { add(state, event, std::nullopt); }
  void on(const State& state, const WorkloadFound& event) { add(state, event.workload, event.started); }
  void on(const State& state, const WorkloadEnded& event) { look_with_steps(state, event.workload, Doing::kDone); }
  void on(const State& state, const WorkloadOverran& event) { look_with_steps(state, event.workload, Doing::kOverran); }
  void on(const State& state, const WorkloadCancelled& event) {
    look_with_steps(state, event.workload, Doing::kCancelled);
    note_stand_in(event.workload);
  }
  // It is cancelled by that, or waits on.
  void on(const State& state, const MaxWaitPassed& event) {
    const bool is_known = state.workloads().find(event.workload) != nullptr;
    look_with_steps(state, event.workload, is_known ? std::nullopt : std::optional(Doing::kCancelled));
  }
  void on(const State& state, const WorkloadStopped& event) { look_with_steps(state, event.workload); }
  // With the last of a set all of it may be done.
  void on(const State& state, const PodEnded& event) { look_with_steps(state, event.workload); }
  void on(const State&, const WorkloadReady&) {}
  void on(const State&, const LimitExtended&) {}
  void on(const State& state, const WorkloadMoved& event);
  void on(const State& state, const NodesAdded& event);
  void on(const State& state, const NodeFailed& event);
  void on(const State& state, const NodeRestored& event);
  void on(const State& state, const ReservationAdded& event);
  void on(const State& state, const ReservationRemoved& event);
  void on(const State& state, const ReservationTimesTold& event);
  void on(const State& state, const TimePassed& event);
  void on(const State&, const CheckpointReported&) {}
  // All others are rare, and whoever has room may lose it by them.
  template <class Other>
  void on(const State& state, const Other&) {
    look_at_everybody(state);
  }
  void take_cycle(const CycleAsked& asked);
  void take_plan(const State& state, const Plan& plan);

  void begin_run();
  void add(const State& state, const WorkloadSubmitted& submitted, std::optional<Time> started);
  void sit(const State& state, WorkloadId workload, std::size_t row, std::uint32_t attempts_before);
  std::size_t new_row(const State& state, WorkloadId workload, const std::string& name);
  void reserve(const State& state, ReservationId id, const Reservation& made);
  void know_nodes(const State& state);
  void note_capacity(const State& state);
  void look_at_everybody(const State& state);
  void look_with_steps(const State& state, WorkloadId workload, std::optional<Doing> outcome = {});
  void look(const State& state, WorkloadId workload, std::optional<Doing> outcome = {});
  Timeline::Change seen(const State& state, WorkloadId workload, std::optional<Doing> outcome) const;
  std::vector<Timeline::Place> places_of(const State& state, WorkloadId workload) const;
  void note_stand_in(WorkloadId workload);
  void leave_out_stand_ins();
  void put(std::size_t row, Timeline::Change change);
  void happened_at(Time moment);

  Timeline timeline_;
  std::vector<std::optional<Seat>> seats_;  // by workload of this run
  std::set<WorkloadId> in_world_;           // those who have room, or are there
  std::vector<std::size_t> nodes_;          // in the timeline, by node of this run
  std::map<std::string, std::size_t> node_by_name_;
  std::set<std::size_t> stand_ins_;  // rows of those who wait no more, since they are part of another
  std::set<NodeId> failed_;
  std::map<ReservationId, std::size_t> reserved_;             // in the timeline
  std::map<std::string, std::size_t> left_;                   // rows of the run before, by name
  std::vector<std::pair<std::size_t, std::size_t>> undated_;  // changes: row, index
  std::size_t undated_capacity_ = 0;                          // so many of the last
  bool began_later_ = false;                                  // not with a run
  bool kept_time_ = false;                                    // after the record before
  std::optional<Time> now_;                                   // none: not known before the next cycle
  Time latest_;
  std::optional<Time> first_;
};

// A journal up to that moment, with what is known then.
struct RecordedTimeline {
  Recorded recorded;
  Timeline timeline;
};
// Of several one after the other, as a scheduler wrote them: those but the last that cannot be replayed are left out, and whoever
// asks is told why.
using ReadJournal = std::function<Result<Bytes>(const std::string& name)>;
Result<RecordedTimeline> timeline_of(const std::vector<std::string>& names, const ReadJournal& read,
                                     std::optional<Time> until, const std::function<void(const Complaints&)>& left_out);
Result<RecordedTimeline> timeline_of(const std::string& name, std::span<const std::uint8_t> file,
                                     std::optional<Time> until);

// Moments of live clusters count from 1970, those of simulations from the beginning of the run.
inline constexpr Time kFirstDate{std::int64_t{30} * 365 * 86'400'000};
constexpr bool is_date(Time moment) { return moment >= kFirstDate; }

}  // namespace berth
