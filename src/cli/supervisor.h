// Child processes that are begun again when they end: what `berth up` is made of. Crash-only: they are stopped the way they
// die. When the parent dies, however it does, the system ends them too.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace berth {

struct ChildProcess {
  std::string name;
  std::vector<std::string> arguments;  // after the program's own name
  std::string log;                     // stdout and stderr are added to this file
};

class Supervisor {
 public:
  explicit Supervisor(std::vector<ChildProcess> children);
  ~Supervisor();  // kills them and waits
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Begins the child with that index. Complains if the system does not let it.
  Result<pid_t> begin(std::size_t child);
  // Begins again whoever has ended, after 100 ms at first and 5 s at most while it keeps ending; to be called every now and
  // then. `say` gets a line for each end.
  void look_after(Time now, const std::function<void(const std::string&)>& say);
  // With these it is begun the next time.
  void set_arguments(std::size_t child, std::vector<std::string> arguments) {
    states_[child].child.arguments = std::move(arguments);
  }
  // For a child that is not looked after yet: whether it has ended.
  bool has_ended(std::size_t child);

 private:
  struct State {
    ChildProcess child;
    pid_t pid = 0;  // 0: does not run
    Time begun, again_at;
    int ends_in_a_row = 0;
    bool wanted = false;
  };

  std::vector<State> states_;
};

}  // namespace berth
