// Machines that are only told about, with what NVIDIA's mig-manager does on real ones (manifest/node_cut.h): they register as nodes, renew their leases, run the pods that are bound to them for
// as long as the pods say, and end them as they are told. One thread for all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/alarm.h"
#include "kube/transport.h"
#include "manifest/timestamp.h"
#include "manifest/value.h"

namespace berth {

// Node objects from a list of groups, "4xH100x8,2xA100-80GB x4,8xcpu": COUNTxMODELxGPUS, with /mig, /mig:PROFILE:PROFILE..., /mps or
// /timeslice:REPLICAS behind it where they are shared so, /recut:10s behind slices that are cut anew in that time, or COUNTxcpu for machines without GPUs. Names are MODEL-NUMBER in lower case
// ("h100-0001", "h100-mig-0001", "h100-slices-0001" where they are cut beforehand); each has 16 cores and 128 GiB per GPU, or 64 and 256.
Result<std::vector<Value>> nodes_from_text(const std::string& text);
// Node objects from a YAML or JSON file's text: metadata.name, labels, spec and status.capacity as in Kubernetes.
Result<std::vector<Value>> nodes_from_manifest(const std::string& text, const std::string& file);

struct SimulatedNodesOptions {
  WallClock now;
  std::uint64_t seed = 1;
  std::string log_folder;  // LOG_FOLDER/POD_UID/CONTAINER.log; empty: no logs
  int in_flight_max = 64;
  Duration run_time{5'000};  // of a pod that names none
  Duration lease_renewal{10'000};
  std::optional<Duration> scrub = {};  // so long it scrubs a GPU that is to be scrubbed; none: it does not
};

class SimulatedNodes {
 public:
  // Creates or takes over the nodes; pods that run already go on from their startTime.
  static std::unique_ptr<SimulatedNodes> start(Transport& transport, Alarm& alarm, std::vector<Value> nodes,
                                               SimulatedNodesOptions options);
  virtual ~SimulatedNodes() = default;
  virtual bool synced() const = 0;  // the nodes are registered and ready
};

}  // namespace berth
