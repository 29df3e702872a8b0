// Plans of moves that somebody asks for by an object: which are to be made now, which are to be carried out, and what their
// statuses say. All that a scheduler which is started anew has to know stands there: a plan that was shown, and what was decided of
// one, so that none is carried out twice. No threads and no clock: the scheduler makes the plans in the background.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cycle/defragment.h"
#include "manifest/defragmentation_spec.h"
#include "manifest/value.h"
#include "model/ids.h"
#include "service/asked_moves.h"
#include "service/round.h"
#include "state/state.h"

namespace berth {

class Defragmentations {
 public:
  static constexpr Duration kAgainAfter = seconds(60);  // in its hours a plan is as old as that at most
  static constexpr std::int64_t kMovesMax = 256;        // in a plan, and
  static constexpr std::int64_t kPodsMax = 2'000;       // so many pods: all who would be moved are shown

  // A plan that is to be made.
  struct Question {
    std::string name, uid;  // of the object
    DefragmentationSpec spec;
  };

  void set(const Value& object);
  void remove(const std::string& name) { asked_.erase(name); }

  // The one that waits for it longest; none: no plan is to be made now.
  std::optional<Question> due(Time now) const;
  void note_planned(const Question& question, Value plan, Time now);
  // Once for each that is to be carried out: the next is asked for when this one is decided.
  std::optional<AskedMoves> to_carry_out(Time now);
  void note_decided(const MovesDecided& decided, Time now);

  // When time alone makes a difference next.
  std::optional<Time> next_moment(Time now) const;
  // Those that are to be written, by name.
  std::vector<std::pair<std::string, Value>> statuses() const;

 private:
  struct Asked {
    std::string uid;
    DefragmentationSpec spec;
    bool is_wrong = false;  // its spec is, and whoever let it in: nothing is done
    Value said;             // as its object has it
    Value status;           // as it is to be
  };

  static bool has_plan_for(const Asked& asked);
  static bool cools_down(const Asked& asked, Time now);
  static bool is_to_be_carried_out(const Asked& asked, Time now);
  static void say_how_it_stands(Asked& asked);

  std::map<std::string, Asked> asked_;
  std::string deciding_;  // whose plan is being decided
};

using PodsOfRuns = std::map<WorkloadId, std::vector<PodName>>;

// As the status has it. It is called by its moment and the state's revision. It costs time: not on the scheduler's thread.
Value defragmentation_plan(const State& state, const PodsOfRuns& pods, const DefragmentationSpec& spec, Time now);
// What a status has that cannot be read was not written by a scheduler: no moves.
AskedMoves moves_in(const Value& plan);

}  // namespace berth
