#include "apiserver/pod_log.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "apiserver/presentation.h"
#include "apiserver/request_options.h"
#include "base/wording.h"
#include "manifest/timestamp.h"

namespace berth {
namespace {

// Of a log that is longer, the end is served.
constexpr std::int64_t kBytesMax = std::int64_t{16} << 20;
// What a followed log may grow by between two looks before the rest waits for the next.
constexpr std::int64_t kStepBytesMax = std::int64_t{1} << 20;
constexpr std::chrono::milliseconds kLogLookEvery{100};

std::expected<std::optional<std::int64_t>, ApiError> amount(const HttpRequest& request, const char* parameter,
                                                            std::int64_t least) {
  const std::string* const text = request.parameter(parameter);
  if (text == nullptr || text->empty()) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || number < least) {
    return std::unexpected(invalid_named(
        "PodLogOptions", "", "",
        {invalid_value(parameter, quote(*text), "must be a whole number of " + std::to_string(least) + " or more")}));
  }
  return number;
}

// The time in front of a line, and the line without it.
std::pair<std::string_view, std::string_view> split_time(std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || space < 20 || space > 35 || line[space - 1] != 'Z' || line[4] != '-')
    return {{}, line};
  return {line.substr(0, space), line.substr(space + 1)};
}

std::string_view end_of(std::string_view text, std::int64_t lines) {
  if (lines == 0) return {};
  std::size_t at = text.size();
  if (text.ends_with('\n')) --at;
  for (; at > 0; --at) {
    if (text[at - 1] == '\n' && --lines == 0) return text.substr(at);
  }
  return text;
}

// At most `bytes_max` from `offset`; nothing if the file is not there (any more).
std::string read_piece(const std::string& path, std::int64_t offset, std::int64_t bytes_max) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  file.seekg(offset);
  std::string text(static_cast<std::size_t>(bytes_max), '\0');
  file.read(text.data(), bytes_max);
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return text;
}

std::int64_t size_of(const std::string& path) {
  std::error_code missing;
  const std::uintmax_t size = std::filesystem::file_size(path, missing);
  return missing ? -1 : static_cast<std::int64_t>(size);
}

std::vector<std::string> containers_of(const Value& pod) {
  std::vector<std::string> names;
  for (const char* const list : {"containers", "initContainers", "ephemeralContainers"}) {
    for (const Value& container : pod["spec"][list].items()) names.emplace_back(container["name"].text());
  }
  return names;
}

std::optional<ApiError> settle_container(const Value& pod, const std::string& name, LogWish& wish) {
  const std::vector<std::string> all = containers_of(pod);
  if (wish.container.empty()) {
    wish.container = pod["metadata"]["annotations"]["kubectl.kubernetes.io/default-container"].text();
  }
  if (wish.container.empty()) {
    if (all.size() == 1) {
      wish.container = all[0];
      return std::nullopt;
    }
    std::string choice;
    for (const std::string& each : all) choice += (choice.empty() ? "" : " ") + each;
    return bad_request("a container name must be specified for pod " + name + ", choose one of: [" + choice + "]");
  }
  if (std::ranges::find(all, wish.container) != all.end()) return std::nullopt;
  return bad_request("container " + quote(wish.container) + " is not valid for pod " + name);
}

bool is_over(const Value& pod, std::string_view container) {
  const std::string_view phase = pod["status"]["phase"].text();
  if (phase == "Succeeded" || phase == "Failed") return true;
  for (const char* const list : {"containerStatuses", "initContainerStatuses"}) {
    for (const Value& status : pod["status"][list].items()) {
      if (status["name"].text() == container) return !status["state"]["terminated"].is_empty();
    }
  }
  return false;
}

}  // namespace

