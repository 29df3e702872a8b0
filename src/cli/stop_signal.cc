#include "cli/stop_signal.h"

#include <csignal>
#include <initializer_list>

namespace berth {
namespace {

volatile std::sig_atomic_t stop_asked = 0;
void note(int) { stop_asked = 1; }

}  // namespace

void note_stop_signals() {
  for (const int each : {SIGINT, SIGTERM, SIGHUP}) std::signal(each, note);
}

bool stop_was_asked() { return stop_asked != 0; }

}  // namespace berth
