#include "apiserver/backups.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <expected>
#include <filesystem>
#include <system_error>
#include <utility>

#include "apiserver/decoding.h"
#include "base/wording.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNameBytesMax = 100;
constexpr std::string_view kEnding = ".db";

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

std::expected<std::string, ApiError> file_asked_for(const HttpRequest& request) {
  const auto body = decode_request(request);
  if (!body) return std::unexpected(body.error());
  const std::string example = "; send {\"file\": \"NAME.db\"}";
  if (!body->value.is_map()) return std::unexpected(bad_request("the body is no object" + example));
  for (const Value::Member& member : body->value.members()) {
    if (member.key != "file") {
      return std::unexpected(bad_request("the body has an unknown field " + quote(member.key) + example));
    }
  }
  const Value& file = body->value["file"];
  if (file.is_text() && is_backup_name(file.text())) return std::string(file.text());
  return std::unexpected(bad_request("file: " + (file.is_text() ? quote(file.text()) : std::string("what is given")) +
                                     " is no name of a backup: letters, digits, - and _, at most " +
                                     std::to_string(kNameBytesMax) + " of them, and .db at the end" + example));
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

Complaints cannot(const fs::path& path, const char* what, const std::error_code& error) {
  return {{path.string(), 0, 0},
          std::string(what) + ": " + error.message() + "; give the user who runs this the right"};
}

}  // namespace

bool is_backup_name(std::string_view file) {
  if (!file.ends_with(kEnding)) return false;
  file.remove_suffix(kEnding.size());
  return !file.empty() && file.size() <= kNameBytesMax && std::ranges::all_of(file, is_name_character);
}

void sync_folder(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

Result<BackupMade> write_backup(Store& store, const std::string& folder, const std::string& file) {
  std::error_code error;
  const fs::path whole = fs::absolute(folder) / file;
  if (is_there(whole)) return Complaints({whole.string(), 0, 0}, "is there already; give the backup another name");
  if (fs::create_directories(folder, error)) fs::permissions(folder, fs::perms::owner_all, error);
  if (error) return cannot(folder, "cannot be made", error);
  // What a process that died in the middle left behind.
  const fs::path part = whole.string() + ".part";
  for (const char* const ending : {"", "-journal"}) fs::remove(part.string() + ending, error);
  const auto revision = store.backup(part.string());
  if (!revision) return revision.error();
  fs::permissions(part, fs::perms::owner_read | fs::perms::owner_write, error);
  const auto bytes = static_cast<std::int64_t>(fs::file_size(part, error));
  if (!error) fs::rename(part, whole, error);
  if (error) {
    std::error_code ignored;
    fs::remove(part, ignored);
    return cannot(whole, "cannot be given its name", error);
  }
  sync_folder(folder);
  return BackupMade{whole.string(), *revision, bytes};
}

Backups::Backups(Store& store, std::string folder) : store_(store), folder_(std::move(folder)) {}

Backups::~Backups() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Backups::serve(const ExchangePtr& exchange) {
  if (folder_.empty()) {
    return answer_error(*exchange, plain_error(404, "NotFound", "this server has no folder for backups"));
  }
  if (exchange->request.method != "POST") {
    ApiError error = plain_error(405, "MethodNotAllowed", "a backup is made with POST");
    error.allowed_methods = "POST";
    return answer_error(*exchange, error);
  }
  auto file = file_asked_for(exchange->request);
  if (!file) return answer_error(*exchange, file.error());
  if (is_there(fs::path(folder_) / *file)) {
    return answer_error(
        *exchange, plain_error(409, "AlreadyExists", "backup " + quote(*file) + " is there already; name another"));
  }
  {
    const std::lock_guard lock(mutex_);
    if (!busy_) {
      if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
      busy_ = true;
      wanted_ = exchange;
      file_ = *std::move(file);
      wake_.notify_all();
      return;
    }
  }
  answer_error(*exchange, plain_error(409, "Conflict", "another backup is being made; ask again when it is done"));
}

void Backups::run() {
  while (true) {
    ExchangePtr exchange;
    std::string file;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return closing_ || wanted_; });
      if (!wanted_) return;
      exchange = std::exchange(wanted_, nullptr);
      file = std::move(file_);
    }
    Result<BackupMade> made = Complaints();
    try {
      made = write_backup(store_, folder_, file);
    } catch (const std::exception& problem) {
      made = Complaints({file, 0, 0}, std::string("the backup was not made: ") + problem.what() + "; try again");
    }
    {
      // Before the answer: who has it may ask for the next.
      const std::lock_guard lock(mutex_);
      busy_ = false;
    }
    if (made) {
      answer_value(*exchange, 201,
                   Value::map_of({{"file", made->path}, {"revision", made->revision}, {"bytes", made->bytes}}));
    } else {
      std::string why = made.error().to_string();
      if (why.ends_with('\n')) why.pop_back();
      answer_error(*exchange, internal_error(std::move(why)));
    }
  }
}

}  // namespace berth