std::expected<LogWish, ApiError> read_log_wish(const HttpRequest& request, Time now) {
  LogWish wish;
  if (const std::string* const container = request.parameter("container")) wish.container = *container;
  wish.follow = is_set(request, "follow");
  wish.previous = is_set(request, "previous");
  wish.timestamps = is_set(request, "timestamps");
  const auto tail = amount(request, "tailLines", 0);
  if (!tail) return std::unexpected(tail.error());
  wish.tail_lines = *tail;
  const auto limit = amount(request, "limitBytes", 1);
  if (!limit) return std::unexpected(limit.error());
  wish.limit_bytes = *limit;
  const auto since = amount(request, "sinceSeconds", 1);
  if (!since) return std::unexpected(since.error());
  const std::string* const at = request.parameter("sinceTime");
  if (*since && at != nullptr && !at->empty()) {
    return std::unexpected(invalid_named(
        "PodLogOptions", "", "",
        {forbidden_value("sinceSeconds", "at most one of `sinceTime` or `sinceSeconds` may be specified")}));
  }
  if (*since) wish.since = Time{now.ms - std::min<std::int64_t>(**since, now.ms / 1000) * 1000};
  if (at != nullptr && !at->empty()) {
    wish.since = parse_timestamp(*at);
    if (!wish.since) return std::unexpected(bad_request("sinceTime: " + quote(*at) + " is no RFC 3339 time"));
  }
  return wish;
}

std::string select_lines(std::string_view text, const LogWish& wish) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const auto [time, line] = split_time(text.substr(0, end));
    const auto when = wish.since && !time.empty() ? parse_timestamp(time) : std::nullopt;
    if (!when || *when >= *wish.since) out += wish.timestamps ? text.substr(0, end) : line;
    text.remove_prefix(end);
  }
  const std::string_view tail = wish.tail_lines ? end_of(out, *wish.tail_lines) : std::string_view(out);
  if (tail.size() != out.size()) out.erase(0, out.size() - tail.size());
  return out;
}

class FollowedLog {
 public:
  FollowedLog(const ServerParts& parts, Exchange& exchange, LogWish wish, std::string path, std::int64_t offset)
      : parts_(parts),
        ticket_(std::move(exchange.ticket)),
        key_(exchange.route.key()),
        wish_(std::move(wish)),
        path_(std::move(path)),
        offset_(offset) {
    wish_.tail_lines.reset();  // counted from what was there at the beginning
  }

  void begin(std::shared_ptr<HttpStream> stream, std::string text, std::string uid) {
    stream_ = std::move(stream);
    uid_ = std::move(uid);
    write(std::move(text));
  }

  // Sends what was added. False when there will be no more.
  bool look() {
    if (!stream_->open()) return false;
    const bool over = pod_is_over();            // asked first: what was written before the end is there now
    if (size_of(path_) < offset_) offset_ = 0;  // begun anew
    std::string text = read_piece(path_, offset_, kStepBytesMax);
    if (!over || text.size() == static_cast<std::size_t>(kStepBytesMax)) {
      // A line that is being written is sent when it has ended, or is longer than a step.
      const std::size_t end = text.rfind('\n');
      if (end != std::string::npos) {
        text.resize(end + 1);
      } else if (text.size() < static_cast<std::size_t>(kStepBytesMax)) {
        text.clear();
      }
    }
    offset_ += static_cast<std::int64_t>(text.size());
    const bool more = !text.empty();
    if (more) write(select_lines(text, wish_));
    return (more || !over) && stream_->open();
  }

  void end() { stream_->end(); }

 private:
  void write(std::string text) {
    if (wish_.limit_bytes && static_cast<std::int64_t>(text.size()) >= *wish_.limit_bytes) {
      text.resize(static_cast<std::size_t>(*wish_.limit_bytes));
    }
    if (wish_.limit_bytes) *wish_.limit_bytes -= static_cast<std::int64_t>(text.size());
    const bool gone = !text.empty() && !stream_->write(std::make_shared<const std::string>(std::move(text)));
    if (gone || wish_.limit_bytes == std::int64_t{0}) stream_->end();
  }

