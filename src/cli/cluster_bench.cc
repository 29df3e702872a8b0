#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "agent/simulated_nodes.h"
#include "cli/bench_cluster.h"
#include "kube/curl_transport.h"
#include "manifest/json.h"
#include "sim/files.h"
#include "web_server/certificates.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "bench: %s\n", why.c_str());
  std::exit(1);
}

template <typename T>
T need(Result<T> result) {
  if (!result) give_up(result.error().to_string());
  return *std::move(result);
}

constexpr std::string_view kReady = "SimulatedNodeReady";

void wait_a_moment() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

// In the child: what the kernel takes, and nothing of ours.
[[noreturn]] void become(char* const* words, const char* log, int niceness) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (nice(niceness) == -1) errno = 0;  // beside what the benchmark has; -1 is a niceness too
  const int output = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (output < 0) _exit(126);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execv(words[0], words);
  _exit(127);
}

std::string kubeconfig_of(const ServerAccess& access, const std::string& authority_file, const std::string& folder,
                          const std::string& user, const KeyPair& pair) {
  const std::string certificate = folder + "/" + user + ".crt", key = folder + "/" + user + ".key";
  need(write_private_file(certificate, pair.certificate));
  need(write_private_file(key, pair.private_key));
  const std::string path = folder + "/" + user + ".kubeconfig";
  need(write_private_file(
      path, R"({"apiVersion":"v1","kind":"Config","current-context":"bench","clusters":[{"name":"bench","cluster":{)"
            R"("server":")" +
                access.server + R"(","certificate-authority":")" + authority_file +
                R"("}}],"users":[{"name":"bench","user":{"client-certificate":")" + certificate +
                R"(","client-key":")" + key +
                R"("}}],"contexts":[{"name":"bench","context":{"cluster":"bench","user":"bench"}}]})"));
  return path;
}

// Sends all of them, as many at once as the transport carries.
void send_all(Transport& client, std::vector<ApiCall> calls, int refused_ok) {
  Countdown answered(static_cast<std::int64_t>(calls.size()));
  for (ApiCall& call : calls) {
    client.send(std::move(call), [&answered, refused_ok](const ApiAnswer& answer) {
      if (!answer.ok() && answer.status != refused_ok) {
        std::fprintf(stderr, "bench: %d %s\n", answer.status, answer.body.c_str());
      }
      answered.note();
    });
  }
  answered.wait();
}

ApiCall patch_of(std::string path, std::string body) {
  ApiCall call;
  call.method = "PATCH";
  call.path = std::move(path);
  call.content_type = "application/merge-patch+json";
  call.body = std::move(body);
  return call;
}

}  // namespace

BenchSettings& bench_settings() {
  static BenchSettings settings;
  return settings;
}

void Countdown::note() {
  const std::lock_guard hold(mutex_);
  if (--left_ == 0) done_.notify_all();
}

void Countdown::wait() {
  std::unique_lock hold(mutex_);
  done_.wait(hold, [this] { return left_ <= 0; });
}

BenchProcess::BenchProcess(const std::vector<std::string>& words, const std::string& log, int niceness) {
  std::vector<std::string> kept = words;
  std::vector<char*> arguments;
  for (std::string& word : kept) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_ = fork();
  if (pid_ < 0) give_up("cannot start " + words[0]);
  if (pid_ == 0) become(arguments.data(), log.c_str(), niceness);
}

BenchProcess::~BenchProcess() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  wait();
}

