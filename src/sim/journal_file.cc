#include "sim/journal_file.h"

#include <cerrno>
#include <cstring>

#include "base/hash.h"

namespace berth {

Result<JournalFile> JournalFile::create(const std::string& path) {
  JournalFile journal;
  journal.path_ = path;
  journal.file_.reset(std::fopen(path.c_str(), "wb"));
  if (!journal.file_) {
    return Complaints({path},
                      std::string("cannot be written: ") + std::strerror(errno) + "; name a file in a folder of yours");
  }
  journal.chain_ = std::make_unique<ChainWriter>();
  return journal;
}

void JournalFile::begin_section(std::uint32_t index, std::uint32_t sections) {
  write(chain_->begin_section(index, sections));
}

void JournalFile::append(std::span<const std::uint8_t> payload) { write(chain_->append(payload)); }

void JournalFile::flush() {
  if (std::fflush(file_.get()) != 0 && error_ == 0) error_ = errno;
}

void JournalFile::write(const Bytes& bytes) {
  if (error_ != 0) return;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) error_ = errno;
  bytes_ += bytes.size();
}

Result<std::uint64_t> JournalFile::close() {
  std::FILE* const file = file_.release();
  if (std::fclose(file) != 0 && error_ == 0) error_ = errno;
  if (error_ != 0) {
    return Complaints({path_},
                      std::string("the journal is not whole: ") + std::strerror(error_) + "; make room and run again");
  }
  return bytes_;
}

std::uint64_t state_hash_of(std::span<const std::uint64_t> hashes) {
  if (hashes.size() == 1) return hashes.front();
  Hasher hasher;
  for (const std::uint64_t hash : hashes) hasher.add(hash);
  return hasher.digest();
}

}  // namespace berth
