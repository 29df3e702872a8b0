// What the benchmarks of the control plane load: server, scheduler and node agent as processes of the built program, in a
// folder that goes away; or the server that a kubeconfig names. The client is the benchmark's own process.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cli/control_plane.h"
#include "kube/kubeconfig.h"
#include "kube/transport.h"

namespace berth {

struct BenchSettings {
  std::string program;     // `berth`
  std::string kubeconfig;  // of the server to load; empty: one is started
};
BenchSettings& bench_settings();

// Waits until `count` things have been noted.
class Countdown {
 public:
  explicit Countdown(std::int64_t count) : left_(count) {}
  void note();
  void wait();

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  std::int64_t left_;
};

// A program that runs until this is destroyed, and not longer than the benchmark.
class BenchProcess {
 public:
  BenchProcess(const std::vector<std::string>& words, const std::string& log, int niceness = 0);
  ~BenchProcess();
  BenchProcess(const BenchProcess&) = delete;
  BenchProcess& operator=(const BenchProcess&) = delete;

  void wait();  // for its own end
  std::int64_t resident_bytes() const;

 private:
  pid_t pid_ = -1;
};

class BenchCluster {
 public:
  struct Wish {
    int nodes = 0;           // of 8 GPUs
    bool scheduler = false;  // a named server has its own
    bool agent = true;       // reports that pods run; without it the nodes are ready and do nothing
  };
  explicit BenchCluster(Wish wish);
  ~BenchCluster();
  BenchCluster(const BenchCluster&) = delete;
  BenchCluster& operator=(const BenchCluster&) = delete;

  // Where the benchmark's objects are: one namespace of its own.
  const std::string& name_space() const { return name_space_; }
  std::string path_of(std::string_view qualified, std::string_view name = {}) const;
  std::unique_ptr<Transport> connect(int connections) const;

  // Of a server that was started here only.
  const BenchProcess& server() const { return *server_; }
  const BenchProcess& scheduler() const { return *scheduler_; }
  void kill_server();
  void start_server();  // on what the folder holds, until it has answered
  // A kubeconfig for a user who may edit the namespace.
  std::string admit(const std::string& user);
  std::string log_of(const std::string& process) const { return folder_.path("log/" + process + ".log"); }

 private:
  void start_processes(Wish wish);
  void register_nodes(int count);
  void make_name_space();

  const std::string path_;
  DataFolder folder_;
  std::string kubeconfig_;
  std::string listen_ = "127.0.0.1:0";
  std::string name_space_;
  std::unique_ptr<BenchProcess> server_, scheduler_, agent_;
};

ApiCall get_of(std::string path);
ApiCall post_of(std::string path, std::string body);
std::unique_ptr<Transport> connect_with(const std::string& kubeconfig, int connections);

// About 2.5 KB as stored, as a training pod has it; it would run for days.
ApiCall create_pod(const BenchCluster& cluster, const std::string& name, int gpus);
void create_pods(const BenchCluster& cluster, Transport& client, const std::string& prefix, std::int64_t count,
                 int gpus);

// Sorts; 0 of none.
double quantile(std::vector<double>& values, double part);

// How long commits took, counted in bounds (ms): what a server's /metrics says.
class CommitTimes {
 public:
  // None: the server has no such figures.
  static CommitTimes read(Transport& client);
  CommitTimes since(const CommitTimes& earlier) const;
  double quantile_ms(double part) const;
  std::int64_t count() const { return within_.empty() ? 0 : within_.back(); }

 private:
  std::vector<double> bounds_ms_;
  std::vector<std::int64_t> within_;  // the last: all
};

}  // namespace berth
