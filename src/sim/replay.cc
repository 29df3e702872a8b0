#include "sim/replay.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "cycle/run_cycle.h"
#include "sim/journal_file.h"
#include "sim/recorded_names.h"
#include "sim/stopped_for_a_loss.h"
#include "sim/timeline_recorder.h"

namespace berth {
namespace {

// The runs of one journal, made again.
class Replayer {
 public:
  explicit Replayer(RecordWatch watch = nullptr) : watch_(std::move(watch)) {}

  // What is wrong with the next record, if anything is.
  std::optional<std::string> take(std::span<const std::uint8_t> payload) {
    const auto record = decode(payload);
    if (!record) return "the record cannot be read: " + record.error();
    const Bytes again = encode(*record);
    if (!std::equal(again.begin(), again.end(), payload.begin(), payload.end()))
      return "the record is not in its one form";
    auto mistake = take(*record);
    if (!mistake && watch_) watch_(engine_.state, *record);
    return mistake;
  }

  // The run that is being read ends here, without a record that says so.
  void end_here() {
    if (!ended_) note_end();
  }

  Replay result() {
    replay_.state_hash = state_hash_of(hashes_);
    return replay_;
  }

  Recorded recorded() && {
    return {.engine = std::move(engine_),
            .workloads = std::move(workloads_),
            .now = now_,
            .run_times = std::move(run_times_),
            .pasts = std::move(pasts_)};
  }

 private:
  std::optional<std::string> take(const JournalRecord& record) {
    if (const Plan* const plan = std::get_if<Plan>(&record)) return take_plan(*plan);
    if (due_) return "the plan of the cycle before is missing";
    if (const Event* const event = std::get_if<Event>(&record)) return take_event(*event);
    if (const CycleAsked* const asked = std::get_if<CycleAsked>(&record)) return take_cycle(*asked);
    return take_end(std::get<RunClosed>(record));
  }

  std::optional<std::string> take_event(const Event& event) {
    if (auto refusal = engine_.state.refusal(event)) return "the fact makes no sense here: " + *refusal;
    if (std::holds_alternative<RunConfigured>(event)) {
      workloads_.clear();
      run_times_ = {};
      ended_runs_.clear();
      pasts_.clear();
      undated_.clear();
      now_ = {};
    }
    note_name_and_time(event);
    if (const auto* const ended = std::get_if<WorkloadEnded>(&event)) note_end_of(ended->workload);
    const StoppedForALoss loss(engine_.state, event, now_);
    engine_.state.apply(event);
    for (const Eviction& each : loss.evictions(engine_.state)) note_evicted(each, now_);
    note_over(event);
    return std::nullopt;
  }

  void note_evicted(const Eviction& eviction, Time at) {
    RecordedPast& past = pasts_[eviction.workload];
    past.eviction = eviction;
    past.evicted = at;
  }

  // By what an event says itself.
  void note_over(const Event& event) {
    using End = RecordedPast::End;
    const auto note = [&](WorkloadId id, End end) {
      const Workload* const workload = engine_.state.workloads().find(id);
      if (workload != nullptr && workload->phase < Phase::kEnded) return;
      pasts_[id].end = end;
      pasts_[id].ended = now_;
      if (!engine_.state.keeps_time()) undated_.push_back(id);
    };
    if (const auto* const ended = std::get_if<WorkloadEnded>(&event)) note(ended->workload, End::kEnded);
    if (const auto* const overran = std::get_if<WorkloadOverran>(&event)) note(overran->workload, End::kOverran);
    if (const auto* const cancelled = std::get_if<WorkloadCancelled>(&event))
      note(cancelled->workload, End::kCancelled);
    if (const auto* const waited = std::get_if<MaxWaitPassed>(&event)) note(waited->workload, End::kCancelled);
  }

  void note_end_of(WorkloadId id) {
    const Workload& workload = engine_.state.workload(id);
    if (!is_there(workload.phase)) return;
    ended_runs_.emplace_back(run_of(engine_.state, id), workload.started);
    if (engine_.state.keeps_time()) learn_runs();
  }

