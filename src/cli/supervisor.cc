#include "cli/supervisor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace berth {
namespace {

constexpr Duration kPauseFirst{100};
constexpr Duration kPauseMax = seconds(5);
constexpr Duration kSettled = seconds(10);  // who ran so long and ends has not "kept ending"

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return std::string("ended by signal ") + std::to_string(WTERMSIG(status));
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

// In the child, between fork and exec: only what POSIX allows there.
[[noreturn]] void become(char* const* arguments, const char* log, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // it died before the line above
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int output = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int nothing = open("/dev/null", O_RDONLY);
  if (output < 0 || nothing < 0) _exit(126);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  // Connections and files of the parent are none of the child's business.
  close_range(STDERR_FILENO + 1, ~0U, 0);
  execv("/proc/self/exe", arguments);
  _exit(127);
}

}  // namespace

Supervisor::Supervisor(std::vector<ChildProcess> children) {
  for (ChildProcess& child : children) {
    State state;
    state.child = std::move(child);
    states_.push_back(std::move(state));
  }
}

Supervisor::~Supervisor() {
  for (const State& state : states_) {
    if (state.pid > 0) kill(state.pid, SIGKILL);
  }
  for (const State& state : states_) {
    if (state.pid > 0) waitpid(state.pid, nullptr, 0);
  }
}

Result<pid_t> Supervisor::begin(std::size_t child) {
  State& state = states_[child];
  std::vector<std::string> words = {"berth"};
  words.insert(words.end(), state.child.arguments.begin(), state.child.arguments.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return Complaints({state.child.name}, std::string("cannot be started: ") + std::strerror(errno));
  if (pid == 0) become(arguments.data(), state.child.log.c_str(), parent);
  state.pid = pid;
  state.wanted = true;
  return pid;
}

bool Supervisor::has_ended(std::size_t child) {
  State& state = states_[child];
  if (state.pid > 0 && waitpid(state.pid, nullptr, WNOHANG) == state.pid) state.pid = 0;
  return state.pid == 0;
}

void Supervisor::look_after(Time now, const std::function<void(const std::string&)>& say) {
  for (std::size_t at = 0; at < states_.size(); ++at) {
    State& state = states_[at];
    if (!state.wanted) continue;
    int status = 0;
    if (state.pid > 0 && waitpid(state.pid, &status, WNOHANG) == state.pid) {
      state.pid = 0;
      state.ends_in_a_row = now - state.begun > kSettled ? 0 : state.ends_in_a_row + 1;
      const Duration pause = std::min(Duration{kPauseFirst.ms << std::min(state.ends_in_a_row, 10)}, kPauseMax);
      state.again_at = now + pause;
      say(state.child.name + " " + how_it_ended(status) + ", begins again (it says why in " + state.child.log + ")");
    }
    if (state.pid == 0 && now >= state.again_at) {
      state.begun = now;
      if (const auto begun = begin(at); !begun) {
        state.again_at = now + kPauseMax;
        say(begun.error().to_string());
      }
    }
  }
}

}  // namespace berth
