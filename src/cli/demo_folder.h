// The folder of a demo: a control plane's, with a mark that says whose it is, so that nothing else is ever played over or
// removed.
#pragma once

#include <string>

#include "base/result.h"

namespace berth {

// Makes and marks the folder. Complains about one in which something else lies already.
Complaints claim_demo_folder(const std::string& path);
// Removes what a demo left in its folder. PRE: it is claimed, and taken (local_plane.h), so that nobody plays in it.
Complaints clear_demo_folder(const std::string& path);

}  // namespace berth
