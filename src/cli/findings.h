// What `berth doctor` concludes from what it saw. Pure: what was seen goes in, a finding comes out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "manifest/value.h"

namespace berth {

enum class Verdict : std::uint8_t { kOk, kWarn, kFail };

struct Finding {
  std::string check;
  Verdict verdict = Verdict::kOk;
  std::string what;
  std::string remedy{};  // INVARIANT: empty exactly if all is well
};

struct SeenFile {
  std::string path;
  unsigned mode = 0;  // of chmod: 0700
  bool folder = false;
};
// Nobody but the owner may enter the folders and read the files.
Finding permissions_finding(std::span<const SeenFile> seen);

Finding disk_finding(std::int64_t free_bytes);

// The lease kube-system/berth-scheduler; null if there is none.
Finding scheduler_finding(const Value& lease, Time now);

Finding nodes_finding(std::span<const Value> nodes);

// Pods without a node that have waited for ten minutes or more, with the engine's reasons.
Finding waiting_finding(std::span<const Value> pods, Time now);

// Pods that should run on nodes that there are not.
Finding bound_pods_finding(std::span<const Value> pods, std::span<const Value> nodes);

// Folders of logs, named by the uids of their pods, whose pods are gone.
Finding log_folders_finding(std::span<const std::string> folders, std::span<const Value> pods);

std::string findings_as_table(std::span<const Finding> findings);
std::string findings_as_json(std::span<const Finding> findings);

}  // namespace berth
