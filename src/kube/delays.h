// What one owner wants done later, on its strand. INVARIANT: used on that strand only, but for clear() once it has stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "kube/alarm.h"
#include "kube/strand.h"

namespace berth {

class Delays {
 public:
  Delays(Alarm& alarm, std::shared_ptr<Strand> strand) : alarm_(alarm), strand_(std::move(strand)) {}

  // The number cancels it.
  std::uint64_t after(Duration delay, std::function<void()> run) {
    const std::uint64_t number = next_++;
    waiting_[number] = alarm_.after(delay, [this, strand = strand_, number, run = std::move(run)] {
      strand->post([this, number, run] {
        if (waiting_.erase(number) > 0) run();
      });
    });
    return number;
  }
  void cancel(std::uint64_t number) { waiting_.erase(number); }
  void clear() { waiting_.clear(); }

 private:
  Alarm& alarm_;
  std::shared_ptr<Strand> strand_;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, std::unique_ptr<Alarm::Handle>> waiting_;
};

}  // namespace berth