void BenchProcess::wait() {
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::int64_t BenchProcess::resident_bytes() const {
  const auto text = need(read_file("/proc/" + std::to_string(pid_) + "/statm"));
  long total = 0, resident = 0;
  if (std::sscanf(text.c_str(), "%ld %ld", &total, &resident) != 2) give_up("no memory figures of a process");
  return resident * sysconf(_SC_PAGESIZE);
}

// ---- a cluster -----------------------------------------------------------------------------------------------------

BenchCluster::BenchCluster(Wish wish)
    : path_((fs::temp_directory_path() / ("berth-bench-" + random_token(6))).string()),
      folder_(path_),
      kubeconfig_(bench_settings().kubeconfig),
      name_space_("bench-" + random_token(4)) {
  need(folder_.make());
  if (kubeconfig_.empty()) {
    start_processes(wish);
  } else if (wish.nodes > 0) {
    register_nodes(wish.nodes);
  }
  make_name_space();
}

BenchCluster::~BenchCluster() {
  if (!server_) {
    ApiCall remove;
    remove.method = "DELETE";
    remove.path = path_of("pods") + "?gracePeriodSeconds=0";
    send_and_wait(*connect(1), remove);
  }
  agent_.reset();
  scheduler_.reset();
  server_.reset();
  fs::remove_all(path_);
}

void BenchCluster::start_processes(Wish wish) {
  kubeconfig_ = folder_.kubeconfig();
  start_server();
  const std::string& program = bench_settings().program;
  if (wish.scheduler) {
    scheduler_ = std::make_unique<BenchProcess>(
        std::vector<std::string>{program, "scheduler", "--kubeconfig", folder_.scheduler_kubeconfig(), "--journal",
                                 folder_.path("journal")},
        log_of("scheduler"));
  }
  if (wish.nodes == 0) return;
  if (!wish.agent) return register_nodes(wish.nodes);
  agent_ = std::make_unique<BenchProcess>(
      std::vector<std::string>{program, "node-agent", "--kubeconfig", folder_.agent_kubeconfig(), "--nodes",
                               std::to_string(wish.nodes) + "xH100x8"},
      log_of("node-agent"));
  const auto client = connect(1);
  const auto is_ready = [&](const std::string& nodes) {
    int ready = 0;
    for (std::size_t at = nodes.find(kReady); at != std::string::npos; at = nodes.find(kReady, at + 1)) ++ready;
    return ready == wish.nodes && nodes.find("node.kubernetes.io/not-ready") == std::string::npos;
  };
  while (!is_ready(send_and_wait(*client, get_of(api_path("nodes", ""))).body)) wait_a_moment();
}

void BenchCluster::kill_server() { server_.reset(); }

void BenchCluster::start_server() {
  const bool again = fs::exists(kubeconfig_);
  server_ = std::make_unique<BenchProcess>(
      std::vector<std::string>{bench_settings().program, "apiserver", "--data", path_, "--listen", listen_},
      log_of("apiserver"));
  while (!fs::exists(kubeconfig_)) wait_a_moment();
  if (!again) {
    const std::string server = need(load_kubeconfig({.path = kubeconfig_})).server;
    listen_ = server.substr(server.find("//") + 2);
  }
  while (!send_and_wait(*connect(1), get_of("/readyz")).ok()) wait_a_moment();
}

std::unique_ptr<Transport> BenchCluster::connect(int connections) const {
  return connect_with(kubeconfig_, connections);
}

std::string BenchCluster::path_of(std::string_view qualified, std::string_view name) const {
  return api_path(qualified, name_space_, name);
}

void BenchCluster::make_name_space() {
  const auto client = connect(1);
  const auto made =
      send_and_wait(*client, post_of(api_path("namespaces", ""), R"({"metadata":{"name":")" + name_space_ + "\"}}"));
  if (!made.ok()) give_up("no namespace: " + text_of_failure(made));
  // Elsewhere a controller makes it, and pods are refused until then.
  send_and_wait(*client, post_of(path_of("serviceaccounts"), R"({"metadata":{"name":"default"}})"));
}

void BenchCluster::register_nodes(int count) {
  const auto client = connect(32);
  std::vector<ApiCall> creates, statuses, openings;
  for (const Value& node : need(nodes_from_text(std::to_string(count) + "xH100x8"))) {
    const std::string name(node["metadata"]["name"].text());
    creates.push_back(post_of(api_path("nodes", ""), to_json(node)));
    Value status;
    status.at("status").set("capacity", node["status"]["capacity"]);
    status.at("status").set("allocatable", node["status"]["capacity"]);
    status.at("status").at("conditions").push_back(Value::map_of({{"type", "Ready"}, {"status", "True"}}));
    statuses.push_back(patch_of(api_path("nodes", "", name, "status"), to_json(status)));
    openings.push_back(patch_of(api_path("nodes", "", name), R"({"spec":{"taints":null}})"));
  }
  constexpr int kConflict = 409;
  send_all(*client, std::move(creates), kConflict);
  send_all(*client, std::move(statuses), 0);
  send_all(*client, std::move(openings), 0);
}

