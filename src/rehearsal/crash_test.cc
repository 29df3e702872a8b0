// Six stories on a disk that fails at every place where it can.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "rehearsal/past.h"
#include "rehearsal/plane.h"
#include "rehearsal/stories.h"
#include "store/faulty_disk.h"
#include "store/test_stores.h"

namespace berth::crash_test {

using Failure = FaultyDisk::Failure;
using Unsynced = FaultyDisk::Unsynced;

// Under a sanitizer everything takes five times as long: some of the crashes, always the same.
constexpr std::int64_t kStride = kFewSeeds ? 7 : 1;
constexpr std::int64_t kFailuresOfAKind = kFewSeeds ? 3 : 12;

constexpr const char* kFullText = "the disk that holds the API objects is full: nothing was written; free some space";
constexpr const char* kFailedText = "the disk that holds the API objects failed: nothing was written; reads go on";

// What one telling of a story left behind.
struct Telling {
  explicit Telling(Past known) : past(std::move(known)) {}

  Past past;
  std::vector<Word> words;
  std::vector<Follower::Seen> followed;
  Revision followed_after = 0;
  std::int64_t followed_since = 0;       // how much was written when it was begun
  std::vector<std::int64_t> steps_done;  // how much was written when each step was done
  std::vector<ApiAnswer> troubles;
  std::string refused;  // why it ended before its end

  std::size_t steps_by(std::int64_t writes) const {
    return static_cast<std::size_t>(std::ranges::count_if(steps_done, [&](auto done) { return done <= writes; }));
  }
};

std::unique_ptr<Store> open_on(const FaultyDisk& disk, const Story& story) {
  StoreOptions options;
  options.vfs = disk.vfs();
  options.changes_kept_max = story.changes_kept_max;
  auto store = Store::open(Plane::kFile, options);
  if (store) return *std::move(store);
  ADD_FAILURE() << "the store does not open: " << store.error().to_string();
  return nullptr;
}

// A disk on which four machines are known.
std::unique_ptr<FaultyDisk> begun_disk(const Story& story) {
  if (story.from_nothing) return std::make_unique<FaultyDisk>();
  static const std::unique_ptr<FaultyDisk> kBegun = [] {
    auto disk = std::make_unique<FaultyDisk>();
    Plane plane(*disk, {.life = 0});
    plane.until("four nodes are there", [&] { return plane.get("/api/v1/nodes")["items"].items().size() == 4; });
    return disk;
  }();
  return kBegun->copy();
}

class CrashStories : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Story& story() const { return stories()[GetParam()]; }

  PlaneOptions options(std::int64_t life) const {
    return {.life = life,
            .changes_kept_max = story().changes_kept_max,
            .journal_folder = journal_.file("journal"),
            .followed = story().followed,
            .make_room = {}};
  }

  // From a step on, to the end or until the disk refuses. `known`: what there was before.
  Telling tell(FaultyDisk& disk, PlaneOptions options, Past known, std::size_t from_step, std::int64_t fails_after = -1,
               Failure failure = Failure::kPowerCut) {
    Telling telling(std::move(known));
    try {
      Plane plane(disk, std::move(options));
      telling.followed_since = disk.writes();
      if (fails_after >= 0) disk.fail_after(fails_after, failure);
      try {
        for (std::size_t i = from_step; i < story().steps.size(); ++i) {
          SCOPED_TRACE(story().steps[i].what);
          story().steps[i].take(plane);
          telling.steps_done.push_back(disk.writes());
        }
      } catch (const DiskRefused& refused) {
        telling.refused = refused.what();
      } catch (const Stuck& stuck) {
        ADD_FAILURE() << stuck.what();
      }
      plane.stop();
      telling.past.add(plane.history());
      telling.words = plane.testimony().words();
      telling.troubles = plane.testimony().troubles();
      telling.followed = plane.follower()->seen();
      telling.followed_after = plane.follower()->began_after();
      gone_ = plane.follower()->refused() == 410;
    } catch (const DiskRefused& refused) {
      ADD_FAILURE() << "did not begin: " << refused.what();
    }
    return telling;
  }

