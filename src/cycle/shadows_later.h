#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "cycle/shadows.h"

namespace berth {

// The trial as it will be: whoever ends up to a moment is out of it. INVARIANT: at its end the trial is as it was found.
class Shadows::Later {
 public:
  // `clean_from`: when what all have left now has been scrubbed.
  Later(Shadows& shadows, Time clean_from)
      : shadows_(shadows),
        begin_(shadows.trial_.mark()),
        clean_from_(shadows.state_.scrub() > Duration{0} ? clean_from : kForever) {}
  ~Later() {
    shadows_.trial_.rollback_to(begin_);
    shadows_.open_no_more();
  }
  Later(const Later&) = delete;
  Later& operator=(const Later&) = delete;

  // Those whose end is not later, and no others.
  void go_to(Time then) {
    shadows_.open_by(then);
    scrub_by(then);
    while (!marks_.empty() && shadows_.ends_[marks_.size() - 1].at > then) {
      shadows_.trial_.rollback_to(marks_.back());
      marks_.pop_back();
    }
    while (marks_.size() < shadows_.ends_.size() && shadows_.ends_[marks_.size()].at <= then) {
      const End& end = shadows_.ends_[marks_.size()];
      marks_.push_back(shadows_.trial_.mark());
      take_out(end);
    }
  }

 private:
  void scrub_by(Time then) {
    if (are_clean_ == (then >= clean_from_)) return;
    are_clean_ = !are_clean_;
    shadows_.trial_.rollback_to(begin_);
    marks_.clear();
    if (are_clean_) shadows_.trial_.scrub_idle();
  }

  void take_out(const End& end) {
    shadows_.for_each_pod_of(end, [&](const PodRequest& request, const PodPlacement& place) {
      shadows_.trial_.depart(move_of(request, place, Move::Direction::kGive), Emptied::kCountsAsScrubbed);
    });
  }

  Shadows& shadows_;
  Trial::Mark begin_;
  std::vector<Trial::Mark> marks_;  // before each of the ends
  Time clean_from_;
  bool are_clean_ = false;
};

}  // namespace berth
