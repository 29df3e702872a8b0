// The processes of a control plane on this machine, in one folder: what `berth up` and `berth demo` run. When this process
// dies, however it does, they die too.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "cli/control_plane.h"
#include "cli/supervisor.h"
#include "kube/alarm.h"

namespace berth {

// "2m", how long a GPU is scrubbed; empty: none is.
Result<std::optional<Duration>> parse_scrub(const std::string& text);

// What its scheduler and its nodes are told. Empty: nothing.
struct LocalPlaneOptions {
  std::string scrub = {};   // how long the nodes scrub GPUs, such as 2m; otherwise they do not
  std::string policy = {};  // by which the scheduler places; otherwise by its default
};

class LocalPlane {
 public:
  LocalPlane(std::string data, const ListenAddress& listen, LocalPlaneOptions options = {});

  const DataFolder& folder() const { return folder_; }

  // Makes the folder where it is missing and takes it: nobody else may run one in it until this process ends.
  Complaints take_folder();
  // Begins the API server and waits until it answers; false when it was asked to stop (stop_signal.h) meanwhile.
  Result<bool> begin_server(const Alarm& clock);
  // The scheduler, and the agent of these nodes (a text or a file, as of `berth node-agent`). PRE: the server answers.
  Complaints begin_others(const std::string& nodes);
  // To be called every now and then, by the thread that began them; begins again who has ended.
  void look_after(Time now, const std::function<void(const std::string&)>& say);

 private:
  std::string data_;
  ListenAddress listen_;
  LocalPlaneOptions options_;
  DataFolder folder_;
  std::string identity_;  // of the scheduler
  std::unique_ptr<Supervisor> processes_;
};

}  // namespace berth
