// What live pods hold of the GPUs of one node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/gpu_uses.h"
#include "manifest/node_gpus.h"
#include "manifest/value.h"
#include "model/gpu_hardware.h"

namespace berth {

class NodeDevices {
 public:
  NodeDevices(const NodeGpus& gpus, GpuRecords records);

  // A pod that does not say which devices it holds (it was placed by somebody else) takes the first free ones: who names
  // some has to come first.
  void take(const Value& pod);

  // "[##+.~!..]": # taken (or cut so that no further slice fits), + in part, . free, ~ empty and dirty until it is scrubbed,
  // ! empty and quarantined, / being cut anew; without brackets.
  std::string drawn() const;
  std::int64_t free_whole() const;
  // "0: a,b", "3: quarantined (ECC)": of what is empty and not clean.
  std::vector<std::string> left() const;
  const std::vector<int>& milli() const { return milli_; }  // that are taken of each
  // For so many slices of a shape alone there is a place, as things are. PRE: they are cut.
  std::int64_t room_for(std::size_t shape) const;
  // "3g.40gb:3g.40gb": into what each is cut, or is about to be, where that may change; else empty.
  const std::string& layout() const { return layout_; }
  bool are_cut() const { return hardware_ != nullptr; }
  // As what they are shared, or would be by themselves if nobody has any of them.
  Sharing sharing() const { return sharing_; }
  // "/mig"; "/exclusive.mig" while they may be either; empty where they are whole, and nothing else.
  std::string modes_shown() const;
  // "0:1g.10gb@6", in the order of the devices and of their memory; of vGPUs "0:3xA100X-10C".
  std::vector<std::string> slices() const;

 private:
  // Of one device.
  struct VgpusOn {
    std::string profile = {};  // empty: it has none
    int milli = 0;             // of each
    int count = 0;
  };

  bool is_free(std::size_t device) const;
  char left_on(std::size_t device) const;
  bool is_full(std::size_t device) const;
  void take_slice(std::string_view named);
  void take_vgpu(const Value& pod, std::string_view named);
  void take_whole(std::int64_t milli, std::string_view named);
  std::vector<std::size_t> first_free(std::int64_t milli) const;

  std::vector<int> milli_;
  const GpuHardware* hardware_ = nullptr;  // of devices that are cut
  std::vector<MigPlaceSet> layouts_;
  std::vector<VgpusOn> vgpus_;
  MigPlaceSet fixed_;  // into which each was cut beforehand
  Sharing sharing_;
  SharingSet other_modes_;  // what they may be instead, as long as nobody has any
  int least_;               // that a pod may have of one
  GpuRecords records_;
  bool is_being_cut_;
  std::string layout_;
};

// A node, and what the live pods on it hold.
struct NodeInUse {
  const Value* node;
  std::string model;  // of its GPUs, by its short name where it is known
  NodeDevices devices;
  int pods = 0;

  std::string_view name() const { return (*node)["metadata"]["name"].text(); }
  bool takes_pods() const;  // it is ready, not cordoned, and no spare; taints are for those who do not tolerate them
};
// In the order of the nodes' names. `nodes` outlive them.
std::vector<NodeInUse> nodes_in_use(const std::vector<Value>& nodes, const std::vector<Value>& pods);

// Kept for those whom gangs have lost.
bool is_spare(const Value& node);
// "ready,cordoned,spare,taint team": whether it is ready comes first.
std::string state_of_node(const Value& node);
// "H100", "H100/mig"; empty: it says none.
std::string gpu_model_shown(const Value& node, const NodeDevices& devices);

}  // namespace berth
