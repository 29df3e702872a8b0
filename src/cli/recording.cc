#include "cli/recording.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/wording.h"
#include "manifest/timestamp.h"
#include "model/quantity.h"
#include "sim/files.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

Result<std::string> journal_at(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return path;
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (entry.path().extension() == ".journal") found.push_back(entry.path().string());
  }
  if (found.empty()) return Complaints({path}, "has no journal; name a file, or the folder of a scheduler's --journal");
  return *std::ranges::max_element(found);
}

struct JournalUntil {
  std::string name;
  Bytes bytes;
  std::optional<Time> until;
};

Result<JournalUntil> read_journal(const std::string& path, const std::string& moment) {
  Complaints complaints;
  const auto until = parse_moment("--until", moment);
  if (!until) complaints.add_all(until.error());
  const auto journal = journal_at(path);
  if (!journal) complaints.add_all(journal.error());
  if (!complaints.empty()) return complaints;
  const Result<std::string> file = read_file(*journal);
  if (!file) return file.error();
  return JournalUntil{*journal, Bytes(file->begin(), file->end()), *until};
}

// Whether a recorded name is of what somebody means: on a live cluster "w", "default/w" and "job/w" mean "default/w/UID", and
// "default/w-x2b9k", a pod that a Job has made.
bool is_meant(std::string_view recorded, std::string_view meant) {
  constexpr std::size_t kSuffix = 5;  // of letters and digits, behind the name of who makes a pod
  if (meant.starts_with("job/")) meant.remove_prefix(4);
  const bool whole_path = meant.contains('/');
  const std::size_t begin = recorded.find('/');
  if (begin == std::string_view::npos) return false;
  const std::size_t end = recorded.find('/', begin + 1);
  const std::string_view name = whole_path ? recorded.substr(0, end) : recorded.substr(begin + 1, end - begin - 1);
  if (name == meant) return true;
  return name.size() == meant.size() + 1 + kSuffix && name.starts_with(meant) && name[meant.size()] == '-';
}

}  // namespace

Result<std::optional<Time>> parse_moment(const std::string& option, const std::string& text) {
  if (text.empty()) return std::optional<Time>();
  if (const auto ms = parse_duration_ms(text)) return std::optional(Time{*ms});
  if (const auto date = parse_timestamp(text)) return std::optional(*date);
  return Complaints({option}, quote(text) + " is no moment; write 2h30m after the beginning, or 2026-11-21T08:00:00Z");
}

Result<Recorded> read_recording(const std::string& path, const std::string& moment) {
  const Result<JournalUntil> journal = read_journal(path, moment);
  if (!journal) return journal.error();
  return recorded_at(journal->name, journal->bytes, journal->until);
}

Result<RecordedTimeline> read_timeline(const std::string& path, const std::string& until) {
  const Result<JournalUntil> journal = read_journal(path, until);
  if (!journal) return journal.error();
  return timeline_of(journal->name, journal->bytes, journal->until);
}

std::string moment_in_words(Time moment) {
  return is_date(moment) ? format_timestamp(moment) : format_duration_ms(moment.ms) + " after the beginning";
}

Result<WorkloadId> find_recorded(const Recorded& recorded, const std::string& workload) {
  if (const auto found = recorded.find(workload)) return *found;
  // Of several the last.
  for (std::size_t i = recorded.workloads.size(); i > 0; --i) {
    if (is_meant(recorded.workloads[i - 1], workload)) return WorkloadId(i - 1);
  }
  const std::vector<std::string_view> names(recorded.workloads.begin(), recorded.workloads.end());
  const std::string_view near = nearest_word(workload, names);
  return Complaints({workload}, "nobody of this name was submitted until then" +
                                    (near.empty() ? std::string() : "; did you mean " + std::string(near) + "?"));
}

}  // namespace berth