  // What was told, and what is true at any time.
  void expect_sound(const Telling& telling) {
    EXPECT_EQ(check_words(telling.past, telling.words).to_string(), "");
    EXPECT_EQ(check_places(telling.past).to_string(), "");
    EXPECT_EQ(check_quotas(telling.past.at(telling.past.end())).to_string(), "");
    if (gone_) return;
    EXPECT_EQ(check_followed(telling.past, story().followed, telling.followed_after, telling.followed).to_string(), "");
  }

  // The disk as a crash left it: up to where it still has what there was before.
  Revision expect_kept(const FaultyDisk& disk, Telling& before, std::int64_t writes) {
    const auto store = open_on(disk, story());
    if (!store) return 0;
    const Revision kept = store->revision();
    EXPECT_GE(kept, before.past.owed(before.words, writes)) << "something that was told is lost";
    EXPECT_EQ(store->check().to_string(), "");
    // What nobody heard of may have become durable all the same.
    if (kept > before.past.end()) {
      Told more;
      const auto watching = store->watch("", before.past.end(), more.notice());
      more.until(kept);
      before.past.add(more.changes());
    }
    EXPECT_EQ(compare(records_in(*store), before.past.at(kept)).to_string(), "");
    EXPECT_EQ(check_quotas(before.past.at(kept)).to_string(), "");
    oldest_ = store->oldest_watchable();
    return kept;
  }

  // A copy that was made is whole, and shows one moment; one that was not is never taken for one.
  void expect_copy(const FaultyDisk& disk, const Past& past, bool made) {
    const auto twin = disk.copy();
    if (twin->size(kCopy) == 0) {
      EXPECT_FALSE(made) << "the copy is gone";
      return;
    }
    StoreOptions options;
    options.vfs = twin->vfs();
    const auto copy = Store::open(kCopy, options);
    EXPECT_TRUE(!made || copy) << (copy ? "" : copy.error().to_string());
    if (!copy || (!made && (*copy)->revision() == 0)) return;
    const Revision shown = (*copy)->revision();
    ASSERT_TRUE(shown >= past.begun_at() && shown <= past.end());
    EXPECT_EQ(compare(records_in(**copy), past.at(shown)).to_string(), "");
  }

  // And life goes on, to the end of the story.
  void expect_end(FaultyDisk& disk, Revision kept, const Telling& before, std::int64_t writes) {
    PlaneOptions next = options(2);
    if (before.followed_since <= writes) next.followed_after = before.followed_after;
    for (const Follower::Seen& seen : before.followed) {
      if (seen.writes <= writes) next.followed_after = std::max(next.followed_after, seen.revision);
    }
    const Revision asked_after = next.followed_after;
    next.followed_until = before.past.until(kept).last_of(story().followed);
    for (const Word& word : before.words) {
      if (word.writes <= writes) next.begins = std::max(next.begins, word.at);
    }
    spoil_journal(writes);
    const Telling telling = tell(disk, std::move(next), before.past.until(kept), before.steps_by(writes));
    EXPECT_TRUE(!gone_ || asked_after < oldest_) << "who came back in time is sent away";
    EXPECT_EQ(telling.refused, "");
    expect_sound(telling);
    EXPECT_EQ(story().at_the_end(telling.past).to_string(), "");
  }

  // A crash cuts the journal anywhere; no decision depends on it, nor on whether there is one.
  void spoil_journal(std::int64_t lot) {
    const std::filesystem::path folder = journal_.file("journal");
    std::error_code error;
    if (lot % 3 == 0) std::filesystem::remove_all(folder, error);
    for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
      const auto size = static_cast<std::int64_t>(file.file_size(error));
      std::filesystem::resize_file(file.path(), static_cast<std::uintmax_t>(lot * 997 % (size + 1)), error);
    }
  }

  Past begun_on(const FaultyDisk& disk) {
    if (story().from_nothing) return {Records(), 0};
    const auto store = open_on(disk, story());
    return {records_in(*store), store->revision()};
  }

  // The same after a copy of it was opened: nothing is written to the disk itself.
  Past begun(const FaultyDisk& disk) { return begun_on(*disk.copy()); }

  TestFolder journal_;
  bool gone_ = false;    // the last follower was told 410
  Revision oldest_ = 0;  // of the last store that was looked at
};