  // Who ended before a cycle did so at its moment, where nothing else says when.
  void learn_runs() {
    for (const auto& [run, started] : ended_runs_) run_times_.ended(run, now_ - started);
    ended_runs_.clear();
  }

  void note_name_and_time(const Event& event) {
    if (const auto* const submitted = std::get_if<WorkloadSubmitted>(&event)) workloads_.push_back(submitted->name);
    if (const auto* const found = std::get_if<WorkloadFound>(&event)) workloads_.push_back(found->workload.name);
    if (const auto at = moment_of(event)) now_ = std::max(now_, *at);
  }

  std::optional<std::string> take_cycle(const CycleAsked& asked) {
    if (asked.effort.attempts_max < 1) return "a cycle needs an effort of at least one attempt";
    now_ = std::max(now_, asked.now);
    learn_runs();
    for (const WorkloadId id : std::exchange(undated_, {})) pasts_[id].ended = now_;
    Plan plan = run_cycle(engine_, asked.now, asked.effort);
    ++replay_.cycles;
    if (!plan.changes_nothing()) due_ = std::move(plan);
    return std::nullopt;
  }

  std::optional<std::string> take_plan(const Plan& recorded) {
    if (!due_) return "a plan is recorded that this program would not have made";
    if (!(recorded == *due_)) return "this program decides otherwise than the journal says";
    replay_.starts += due_->starts.size();
    for (const Eviction& each : due_->evictions) note_evicted(each, due_->now);
    engine_.state.adopt(*due_);
    due_.reset();
    return std::nullopt;
  }

  std::optional<std::string> take_end(const RunClosed& closed) {
    if (closed.state_hash != engine_.state.hash()) return "the final state differs from the journal's";
    note_end();
    return std::nullopt;
  }

  void note_end() {
    hashes_.push_back(engine_.state.hash());
    ++replay_.runs;
    ended_ = true;
  }

 public:
  // The moment that a fact speaks of; none: it does not say.
  static std::optional<Time> moment_of(const Event& event) {
    if (const auto* const submitted = std::get_if<WorkloadSubmitted>(&event)) return submitted->at;
    if (const auto* const passed = std::get_if<TimePassed>(&event)) return passed->now;
    if (const auto* const turned = std::get_if<CalendarTurned>(&event)) return turned->at;
    return std::nullopt;
  }

  // The run that was read last is over: what comes is another.
  void begin_next() {
    if (!std::exchange(ended_, false)) return;
    engine_ = Engine();
  }

