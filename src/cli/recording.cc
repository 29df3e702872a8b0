#include "cli/recording.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/wording.h"
#include "client/listing.h"
#include "manifest/timestamp.h"
#include "model/quantity.h"
#include "sim/files.h"
#include "sim/scenario_line.h"
#include "sim/snapshot.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

// The file, or those of the folder, as they were written.
Result<std::vector<std::string>> journals_at(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (entry.path().extension() == ".journal") found.push_back(entry.path().string());
  }
  if (found.empty()) return Complaints({path}, "has no journal; name a file, or the folder of a scheduler's --journal");
  std::ranges::sort(found);
  return found;
}

struct JournalsUntil {
  std::vector<std::string> paths;  // INVARIANT: not empty
  std::optional<Time> until;
};

Result<JournalsUntil> find_journals(const std::string& path, const std::string& moment) {
  Complaints complaints;
  const auto until = parse_moment("--until", moment);
  if (!until) complaints.add_all(until.error());
  const auto journals = journals_at(path);
  if (!journals) complaints.add_all(journals.error());
  if (!complaints.empty()) return complaints;
  return JournalsUntil{*journals, *until};
}

}  // namespace

bool is_meant(std::string_view recorded, std::string_view meant) {
  if (recorded == meant) return true;
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

Result<std::optional<Time>> parse_moment(const std::string& option, const std::string& text) {
  if (text.empty()) return std::optional<Time>();
  if (const auto ms = parse_duration_ms(text)) return std::optional(Time{*ms});
  if (const auto date = parse_timestamp(text)) return std::optional(*date);
  return Complaints({option}, quote(text) + " is no moment; write 2h30m after the beginning, or 2026-11-21T08:00:00Z");
}

Result<Bytes> read_journal(const std::string& path) {
  const Result<std::string> file = read_file(path);
  if (!file) return file.error();
  Bytes bytes(file->begin(), file->end());
  if (!is_snapshot(bytes)) return bytes;
  const auto journal = journal_in(path, bytes);
  if (!journal) return journal.error();
  return Bytes(journal->begin(), journal->end());
}

Result<Bytes> read_snapshot(const std::string& path, const std::string& moment, Recorded& as_it_was) {
  const Result<JournalsUntil> found = find_journals(path, moment);
  if (!found) return found.error();
  const Result<Bytes> newest = read_journal(found->paths.back());
  if (!newest) return newest.error();
  return snapshot_of(found->paths.back(), *newest, found->until, as_it_was);
}

Result<Recorded> read_recording(const std::string& path, const std::string& moment) {
  const Result<JournalsUntil> found = find_journals(path, moment);
  if (!found) return found.error();
  const Result<Bytes> newest = read_journal(found->paths.back());
  if (!newest) return newest.error();
  return recorded_at(found->paths.back(), *newest, found->until);
}

Result<RecordedTimeline> read_timeline(const std::string& path, const std::string& until) {
  const Result<JournalsUntil> found = find_journals(path, until);
  if (!found) return found.error();
  return timeline_of(found->paths, read_journal, found->until,
                     [](const Complaints& why) { fmt::print(stderr, "left out: {}\n", why.to_string()); });
}

std::string moment_in_words(Time moment) {
  return is_date(moment) ? format_timestamp(moment) : format_duration_ms(moment.ms) + " after the beginning";
}

std::string instead_of(std::string_view name, std::span<const std::string_view> known) {
  if (known.empty()) return "";
  const std::string_view near = nearest_word(name, known);
  return near.empty() ? "; there are: " + printable(listed_words(known)) : "; did you mean " + printable(near) + "?";
}

Result<WorkloadId> find_recorded(const Recorded& recorded, const std::string& workload) {
  if (const auto found = recorded.find(workload)) return *found;
  // Of several the last.
  for (std::size_t i = recorded.workloads.size(); i > 0; --i) {
    if (is_meant(recorded.workloads[i - 1], workload)) return WorkloadId(i - 1);
  }
  const std::vector<std::string_view> names(recorded.workloads.begin(), recorded.workloads.end());
  if (names.empty()) return Complaints({workload}, "nobody was submitted until then; name a later moment");
  return Complaints({workload}, "nobody of this name was submitted until then" + instead_of(workload, names));
}

}  // namespace berth
