// What people type. Results go to stdout, everything else to stderr.
#pragma once

#include <functional>

namespace berth {

// Exit codes: 0 done; 1 it did not hold (a scenario, a replay, a job); 2 wrong usage or input, with nothing on stdout.
// Of commands that ask an API server: also 3 to 8 (client/asking.h).
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitBadInput = 2;

int run_command_line(int argc, char** argv);

// The command's exit code; 1 and a line on stderr if it throws, or if what it printed did not reach stdout.
int guarded(const std::function<int()>& command);

}  // namespace berth
