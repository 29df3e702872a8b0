// Being asked to stop, by ctrl-C or by the system: noted, for a loop that looks now and then.
#pragma once

namespace berth {

// From now on such signals are noted instead of ending the process.
void note_stop_signals();
bool stop_was_asked();

}  // namespace berth
