#include "manifest/work_kinds.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "manifest/gang_owner.h"
#include "manifest/kinds.h"

namespace berth {
namespace {

bool is_of_work(const KindInfo& kind) {
  for (const std::string_view plural : {"pods", "jobs", "jobsets", "podgroups", "workloads", "trainjobs"}) {
    if (kind.plural == plural) return true;
  }
  return find_gang_owner_kind(kind.qualified()) != nullptr;
}

std::set<std::string, std::less<>> all_words() {
  std::set<std::string, std::less<>> words = {"vcjobs"};  // as Berth's own commands take it
  for (const KindInfo& kind : served_kinds()) {
    if (!is_of_work(kind)) continue;
    words.insert({kind.plural, kind.singular});
    words.insert(kind.short_names.begin(), kind.short_names.end());
  }
  return words;
}

}  // namespace

bool names_work_kind(std::string_view word) {
  static const std::set<std::string, std::less<>> kWords = all_words();
  return kWords.contains(word);
}

}  // namespace berth