 private:
  Engine engine_;
  std::optional<Plan> due_;  // made by the last cycle, not yet met in the journal
  std::vector<std::uint64_t> hashes_;
  std::vector<std::string> workloads_;
  RunTimes run_times_;
  std::vector<std::pair<RunOf, Time>> ended_runs_;  // and when they started: their end is yet to be learned
  std::map<WorkloadId, RecordedPast> pasts_;
  std::vector<WorkloadId> undated_;  // of these, who ended: when is yet to be learned
  Time now_;
  bool ended_ = false;
  RecordWatch watch_;
  Replay replay_;
};

std::optional<std::string> too_old(const ChainReader& chain) {
  if (chain.version() >= kJournalVersion) return std::nullopt;
  return "written in format " + std::to_string(chain.version()) +
         ", by a Berth that knew fewer rules: what it decided would be decided otherwise today; replay it with the "
         "program "
         "that wrote it";
}

// What is wrong with the record that the chain has just read, from that byte on.
std::optional<std::string> take_next(Replayer& replayer, const ChainReader& chain,
                                     std::span<const std::uint8_t> payload, std::size_t offset) {
  if (auto old = too_old(chain)) return old;
  replayer.begin_next();
  const auto mistake = replayer.take(payload);
  if (!mistake) return std::nullopt;
  return "record " + std::to_string(chain.records()) + ", byte " + std::to_string(offset) + ": " + *mistake;
}

constexpr std::uint64_t kAllRecords = std::numeric_limits<std::uint64_t>::max();

// How many records tell of what was until that moment; all, as far as they can be read. A fact that does not say when it was
// happened at the moment that was told since the last cycle, else at that of the next.
std::uint64_t records_until(std::span<const std::uint8_t> file, Time until) {
  ChainReader chain(file);
  std::uint64_t records = 0;
  bool moment_is_told = true;
  for (std::uint64_t read = 1;; ++read) {
    const auto payload = chain.next();
    if (!payload || payload->empty()) return kAllRecords;
    const auto record = decode(*payload);
    if (!record) return kAllRecords;
    if (const auto* const asked = std::get_if<CycleAsked>(&*record)) {
      if (asked->now > until) return records;
      moment_is_told = false;
    }
    const auto* const event = std::get_if<Event>(&*record);
    const auto at = event != nullptr ? Replayer::moment_of(*event) : std::nullopt;
    if (at && *at > until) return records;
    moment_is_told = moment_is_told || at || (event != nullptr && std::holds_alternative<RunConfigured>(*event));
    if (event == nullptr || moment_is_told) records = read;
  }
}

// The moment that a record speaks of.
std::optional<Time> moment_of(const JournalRecord& record) {
  if (const auto* const asked = std::get_if<CycleAsked>(&record)) return asked->now;
  const auto* const event = std::get_if<Event>(&record);
  return event == nullptr ? std::nullopt : Replayer::moment_of(*event);
}

bool is_more_in(ChainReader& chain) {
  const auto payload = chain.next();
  return payload && !payload->empty();
}

}  // namespace

std::optional<Time> beginning_of(std::span<const std::uint8_t> file) {
  ChainReader chain(file);
  std::optional<Time> first;
  while (true) {
    const auto payload = chain.next();
    if (!payload || payload->empty()) return first;
    const auto record = decode(*payload);
    if (!record) return first;
    const auto moment = moment_of(*record);
    if (!moment) continue;
    if (!is_date(*moment)) return Time{};
    // Who is found running began before the journal did.
    if (std::holds_alternative<CycleAsked>(*record)) return moment;
    if (!first) first = moment;
  }
}

Result<Replay> replay_journal(const std::string& name, std::span<const std::uint8_t> file, JournalEnd end) {
  ChainReader chain(file);
  Replayer replayer;
  while (true) {
    const std::size_t offset = chain.offset();
    const auto payload = chain.next();
    if (!payload && end == JournalEnd::kAfterAnyRecord && offset == file.size() && chain.records() > 0) {
      replayer.end_here();
      break;
    }
    if (!payload) return Complaints({name}, payload.error());
    if (payload->empty()) break;
    if (auto wrong = take_next(replayer, chain, *payload, offset)) return Complaints({name}, *wrong);
  }
  Replay replay = replayer.result();
  replay.records = chain.records();
  replay.bytes = file.size();
  return replay;
}

std::optional<WorkloadId> Recorded::find(std::string_view workload) const {
  return who_is_meant(engine.state, workloads, workload);
}

Result<Recorded> recorded_at(const std::string& name, std::span<const std::uint8_t> file, std::optional<Time> until,
                             RecordWatch watch) {
  ChainReader chain(file);
  Replayer replayer(std::move(watch));
  const std::uint64_t records_max = until ? records_until(file, *until) : kAllRecords;
  std::uint64_t records = 0;
  while (records < records_max) {
    const std::size_t offset = chain.offset();
    const auto payload = chain.next();
    if (!payload) {
      if (chain.is_cut_off() && records > 0) break;
      return Complaints({name}, payload.error());
    }
    if (payload->empty()) break;
    if (auto wrong = take_next(replayer, chain, *payload, offset)) return Complaints({name}, *wrong);
    ++records;
  }
  if (records == 0) return Complaints({name}, "begins after that moment; name a later one");
  Recorded recorded = std::move(replayer).recorded();
  recorded.records = records;
  recorded.goes_on = records == records_max && is_more_in(chain);
  return recorded;
}

}  // namespace berth
