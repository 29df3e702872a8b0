// Who is next: the workloads that wait, in the order in which one cycle may try them (docs/semantics.md, rules 9 to 12).
//
// Every line names a candidate. From the leaves of the quota tree upwards each queue's candidate is the first of its
// children's: first those that fit inside their child's floor, who uses least of it first; then the others, by the share
// that their child has after it has started; equal: who was submitted first. The cluster's candidate is next.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fairness/kept_back.h"
#include "fairness/quiet_lines.h"
#include "fairness/rank.h"
#include "fairness/rights.h"
#include "fairness/share.h"
#include "model/flavor.h"
#include "model/reason.h"
#include "state/pending.h"
#include "state/state.h"

namespace berth {

// A line that is held up holds up no other. INVARIANT: while this is in use nothing changes in the state but what is held:
// by the candidates that started, up to whom next() has not been called since; after anything else rank_again().
class CandidateOrder {
 public:
  // `quiet`: of this state, and nothing has been moved in it since; none: every line is looked at. `shadows`: what is promised,
  // as it changes with the candidates; none: nothing is.
  CandidateOrder(const State& state, Time now, QuietLines* quiet = nullptr,
                 const std::vector<Shadow>* shadows = nullptr);

  // The next to try; none when all that wait have been tried or stand behind somebody who did not fit.
  std::optional<WorkloadId> next();
  // What became of the last that next() gave. Started: the next of its shape may be tried.
  void started();
  // Whether whoever next() gave, refused by this gate, is one whom room is to be promised to, so that others may pass.
  bool wants_promise(ReasonCode gate) const;
  // Whether he is one who is promised nothing, and holds up others though reservations may never leave him a moment.
  bool may_hold_up_in_vain(ReasonCode gate) const;
  // It did not fit, and so would nobody of its shape (`next_may_fit`: but the next of it might). In a strict line, whoever would take
  // what it waits for stands behind, but for who is ended before it could start at the earliest (`from`; now: as soon as others have
  // ended).
  void refused(ReasonCode gate, Time from = {}, bool next_may_fit = false);
  // It can never run as things are; who stands behind it does not wait for it.
  void passed_over();

  // What queues hold has changed otherwise.
  void rank_again();

 private:
  using Cursor = SortedBlocks<PendingKey>::Cursor;
  // The first untried workload of one shape.
  struct Entry {
    PendingKey key;
    const ShapeInLine* shape = nullptr;
    Cursor at;
    bool blocked = false;  // known not to fit, and not tried again
  };
  // Those who wait in a line in the name of one user; where users make no difference, all of them. INVARIANT: it has
  // entries.
  struct Party {
    UserId user;
    Fraction holds;           // what its user holds, where users take turns
    std::vector<Entry> heap;  // the smallest key on top
    KeptBack kept;            // for those of a strict line whom the user's limit refused
  };
  // Room that nobody behind may have any more from a moment on.
  struct KeptLater {
    FlavorSet flavors;
    Time from;
  };
  struct Turn {
    const Line* line = nullptr;
    QueueId queue;
    bool fair = false;           // to its users
    std::vector<Party> parties;  // a heap, whoever is first on top
    KeptBack kept;               // for blocked heads of a strict line
    std::vector<KeptLater> kept_later;
    PromisedInLine promised;
    bool has_shadows = false;  // somebody of it had one when it was made

    Entry& first() { return parties.front().heap.front(); }
  };
  struct Child {
    Rank rank;
    Candidate candidate;
    QueueId queue;  // the parent itself: what waits in its own line, beside its children
  };
  // A queue of the tree with somebody who waits at it or below it.
  struct Place {
    std::optional<std::size_t> turn;
    std::vector<QueueId> below;  // its children that are places
    std::vector<Child> named;    // of those that name somebody; a heap, the first on top
    AmountsByDim past;           // what it held before, where that counts
  };

  // False: there is nobody to try.
  bool add_turn(QueueId queue, const Line& line);
  bool stands_still(QueueId queue, const Line& line) const;
  bool some_end_is_known() const;
  bool somebody_wants_promise(QueueId queue, const Line& line) const;
  bool twin_wants_promise(const ShapeInLine& shape) const;
  bool twins_are_promised_room(const Turn& turn, ReasonCode gate, WorkloadId workload) const;
  bool has_shadow(WorkloadId workload) const;
  bool has_shadow_in(QueueId line) const;
  std::optional<Cursor> first_promised(QueueId line, const ShapeInLine& shape, Cursor from, Time by) const;
  bool may_be_promised(const Turn& turn, ReasonCode gate, const Shape& shape) const;
  bool may_hold_up_in_vain(const Turn& turn, ReasonCode gate) const;
  bool may_be_possible_now(QueueId queue, const ShapeInLine& entry);
  const RightsAtAGlance& rights();
  void add_parties(Turn& turn, std::vector<Entry> entries) const;
  void arrange(Turn& turn) const;
  static Cursor behind_it(const Entry& entry);
  void drop_first(Turn& turn, std::optional<Cursor> next_of_shape);
  void drop_the_held(Turn& turn);
  bool is_kept_later(const Turn& turn, const Shape& shape) const;
  void moved_on();
  const Shape& shape_of(const Entry& entry) const { return state_.shape(entry.shape->shape); }

  void build(QueueId queue);
  std::optional<Candidate> named_by(QueueId queue);
  std::optional<Candidate> named_by_line(std::size_t turn);
  void name(QueueId parent, QueueId child, Candidate candidate);
  Place& place(QueueId queue);

  const State& state_;
  Time now_;
  const std::vector<Shadow>* shadows_;
  FlavorSet known_;
  std::optional<RightsAtAGlance> rights_;  // none: nobody has been asked about yet
  std::vector<Turn> turns_;
  std::vector<Place> places_;            // the first is the cluster
  std::vector<std::uint32_t> place_of_;  // by queue, into them; 0: it has none yet
  std::vector<QueueId> path_;            // of who is next, from the top down
  Turn* current_ = nullptr;
  bool limited_started_ = false;  // of those that next() gave somebody whose end is enforced
  bool ranked_ = false;
};

}  // namespace berth