std::string BenchCluster::admit(const std::string& user) {
  const std::string authority_file = folder_.path("pki/ca.crt");
  const KeyPair authority{need(read_file(authority_file)), need(read_file(folder_.path("pki/ca.key")))};
  const KeyPair pair = need(make_client_certificate(authority, user, {}, system_wall_clock()()));
  const ApiAnswer answer = send_and_wait(
      *connect(1),
      post_of(path_of("rolebindings.rbac.authorization.k8s.io"),
              R"({"metadata":{"name":")" + user +
                  R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"edit"},)"
                  R"("subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":")" +
                  user + R"("}]})"));
  if (!answer.ok()) give_up("cannot admit " + user + ": " + text_of_failure(answer));
  return kubeconfig_of(need(load_kubeconfig({.path = kubeconfig_})), authority_file, folder_.path("run"), user, pair);
}

// ---- calls ---------------------------------------------------------------------------------------------------------

std::unique_ptr<Transport> connect_with(const std::string& kubeconfig, int connections) {
  CurlOptions options;
  options.connections_max = connections;
  options.in_flight_max = static_cast<std::size_t>(connections);
  return need(connect_by_curl(need(load_kubeconfig({.path = kubeconfig})), options));
}

ApiCall get_of(std::string path) {
  ApiCall call;
  call.path = std::move(path);
  return call;
}

ApiCall post_of(std::string path, std::string body) {
  ApiCall call;
  call.method = "POST";
  call.path = std::move(path);
  call.body = std::move(body);
  return call;
}

ApiCall create_pod(const BenchCluster& cluster, const std::string& name, int gpus) {
  std::string environment;
  for (int i = 0; i < 12; ++i) {
    environment += (i > 0 ? "," : "") + std::string(R"({"name":"SETTING_)") + std::to_string(i) +
                   R"(","value":"some-value-of-usual-length-)" + std::to_string(i) + "\"}";
  }
  const std::string asked = gpus > 0 ? R"("nvidia.com/gpu":")" + std::to_string(gpus) + R"(",)" : "";
  return post_of(
      cluster.path_of("pods"),
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
          R"(","labels":{"app":"bench"},"annotations":{"berth.dev/run-for":"48h"}},"spec":{"restartPolicy":"Never",)"
          R"("containers":[{"name":"main","image":"registry/train:1","command":["python","train.py"],"env":[)" +
          environment + R"(],"resources":{"limits":{)" + asked + R"("cpu":"500m","memory":"1Gi"}}}]}})");
}

void create_pods(const BenchCluster& cluster, Transport& client, const std::string& prefix, std::int64_t count,
                 int gpus) {
  constexpr std::int64_t kAtOnce = 10'000;  // a transport keeps no more than some ten thousand calls waiting
  for (std::int64_t first = 0; first < count; first += kAtOnce) {
    std::vector<ApiCall> calls;
    for (std::int64_t i = first; i < std::min(count, first + kAtOnce); ++i) {
      calls.push_back(create_pod(cluster, prefix + std::to_string(i), gpus));
    }
    send_all(client, std::move(calls), 0);
  }
}

double quantile(std::vector<double>& values, double part) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(static_cast<double>(values.size() - 1) * part)];
}

CommitTimes CommitTimes::read(Transport& client) {
  CommitTimes times;
  std::istringstream lines(send_and_wait(client, get_of("/metrics")).body);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view kBucket = "berth_store_commit_duration_seconds_bucket{le=\"";
    if (!line.starts_with(kBucket)) continue;
    times.bounds_ms_.push_back(std::strtod(line.c_str() + kBucket.size(), nullptr) * 1000);
    times.within_.push_back(std::atoll(line.substr(line.find("} ") + 2).c_str()));
  }
  return times;
}

CommitTimes CommitTimes::since(const CommitTimes& earlier) const {
  CommitTimes times = *this;
  for (std::size_t i = 0; i < earlier.within_.size(); ++i) times.within_[i] -= earlier.within_[i];
  return times;
}

double CommitTimes::quantile_ms(double part) const {
  const double wanted = part * static_cast<double>(count());
  for (std::size_t i = 0; i + 1 < within_.size(); ++i) {
    if (static_cast<double>(within_[i]) < wanted) continue;
    const double below = i > 0 ? static_cast<double>(within_[i - 1]) : 0, low = i > 0 ? bounds_ms_[i - 1] : 0;
    const double inside = static_cast<double>(within_[i]) - below;
    return inside > 0 ? low + (bounds_ms_[i] - low) * (wanted - below) / inside : bounds_ms_[i];
  }
  return bounds_ms_.size() > 1 ? bounds_ms_[bounds_ms_.size() - 2] : 0;
}

}  // namespace berth
