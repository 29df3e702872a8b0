#include "cli/stop_signal.h"

#include <csignal>
#include <initializer_list>

namespace berth {
namespace {

volatile std::sig_atomic_t asked = 0;
void note(int) { asked = 1; }

}  // namespace

void note_stop_signals() {
  for (const int each : {SIGINT, SIGTERM, SIGHUP}) std::signal(each, note);
}

bool stop_was_asked() { return asked != 0; }

}  // namespace berth
