// Everything that was ever in a store, at each of its revisions, and what must hold there whatever happened to the disk.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "manifest/value.h"
#include "rehearsal/plane.h"
#include "rehearsal/testimony.h"
#include "store/store.h"

namespace berth {

using Records = std::map<std::string, RecordPtr, std::less<>>;

Value object_of_record(const RecordPtr& record);  // null if there is none
Records records_in(const Store& store);

class Past {
 public:
  Past(Records begun, Revision begun_at) : states_{std::move(begun)}, begun_at_(begun_at) {}
  // PRE: they follow what there is.
  void add(const std::vector<ChangePtr>& changes);
  // Without what came later.
  Past until(Revision last) const;

  Revision begun_at() const { return begun_at_; }
  Revision end() const { return begun_at_ + static_cast<Revision>(changes_.size()); }
  const std::vector<ChangePtr>& changes() const { return changes_; }
  // PRE: begun_at() <= revision <= end().
  const Records& at(Revision revision) const { return states_[static_cast<std::size_t>(revision - begun_at_)]; }
  // What has become of it; 0: it is there, or never was.
  Revision deletion_of(const std::string& uid) const;
  // Of the last change of an object of that kind; 0: there was none.
  Revision last_of(const std::string& kind) const;
  // The revision that was seen, or whose change was acknowledged, when so much was written: a crash then must keep it.
  Revision owed(const std::vector<Word>& words, std::int64_t writes) const;

 private:
  std::vector<Records> states_;  // one more than changes
  std::vector<ChangePtr> changes_;
  Revision begun_at_;
  std::map<std::string, Revision> deletions_;
};

// The same keys, bytes and revisions.
Complaints compare(const Records& found, const Records& expected);
// Each acknowledged change was made: at its revision that object became what it is.
Complaints check_words(const Past& past, const std::vector<Word>& words);
// No pod has two places, and no GPU two pods, at any time.
Complaints check_places(const Past& past);
// What quotas say is used is what is there.
Complaints check_quotas(const Records& records);
// A follower of a kind was told all its changes after a revision, each once and in order.
Complaints check_followed(const Past& past, const std::string& kind, Revision after,
                          const std::vector<Follower::Seen>& seen);

}  // namespace berth
