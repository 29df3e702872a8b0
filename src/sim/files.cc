#include "sim/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

namespace berth {

namespace {

Complaints cannot_read(const std::string& path, int error) {
  std::string text = "cannot be read: " + std::generic_category().message(error);
  if (error == ENOENT) text = "there is no such file; write the name of one that exists";
  if (error == EISDIR) text = "this is a directory; write the name of a file in it";
  if (error == EACCES) text = "it may not be read; give the user who runs this the right to read it";
  return {{path, 0, 0}, text};
}

Complaints cannot_write(const std::string& path, int error) {
  return {{path, 0, 0},
          "cannot be written: " + std::generic_category().message(error) +
              "; name a place that you may write to and that has room"};
}

Complaints too_large(const std::string& path) {
  return {{path, 0, 0}, "larger than " + std::to_string(kFileBytesMax) + " bytes; split it"};
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  // A C path ends at a NUL; what the caller meant may be another file.
  if (path.empty() || path.find('\0') != std::string::npos) return cannot_read(path, ENOENT);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return cannot_read(path, errno);
  struct stat status{};
  if (fstat(fileno(file.get()), &status) != 0) return cannot_read(path, errno);
  if (S_ISDIR(status.st_mode)) return cannot_read(path, EISDIR);
  if (status.st_size > kFileBytesMax) return too_large(path);
  std::string text;
  text.reserve(static_cast<std::size_t>(status.st_size));
  // The size is only a hint: pipes have none, and files grow while they are read.
  while (true) {
    constexpr std::size_t kStep = std::size_t{1} << 20;
    const std::size_t before = text.size();
    text.resize(before + kStep);
    const std::size_t got = std::fread(text.data() + before, 1, kStep, file.get());
    text.resize(before + got);
    if (text.size() > static_cast<std::size_t>(kFileBytesMax)) return too_large(path);
    if (got < kStep) break;
  }
  if (std::ferror(file.get()) != 0) return cannot_read(path, errno);
  return text;
}

Result<std::string> write_file(const std::string& path, std::string_view text) {
  const auto failed = [&](int error) { return cannot_write(path, error); };
  std::error_code failure;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, failure);
  if (failure) return failed(failure.value());
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return failed(errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int error = errno;
  if (std::fclose(file) != 0) return failed(errno);
  if (!written) return failed(error);
  return path;
}

Result<std::string> write_private_file(const std::string& path, std::string_view text) {
  const std::string beside = path + ".new";
  const int file = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return cannot_write(path, errno);
  bool written = true;
  for (std::size_t at = 0; at < text.size() && written;) {
    const ssize_t bytes = write(file, text.data() + at, text.size() - at);
    written = bytes > 0;
    if (written) at += static_cast<std::size_t>(bytes);
  }
  written = written && fsync(file) == 0;
  const int error = errno;
  close(file);
  if (written && rename(beside.c_str(), path.c_str()) == 0) return path;
  const int failure = written ? errno : error;
  unlink(beside.c_str());
  return cannot_write(path, failure);
}

}  // namespace berth
