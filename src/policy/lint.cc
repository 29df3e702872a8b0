#include "policy/lint.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "policy/lint_queues.h"
#include "policy/stretches.h"

namespace berth {
namespace {

// Amounts are looked at in each stretch of time that windows make, and each mistake is told once: for the hours at which it is
// worst, with the windows that it takes; where it takes none it is one of the amounts that queues have without them.
class HoursLinter {
 public:
  explicit HoursLinter(const Policy& policy) : policy_(policy), stretches_(policy) {}

  void look(std::vector<PolicyFinding>& findings) {
    for (const OpenWindows open : stretches_.all()) {
      for (const FoundAtHours& each : found_while(open)) note(each, open);
    }
    std::erase_if(worst_, [&](const Worst& each) { return is_excused(each); });
    for (Worst& each : worst_) {
      narrow(each);
      if (each.open != 0) say_when(each);
      findings.push_back(std::move(each.found.finding));
    }
  }

 private:
  struct Worst {
    FoundAtHours found;
    OpenWindows open = 0;
    std::size_t stretches = 1;  // in which it was found
  };

  const std::vector<FoundAtHours>& found_while(OpenWindows open) {
    const auto [at, is_new] = found_.try_emplace(open);
    if (is_new) at->second = look_at_amounts(policy_, stretches_.queues_while(open));
    return at->second;
  }

  const FoundAtHours* find_while(OpenWindows open, const FoundAtHours::Subject& subject) {
    const std::vector<FoundAtHours>& found = found_while(open);
    const auto at = std::ranges::find(found, subject, &FoundAtHours::subject);
    return at == found.end() ? nullptr : &*at;
  }

  void note(const FoundAtHours& found, OpenWindows open) {
    const auto [at, is_new] = by_subject_.try_emplace(found.subject, worst_.size());
    if (is_new) {
      worst_.push_back({found, open});
      return;
    }
    Worst& worst = worst_[at->second];
    ++worst.stretches;
    if (found.excess > worst.found.excess) {
      worst.found = found;
      worst.open = open;
    }
  }

  // Nodes of its own pay where anything is promised at some hour.
  bool is_excused(const Worst& worst) const {
    return worst.found.finding.rule == "dedicated-without-guarantee" && worst.stretches < stretches_.all().size();
  }

  // One window after the other is closed, as long as the mistake stays.
  void narrow(Worst& worst) {
    for (std::size_t i = 0; i < policy_.windows.size(); ++i) {
      const OpenWindows without = worst.open & ~(OpenWindows{1} << i);
      if (without == worst.open) continue;
      const FoundAtHours* const found = find_while(without, worst.found.subject);
      if (found == nullptr || found->excess < worst.found.excess) continue;
      worst.found = *found;
      worst.open = without;
    }
  }

  void say_when(Worst& worst) const {
    PolicyFinding& finding = worst.found.finding;
    finding.what = "while " + stretches_.in_words(worst.open) + ", " + finding.what;
    finding.place = policy_.windows[static_cast<std::size_t>(std::bit_width(worst.open)) - 1].place;
  }

  const Policy& policy_;
  Stretches stretches_;
  std::map<OpenWindows, std::vector<FoundAtHours>> found_;
  std::vector<Worst> worst_;  // in the order in which they were found
  std::map<FoundAtHours::Subject, std::size_t> by_subject_;
};

}  // namespace

std::vector<PolicyFinding> lint(const Policy& policy) {
  std::vector<PolicyFinding> findings = policy.findings;
  HoursLinter(policy).look(findings);
  std::vector<PolicyFinding> of_queues = look_at_queues(policy);
  std::ranges::move(of_queues, std::back_inserter(findings));
  lint_workloads(policy, findings);
  std::ranges::stable_sort(findings, {}, [](const PolicyFinding& each) {
    return std::tuple(each.severity, each.place.at.file, each.place.at.line);
  });
  return findings;
}

}  // namespace berth
