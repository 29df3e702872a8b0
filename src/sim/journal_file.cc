#include "sim/journal_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "cycle/engine.h"
#include "cycle/run_cycle.h"

namespace berth {

Result<JournalFile> JournalFile::create(const std::string& path) {
  JournalFile journal;
  journal.path_ = path;
  journal.file_.reset(std::fopen(path.c_str(), "wb"));
  if (!journal.file_) {
    return Complaints({path},
                      std::string("cannot be written: ") + std::strerror(errno) + "; name a file in a folder of yours");
  }
  journal.chain_ = std::make_unique<ChainWriter>();
  return journal;
}

void JournalFile::begin_section(std::uint32_t index, std::uint32_t sections) {
  write(chain_->begin_section(index, sections));
}

void JournalFile::append(std::span<const std::uint8_t> payload) { write(chain_->append(payload)); }

void JournalFile::write(const Bytes& bytes) {
  if (error_ != 0) return;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) error_ = errno;
  bytes_ += bytes.size();
}

Result<std::uint64_t> JournalFile::close() {
  std::FILE* const file = file_.release();
  if (std::fclose(file) != 0 && error_ == 0) error_ = errno;
  if (error_ != 0) {
    return Complaints({path_},
                      std::string("the journal is not whole: ") + std::strerror(error_) + "; make room and run again");
  }
  return bytes_;
}

std::uint64_t state_hash_of(std::span<const std::uint64_t> hashes) {
  if (hashes.size() == 1) return hashes.front();
  Hasher hasher;
  for (const std::uint64_t hash : hashes) hasher.add(hash);
  return hasher.digest();
}

namespace {

// The runs of one journal, made again.
class Replayer {
 public:
  // What is wrong with the next record, if anything is.
  std::optional<std::string> take(std::span<const std::uint8_t> payload) {
    const auto record = decode(payload);
    if (!record) return "the record cannot be read: " + record.error();
    const Bytes again = encode(*record);
    if (!std::equal(again.begin(), again.end(), payload.begin(), payload.end()))
      return "the record is not in its one form";
    if (const Plan* const plan = std::get_if<Plan>(&*record)) return take_plan(*plan);
    if (due_) return "the plan of the cycle before is missing";
    if (const Event* const event = std::get_if<Event>(&*record)) return take_event(*event);
    if (const CycleAsked* const asked = std::get_if<CycleAsked>(&*record)) return take_cycle(*asked);
    return take_end(std::get<RunClosed>(*record));
  }

  Replay result() {
    replay_.state_hash = state_hash_of(hashes_);
    return replay_;
  }

 private:
  std::optional<std::string> take_event(const Event& event) {
    if (auto refusal = engine_.state.refusal(event)) return "the fact makes no sense here: " + *refusal;
    engine_.state.apply(event);
    return std::nullopt;
  }

  std::optional<std::string> take_cycle(const CycleAsked& asked) {
    if (asked.effort.attempts_max < 1) return "a cycle needs an effort of at least one attempt";
    Plan plan = run_cycle(engine_, asked.now, asked.effort);
    ++replay_.cycles;
    if (!plan.changes_nothing()) due_ = std::move(plan);
    return std::nullopt;
  }

  std::optional<std::string> take_plan(const Plan& recorded) {
    if (!due_) return "a plan is recorded that this program would not have made";
    if (!(recorded == *due_)) return "this program decides otherwise than the journal says";
    replay_.starts += due_->starts.size();
    engine_.state.adopt(*due_);
    due_.reset();
    return std::nullopt;
  }

  std::optional<std::string> take_end(const RunClosed& closed) {
    if (closed.state_hash != engine_.state.hash()) return "the final state differs from the journal's";
    hashes_.push_back(closed.state_hash);
    ++replay_.runs;
    engine_ = Engine();
    return std::nullopt;
  }

  Engine engine_;
  std::optional<Plan> due_;  // made by the last cycle, not yet met in the journal
  std::vector<std::uint64_t> hashes_;
  Replay replay_;
};

}  // namespace

Result<Replay> replay_journal(const std::string& name, std::span<const std::uint8_t> file) {
  ChainReader chain(file);
  Replayer replayer;
  while (true) {
    const std::size_t offset = chain.offset();
    const auto payload = chain.next();
    if (!payload) return Complaints({name}, payload.error());
    if (payload->empty()) break;
    if (chain.version() < kJournalVersion) {
      return Complaints({name}, "written in format " + std::to_string(chain.version()) +
                                    ", by a Berth that knew fewer rules: what it decided would be decided otherwise "
                                    "today; replay it with the program that wrote it");
    }
    if (auto mistake = replayer.take(*payload)) {
      return Complaints(
          {name}, "record " + std::to_string(chain.records()) + ", byte " + std::to_string(offset) + ": " + *mistake);
    }
  }
  Replay replay = replayer.result();
  replay.records = chain.records();
  replay.bytes = file.size();
  return replay;
}

}  // namespace berth
