#include "service/background.h"

#include <sys/resource.h>

namespace berth {

void give_way() {
  constexpr int kNice = 10;
  setpriority(PRIO_PROCESS, 0, kNice);
}

Background::Background(std::function<void(Work)> post) : post_(std::move(post)) { worker_.post(give_way); }

Background::~Background() {
  stopped_ = true;
  worker_.stop();
}

void Background::ask(std::function<Work()> work) {
  idle_ = false;
  work_ = std::move(work);
  worker_.post([this] {
    if (stopped_) return;
    Work told = work_();
    if (stopped_) return;
    post_([this, told = std::move(told)] {
      work_ = nullptr;
      idle_ = true;
      told();
    });
  });
}

}  // namespace berth
