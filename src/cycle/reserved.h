// Reservations in one cycle: what they have, who is told to leave it, and who may not start in it (docs/semantics.md,
// "Reservations", and decision 0038).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "cycle/claim.h"
#include "cycle/reserved_places.h"
#include "model/plan.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// Which reservations somebody has to leave alone.
enum class Heeding : std::uint8_t {
  kAll,
  kInsideFloors,  // the part of each that is inside its queue's floor; the rest gives way to a guaranteed claim
  kUnlessElsewhere,  // those that do not give way to a guaranteed claim; the others it may have whole, if as much is held elsewhere
  kNone,
};

class Reserved {
 public:
  // PRE: `trial` is on the state's own ledgers; `plan` is the one that is being made.
  Reserved(const State& state, Trial& trial, const Plan& plan)
      : state_(state), trial_(trial), plan_(plan), all_(state.holdings()) {}

  bool none() const { return state_.reservations().empty(); }
  const std::vector<HeldPlaces>& all() const { return all_; }
  bool have_changed() const { return all_ != state_.holdings(); }

  // Anew for each reservation, the first that was made first.
  void choose();
  // Who has to be told by now that he is to leave, for nobody's claim; out of the trial then.
  std::vector<Eviction> take_due();

  // What a workload of this queue that is there between these moments has to leave alone. `asks_parts`: of nodes whose devices
  // are reserved and partly free it leaves all alone, since of these it might choose a part. `covered_at`: where it would be
  // covered, if what is beyond floors gives way to it.
  KeptRoom kept_from(QueueId queue, Time start, Time end, bool asks_parts = false, Heeding heeding = Heeding::kAll,
                     QueueId covered_at = {}) const;
  // Of one that waits, from a moment on until it would end.
  KeptRoom kept_from(WorkloadId workload, Time start, Heeding heeding = Heeding::kAll, QueueId covered_at = {}) const;
  // The same if it begins so much later than it has its room.
  KeptRoom kept_if_late(WorkloadId workload, Time start, Duration late) const;
  // Whether a start leaves them alone for which the last has gone by then.
  bool lets(const Start& start, Time gone, Heeding heeding = Heeding::kAll, QueueId covered_at = {}) const;
  bool lets(const Repair& repair) const;
  // When it begins at the latest, whoever has to go for it by then: if it waits, all have left who were told to; then what it leaves
  // behind of them is scrubbed, and its slices are cut.
  Time begins_by(const Start& start, Time gone) const;
  // Whether one that is to have its room from a moment on leaves alone what is reserved then, though GPUs are cut for it first.
  bool lets_then(const Start& start, Time then) const;
  // Whether enough is left free at a moment for what reservations that last by then lack: they get what comes free before anybody else.
  // PRE: the trial is as it will be then, with this workload in its places.
  bool leaves_what_they_lack(WorkloadId workload, Time then) const;
  // At other places as much of all that a start would take from, and who has to be told by now to leave these. None: not all of it.
  // `claimed`: who goes or moves for the start, who is out of the trial.
  struct Elsewhere {
    std::vector<HeldPlaces> holdings;
    std::vector<Eviction> evictions;
  };
  std::optional<Elsewhere> elsewhere(const Claimed& claimed) const;
  // It is in the plan now: what it took that was beyond a floor is reserved no more, and what is held elsewhere for its sake is held
  // there. Whether the next cycle chooses other places for it, as it is the work of somebody whose reservation lasts.
  bool started(const Start& start, const std::vector<HeldPlaces>& elsewhere = {});
  // What of reservations that last is the queue's own and not the other's, too, by node; and whether all GPUs of a start are there, and
  // it has some.
  std::vector<GpusOfNode> own_places(QueueId queue, QueueId not_of) const;
  bool is_inside_own(const Start& start, QueueId not_of) const;
  // The moments at which reservations end, for who looks for a time after them; and those up to one from which on other reservations are
  // in the way of somebody who is ended so long after his start (none: by nobody).
  std::vector<Time> ends() const;
  std::vector<Time> turns(std::optional<Duration> run_limit, Time until) const;

 private:
  std::set<Device> taken_from(ReservationId id, const Reservation& reservation) const;
  std::set<Device> taken_in_plan() const;
  std::int64_t free_whole_gpus(const Reservation& reservation, Time then) const;
  QueueId side_that_gives_way(const Reservation& reservation, QueueId queue, QueueId covered_at) const;
  GpuSet inside_floor(const Reservation& reservation, const GpusOfNode& of_node, QueueId side,
                      std::int64_t& left) const;
  bool is_on_covered(const Reservation& reservation, Device device, QueueId side) const;
  std::int64_t gpus_inside_floor(const Reservation& reservation) const;
  Time latest_leave() const;
  Time end_of(const Start& start, Time gone) const;
  template <class Placed>
  bool leaves_alone(const KeptRoom& kept, const Placed& placed) const;
  // When somebody in the way has to be told, and by when he then has to have stopped; never if he ends in time or may not be told.
  struct Told {
    WorkloadId workload;
    Time at;
    Time stop_by;
  };
  KeptRoom away_from_strangers(WorkloadId workload, Time start, Time end, KeptRoom kept) const;
  std::vector<Told> in_the_way(const WhoStays& who, const HeldPlaces& holding, const Reservation& reservation) const;
  std::vector<Eviction> due(const WhoStays& who, HeldPlaces& holding) const;
  WorkloadId who_goes(WorkloadId in_the_way, const Reservation& reservation) const;
  Duration notice_of(WorkloadId workload, const Reservation& reservation) const;

  const State& state_;
  Trial& trial_;
  const Plan& plan_;
  std::vector<HeldPlaces> all_;
  std::optional<WhoStays> who_;  // none: nobody has asked
};

}  // namespace berth
