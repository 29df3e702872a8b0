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
  if (found.empty()) {
    const std::string own = path + (path.ends_with('/') ? "journal" : "/journal");
    const bool of_plane = fs::is_directory(own, error);
    return Complaints({path}, of_plane ? "is the folder of a whole control plane; its journals are in " + own
                                       : "has no journal; name a file, or the folder of a scheduler's --journal");
  }
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

// Where a journal's moments are dates, "2h" is after its beginning.
Time moment_from(Time beginning, Time moment) {
  const bool is_length = is_date(beginning) && !is_date(moment);
  return is_length ? beginning + Duration{moment.ms} : moment;
}

struct JournalUntil {
  std::string path;
  Bytes journal;
  std::optional<Time> until;
};

// A length counts from the beginning of the newest; of a date the newest is meant that had begun by then.
Result<JournalUntil> find_journal(const std::string& path, const std::string& moment) {
  const Result<JournalsUntil> found = find_journals(path, moment);
  if (!found) return found.error();
  std::optional<Time> earliest;
  for (auto at = found->paths.rbegin(); at != found->paths.rend(); ++at) {
    Result<JournalBytes> journal = read_journal(*at);
    if (!journal) return journal.error();
    const std::optional<Time> beginning = found->until ? beginning_of(journal->bytes) : std::nullopt;
    if (!beginning) {
      // One that tells of no moment has begun after all others, or is to be complained about.
      if (found->until && at + 1 != found->paths.rend()) continue;
      return JournalUntil{*at, std::move(journal->bytes), found->until};
    }
    const Time until = moment_from(*beginning, *found->until);
    if (*beginning <= until) return JournalUntil{*at, std::move(journal->bytes), until};
    earliest = beginning;
  }
  return Complaints({found->paths.front()},
                    "begins at " + moment_in_words(*earliest) + ", after that moment; name a later one");
}

void say_where_it_ends(const std::string& path, const Recorded& recorded, std::optional<Time> until) {
  if (!until || recorded.goes_on || recorded.now >= *until) return;
  fmt::print(stderr, "{}: nothing is recorded after {}; as it was then\n", path, moment_in_words(recorded.now));
}

}  // namespace

Result<std::optional<Time>> parse_moment(const std::string& option, const std::string& text) {
  if (text.empty()) return std::optional<Time>();
  if (const auto ms = parse_duration_ms(text)) return std::optional(Time{*ms});
  if (const auto date = parse_timestamp(text)) return std::optional(*date);
  return Complaints({option}, quote(text) + " is no moment; write 2h30m after the beginning, or 2026-11-21T08:00:00Z");
}

Result<JournalBytes> read_journal(const std::string& path) {
  const Result<std::string> file = read_file(path);
  if (!file) return file.error();
  Bytes bytes(file->begin(), file->end());
  if (!is_snapshot(bytes)) return JournalBytes{std::move(bytes)};
  const auto journal = journal_in(path, bytes);
  if (!journal) return journal.error();
  return JournalBytes{Bytes(journal->begin(), journal->end()), JournalEnd::kAfterAnyRecord};
}

Result<std::string> newest_journal(const std::string& path) {
  const Result<std::vector<std::string>> journals = journals_at(path);
  if (!journals) return journals.error();
  return journals->back();
}

Result<Bytes> read_snapshot(const std::string& path, const std::string& moment, Recorded& as_it_was) {
  const Result<JournalUntil> found = find_journal(path, moment);
  if (!found) return found.error();
  Result<Bytes> snapshot = snapshot_of(found->path, found->journal, found->until, as_it_was);
  if (snapshot) say_where_it_ends(found->path, as_it_was, found->until);
  return snapshot;
}

Result<Recorded> read_recording(const std::string& path, const std::string& moment) {
  const Result<JournalUntil> found = find_journal(path, moment);
  if (!found) return found.error();
  Result<Recorded> recorded = recorded_at(found->path, found->journal, found->until);
  if (recorded) say_where_it_ends(found->path, *recorded, found->until);
  return recorded;
}

Result<RecordedTimeline> read_timeline(const std::string& path, const std::string& moment) {
  Result<JournalsUntil> found = find_journals(path, moment);
  if (!found) return found.error();
  std::optional<Time>& until = found->until;
  if (until) {
    const Result<JournalBytes> first = read_journal(found->paths.front());
    if (!first) return first.error();
    const Time beginning = beginning_of(first->bytes).value_or(Time{});
    until = moment_from(beginning, *until);
    if (*until < beginning) {
      return Complaints({found->paths.front()},
                        "begins at " + moment_in_words(beginning) + ", after that moment; name a later one");
    }
  }
  const auto read = [](const std::string& name) -> Result<Bytes> {
    Result<JournalBytes> journal = read_journal(name);
    if (!journal) return journal.error();
    return std::move(journal->bytes);
  };
  Result<RecordedTimeline> timeline = timeline_of(
      found->paths, read, until, [](const Complaints& why) { fmt::print(stderr, "left out: {}\n", why.to_string()); });
  if (timeline) say_where_it_ends(path, timeline->recorded, until);
  return timeline;
}

std::string moment_in_words(Time moment) {
  return is_date(moment) ? format_timestamp(moment) : format_duration_ms(moment.ms) + " after the beginning";
}

std::string instead_of(std::string_view name, std::span<const std::string_view> known) {
  if (known.empty()) return "";
  const std::string_view near = nearest_word(name, known);
  return near.empty() ? "; there are: " + printable(listed_words(known)) : "; did you mean " + printable(near) + "?";
}

namespace {

// Of "default/js/UID", who start together: "js".
std::string_view gang_in(std::string_view recorded) {
  const std::size_t first = recorded.find('/'), last = recorded.rfind('/');
  return first == last ? std::string_view() : recorded.substr(first + 1, last - first - 1);
}

// The Jobs of a JobSet, "job/js-a-0", start together under its name, "js", as pods of a PodGroup do under that of theirs; empty:
// there is none of that.
std::string gang_instead_of(std::string_view name, std::span<const std::string_view> known) {
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  std::string_view nearest;
  for (const std::string_view each : known) {
    const std::string_view gang = gang_in(each);
    const bool is_of_it =
        !gang.empty() && name.starts_with(gang) && (name.size() == gang.size() || name[gang.size()] == '-');
    if (is_of_it && gang.size() > nearest.size()) nearest = gang;
  }
  if (nearest.empty()) return "";
  return "; who starts together is called as the gang is: write " + printable(nearest);
}

}  // namespace

Result<WorkloadId> find_recorded(const Recorded& recorded, const std::string& workload) {
  if (const auto found = recorded.find(workload)) return *found;
  std::vector<std::string_view> names(recorded.workloads.begin(), recorded.workloads.end());
  std::ranges::sort(names);  // the steps of one have its name, too
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.empty()) return Complaints({workload}, "nobody was submitted until then; name a later moment");
  const std::string gang = gang_instead_of(workload, names);
  return Complaints(
      {workload}, "nobody of this name was submitted until then" + (gang.empty() ? instead_of(workload, names) : gang));
}

}  // namespace berth
