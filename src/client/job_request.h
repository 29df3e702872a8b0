// What is submitted: a command line made into a Job, or the Jobs and pods of a manifest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "manifest/value.h"

namespace berth {

struct JobRequest {
  std::string name = {};        // empty: the server makes one, after the command
  std::string queue = {};       // empty: the default queue
  std::string gpus = {};        // of each pod: "8", "500m", "0.5", "mig:1g.10gb" or "vgpu:A100X-10C"; empty: none
  std::string time = {};        // how long it may run: "4h"; empty: as long as it likes
  int gang = 1;                 // pods that start together
  std::string gpu_models = {};  // "H100|A100-80GB"; empty: any
  bool movable = false;         // it consents to being moved
  std::string image = "busybox";
  std::vector<std::string> command = {};
};

// What fails is not run again: whoever asked for a command wants to see how it ended. Complains about all that is wrong.
Result<Value> job_of(const JobRequest& request);

// The Jobs and pods of a manifest, put into the queue if one is named; other kinds are refused.
Result<std::vector<Value>> work_in_manifest(std::string_view text, const std::string& file, const std::string& queue);

}  // namespace berth
