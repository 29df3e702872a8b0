// What would become of a recorded cluster if some things were otherwise: run forward twice, as it is and with the changes, everybody
// running as long both times.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "model/event.h"
#include "sim/replay.h"
#include "sim/run_ahead.h"
#include "sim/timeline.h"

namespace berth {

// What is otherwise from the first moment on. INVARIANT: the state refuses none of the facts, each told after those before it.
struct Changes {
  std::vector<Event> facts = {};
  std::optional<PlacementPolicy> policy = {};  // by which places are chosen; none: as now
};

// In the scenario language (docs/scenarios.md), one a line: "add nodes m 2 gpus=8", "set queue research limit=16", "drain node n3",
// "cancel w", "submit w2 queue=q gpus=8"; and "queue new guarantee=8", "remove queue q", "remove node n3", "policy spread". Names are
// those of the recorded cluster. Statements that are no facts (cycle, at, expect) and those that declare what there is already are
// refused. Of series no names are recorded: `singleton=` takes turns with what else is submitted here, and with nobody who is there.
// `source` is for the complaints; the names of workloads that are submitted are added to `workloads`.
Result<Changes> read_changes(const std::string& source, std::string_view text, const Recorded& recorded,
                             std::vector<std::string>& workloads);

// One future.
struct Outlook {
  struct One {
    WorkloadId workload;
    std::optional<Time> starts;  // of who waits, the first time; none: not before the horizon
    std::int64_t evictions = 0;
    bool cancelled = false;  // by a change, or after it had waited as long as it was to: it starts no more

    // Whether it makes no difference to it.
    bool starts_as(const One& other) const { return starts == other.starts && cancelled == other.cancelled; }
  };
  struct Evicted {
    std::int64_t times = 0;
    std::int64_t lost_gpu_s = 0;
    std::string rule = {};  // of the first time

    friend bool operator==(const Evicted&, const Evicted&) = default;
  };
  // Of a queue's own work.
  struct OfQueue {
    std::int64_t waiting = 0;    // of those above
    std::int64_t cancelled = 0;  // of these
    std::int64_t starts_at_once = 0;
    std::int64_t started = 0;  // before the horizon
    Duration waited{0};        // these together, from now on
    Wide gpu_milli_ms = 0;     // held within kShareWindow
  };
  std::vector<One> waiting;         // that wait at the beginning, in the order of their numbers
  std::vector<One> submitted;       // that come with the changes, in their order; in WhatIf::after alone
  std::int64_t starts_at_once = 0;  // of those who wait at the beginning, at the first moment
  std::int64_t evictions = 0;       // of anybody, until the end; that elastic work shrinks (rule 18) is none
  std::int64_t lost_gpu_s = 0;      // by these, and by shrinking
  std::map<WorkloadId, Evicted> evicted;
  std::vector<OfQueue> queues;  // as WhatIf::queues
  Timeline timeline;            // from now to the end
};

// In which the shares of queues are looked at.
inline constexpr Duration kShareWindow{86'400'000};

struct WhatIfOptions {
  Seed seed{42};
  Duration horizon{std::int64_t{30} * 86'400'000};
  // Looked at now and then; what is found then is to be thrown away.
  std::function<bool()> is_broken_off = [] { return false; };
};

// Both end at one moment: when all who wait have started in both, or the horizon is reached, and not before kShareWindow is
// over.
struct WhatIf {
  struct Named {
    std::string name, queue;
  };
  struct Evicted {
    Named who;
    Outlook::Evicted before, after;

    bool is_as_before() const { return before == after; }
  };

  Outlook before, after;
  std::vector<Named> waiting;       // as Outlook::waiting
  std::vector<Named> submitted;     // as Outlook::submitted
  std::vector<Evicted> evicted;     // in either future, by number; elastic work by its minimum
  std::vector<std::string> queues;  // by number, those that the changes add behind those that are there
  Time now;
  std::int64_t running = 0, pending = 0;
  // Of who waits, those who are in no list, as it makes no difference to them, or as they are too many.
  std::int64_t same = 0, left_out = 0;
  // The same of who is evicted.
  std::int64_t evicted_alike = 0, evicted_left_out = 0;

  // Whether the timelines are there, too.
  bool has_timelines() const { return !before.timeline.rows.empty() || !after.timeline.rows.empty(); }
};

WhatIf what_if(const Recorded& recorded, const Changes& changes, const WhatIfOptions& options);

// The same draws for the same workload, whatever else happens.
RunAhead::LengthOfRun drawn_runs(const RunTimes& times, Time now, Seed seed);

}  // namespace berth