  bool pod_is_over() const {
    const RecordPtr record = parts_.store.find(key_);
    if (!record) return true;
    const Value pod = kept_value(*record);
    return pod["metadata"]["uid"].text() != uid_ || is_over(pod, wish_.container);
  }

  const ServerParts& parts_;
  const Ticket ticket_;
  const std::string key_;
  LogWish wish_;
  const std::string path_;
  std::int64_t offset_;
  std::string uid_;
  std::shared_ptr<HttpStream> stream_;
};

PodLogs::PodLogs(const ServerParts& parts, std::string folder) : parts_(parts), folder_(std::move(folder)) {}

PodLogs::~PodLogs() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void PodLogs::serve(Exchange& exchange) {
  const std::string& name = exchange.route.name;
  auto wish = read_log_wish(exchange.request, parts_.now());
  if (!wish) return answer_error(exchange, wish.error());
  const RecordPtr record = parts_.store.find(exchange.route.key());
  if (!record) return answer_error(exchange, not_found(*exchange.route.kind, name));
  const Value pod = kept_value(*record);
  if (const auto wrong = settle_container(pod, name, *wish)) return answer_error(exchange, *wrong);
  if (pod["spec"]["nodeName"].text().empty()) {
    return answer_error(exchange, bad_request("pod " + name + " does not have a host assigned"));
  }
  const std::string uid(pod["metadata"]["uid"].text());
  const std::string path = folder_ + "/" + uid + "/" + wish->container + (wish->previous ? ".previous.log" : ".log");
  const std::int64_t size = folder_.empty() ? -1 : size_of(path);
  if (size < 0 && wish->previous) {
    return answer_error(exchange, bad_request("previous terminated container \"" + wish->container + "\" in pod \"" +
                                              name + "\" not found"));
  }
  if (size < 0 && pod["status"]["phase"].text() == "Pending") {
    return answer_error(exchange, bad_request("container \"" + wish->container + "\" in pod \"" + name +
                                              "\" is waiting to start: ContainerCreating"));
  }
  std::int64_t offset = std::max<std::int64_t>(0, size - kBytesMax);
  std::string text = size < 0 ? std::string() : read_piece(path, offset, size - offset);
  if (offset > 0) text.erase(0, text.find('\n') + 1);  // a line whose beginning is cut off
  if (wish->follow && !wish->previous) {               // what has ended does not go on
    auto log = std::make_unique<FollowedLog>(parts_, exchange, *wish, path, std::max<std::int64_t>(0, size));
    log->begin(exchange.responder->start_stream(200, "text/plain"), select_lines(text, *wish), uid);
    return follow(std::move(log));
  }
  text = select_lines(text, *wish);
  if (wish->limit_bytes) text.resize(std::min(text.size(), static_cast<std::size_t>(*wish->limit_bytes)));
  HttpReply reply;
  reply.content_type = "text/plain";
  reply.body = std::move(text);
  answer(exchange, std::move(reply));
}

void PodLogs::follow(std::unique_ptr<FollowedLog> log) {
  {
    const std::lock_guard lock(mutex_);
    arrived_.push_back(std::move(log));
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  wake_.notify_all();
}

void PodLogs::run() {
  std::vector<std::unique_ptr<FollowedLog>> followed;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      const auto called = [this] { return closing_ || !arrived_.empty(); };
      if (followed.empty()) {
        wake_.wait(lock, called);
      } else {
        wake_.wait_for(lock, kLogLookEvery, called);
      }
      if (closing_) break;
      std::ranges::move(arrived_, std::back_inserter(followed));
      arrived_.clear();
    }
    std::erase_if(followed, [](const std::unique_ptr<FollowedLog>& log) {
      const bool more = log->look();
      if (!more) log->end();
      return !more;
    });
  }
  const std::lock_guard lock(mutex_);
  for (const auto& log : followed) log->end();
  for (const auto& log : arrived_) log->end();
}

}  // namespace berth