TEST_P(CrashStories, NothingThatWasToldIsLostWhereverThePowerGoesAndTheStoryGoesOn) {
  const auto disk = begun_disk(story());
  const Past beginning = begun(*disk);
  const auto at_n = disk->record();
  const std::int64_t first = disk->writes();
  Telling told = tell(*disk, options(1), beginning, 0);
  ASSERT_EQ(told.refused, "");
  expect_sound(told);
  EXPECT_EQ(story().at_the_end(told.past).to_string(), "");
  if (HasFailure()) return;

  std::set<std::pair<Revision, std::size_t>> gone_on_from;
  std::int64_t crashes = 0;
  for (std::int64_t n = first; n <= disk->writes(); n += kStride) {
    at_n->replay(*disk, n);
    for (const Unsynced unsynced : {Unsynced::kSurvive, Unsynced::kLost, Unsynced::kTorn}) {
      SCOPED_TRACE("power cut after write " + std::to_string(n - first) + ", mode " +
                   std::to_string(static_cast<int>(unsynced)));
      const auto survivor = at_n->copy();
      survivor->restart(unsynced, Seed{static_cast<std::uint64_t>(n)});
      const Revision kept = expect_kept(*survivor, told, n);
      ++crashes;
      expect_copy(*survivor, told.past, told.steps_by(n) > story().copy_step());
      // The same objects at the same step of the story go on the same way: once is enough.
      if (!HasFailure() && gone_on_from.emplace(kept, told.steps_by(n)).second) {
        expect_end(*survivor, kept, told, n);
      }
      if (HasFailure()) return;
    }
  }
  RecordProperty("crashes", static_cast<int>(crashes));
  RecordProperty("gone_on", static_cast<int>(gone_on_from.size()));
}

TEST_P(CrashStories, AFullDiskRefusesClearlyAndTheServerGoesOn) {
  const auto begun = begun_disk(story());
  for (std::int64_t i = 0; i < kFailuresOfAKind; ++i) {
    const std::int64_t n = i * i + 3 * i;
    SCOPED_TRACE("full after write " + std::to_string(n));
    const auto disk = begun->copy();
    PlaneOptions with_help = options(1);
    with_help.journal_folder = "/dev/full/journal";  // that disk is full too
    with_help.make_room = [&] { disk->heal(); };
    const Past beginning = this->begun(*disk);
    Telling told = tell(*disk, std::move(with_help), beginning, 0, n, Failure::kDiskFull);
    EXPECT_EQ(told.refused, "");
    for (const ApiAnswer& trouble : told.troubles) EXPECT_NE(trouble.body.find(kFullText), std::string::npos);
    expect_sound(told);
    EXPECT_EQ(story().at_the_end(told.past).to_string(), "");
    disk->restart(Unsynced::kLost);
    expect_kept(*disk, told, disk->writes());
    if (HasFailure()) return;
  }
}

TEST_P(CrashStories, AFailingDiskRefusesClearlyAndTheNextServerGoesOn) {
  const auto begun = begun_disk(story());
  int refusals = 0;
  for (std::int64_t i = 0; i < 2 * kFailuresOfAKind; ++i) {
    const std::int64_t n = i * i / 2 + 2 * i;
    const Failure failure = i % 2 == 0 ? Failure::kIoError : Failure::kPowerCut;
    const auto unsynced = static_cast<Unsynced>(i % 3);
    SCOPED_TRACE("failed after write " + std::to_string(n));
    const auto disk = begun->copy();
    const Past beginning = this->begun(*disk);
    Telling told = tell(*disk, options(1), beginning, 0, n, failure);
    if (!told.refused.empty()) ++refusals;
    for (const ApiAnswer& trouble : told.troubles) EXPECT_NE(trouble.body.find(kFailedText), std::string::npos);
    disk->restart(unsynced, Seed{static_cast<std::uint64_t>(n)});
    const Revision kept = expect_kept(*disk, told, disk->writes());
    if (!HasFailure()) expect_end(*disk, kept, told, disk->writes());
    if (HasFailure()) return;
  }
  EXPECT_GE(refusals, kFailuresOfAKind / 2);
}

INSTANTIATE_TEST_SUITE_P(Six, CrashStories, ::testing::Range<std::size_t>(0, 6));

}  // namespace berth::crash_test
