#include "journal/chain.h"

#include <openssl/evp.h>

#include <algorithm>
#include <string_view>

#include "base/assert.h"

namespace berth {
namespace {

constexpr std::string_view kMagic = "BERTHJNL";
constexpr std::size_t kHeaderBytes = kMagic.size() + 3 * 4;

void put_u32(Bytes& bytes, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::uint8_t>(value >> shift));
}

std::uint32_t get_u32(std::span<const std::uint8_t> bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{bytes[at + i]} << (8 * i);
  return value;
}

}  // namespace

struct Sha256::Context {
  EVP_MD* algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  EVP_MD_CTX* context = EVP_MD_CTX_new();
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  BERTH_ASSERT(context_->algorithm != nullptr && context_->context != nullptr);
}

Sha256::~Sha256() {
  EVP_MD_CTX_free(context_->context);
  EVP_MD_free(context_->algorithm);
}

Digest Sha256::of(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second) {
  Digest digest{};
  const bool done = EVP_DigestInit_ex2(context_->context, context_->algorithm, nullptr) == 1 &&
                    EVP_DigestUpdate(context_->context, first.data(), first.size()) == 1 &&
                    EVP_DigestUpdate(context_->context, second.data(), second.size()) == 1 &&
                    EVP_DigestFinal_ex(context_->context, digest.data(), nullptr) == 1;
  BERTH_ASSERT(done);
  return digest;
}

Bytes ChainWriter::begin_section(std::uint32_t index, std::uint32_t sections) {
  Bytes header(kMagic.begin(), kMagic.end());
  put_u32(header, kJournalVersion);
  put_u32(header, index);
  put_u32(header, sections);
  last_ = sha_.of(last_, header);
  return header;
}

Bytes ChainWriter::append(std::span<const std::uint8_t> payload) {
  BERTH_ASSERT(payload.size() <= kJournalRecordBytesMax);
  Bytes record;
  record.reserve(payload.size() + 4 + last_.size());
  put_u32(record, static_cast<std::uint32_t>(payload.size()));
  record.insert(record.end(), payload.begin(), payload.end());
  last_ = sha_.of(last_, record);
  record.insert(record.end(), last_.begin(), last_.end());
  return record;
}

std::string ChainReader::at(const std::string& what) const {
  return "record " + std::to_string(records_ + 1) + ", byte " + std::to_string(offset_) + ": " + what;
}

std::expected<void, std::string> ChainReader::read_header() {
  const auto left = file_.subspan(offset_);
  const bool is_journal = left.size() >= kHeaderBytes && std::equal(kMagic.begin(), kMagic.end(), left.begin());
  if (!is_journal) {
    return std::unexpected(at(offset_ == 0
                                  ? "this is not a Berth journal; name a file that --journal or berth snapshot wrote"
                                  : "the journal is cut off or damaged here"));
  }
  const std::uint32_t version = get_u32(left, kMagic.size());
  if (version == 0 || version > kJournalVersion) {
    return std::unexpected(at("written in format " + std::to_string(version) + "; this program reads formats 1 to " +
                              std::to_string(kJournalVersion)));
  }
  version_ = version;
  const std::uint32_t index = get_u32(left, kMagic.size() + 4);
  const std::uint32_t sections = get_u32(left, kMagic.size() + 8);
  if (index != section_ || index >= sections || (sections_ != 0 && sections != sections_)) {
    return std::unexpected(at("a section is missing or damaged"));
  }
  sections_ = sections;
  ++section_;
  last_ = sha_.of(last_, left.first(kHeaderBytes));
  offset_ += kHeaderBytes;
  in_section_ = true;
  return {};
}

std::expected<std::span<const std::uint8_t>, std::string> ChainReader::next() {
  if (!in_section_) {
    if (offset_ == file_.size() && section_ > 0 && section_ == sections_) return std::span<const std::uint8_t>();
    if (section_ > 0 && section_ == sections_) return std::unexpected(at("bytes follow the end of the journal"));
    if (auto header = read_header(); !header) return std::unexpected(header.error());
  }
  const auto left = file_.subspan(offset_);
  cut_off_ = left.size() < 4;
  if (cut_off_) return std::unexpected(at("the journal is cut off here; up to here it is sound"));
  const std::uint32_t size = get_u32(left, 0);
  cut_off_ = size > 0 && size <= kJournalRecordBytesMax && left.size() - 4 < std::size_t{size} + last_.size();
  if (size == 0 || size > kJournalRecordBytesMax || cut_off_) {
    return std::unexpected(at("the record is damaged, or the journal is cut off; up to here it is sound"));
  }
  const Digest digest = sha_.of(last_, left.first(4 + size));
  if (!std::equal(digest.begin(), digest.end(), left.begin() + 4 + size)) {
    return std::unexpected(at("the record, or one before it, was changed: its hash does not match"));
  }
  const auto payload = left.subspan(4, size);
  if (auto record = decode(payload); record && std::holds_alternative<RunClosed>(*record)) in_section_ = false;
  last_ = digest;
  offset_ += 4 + size + last_.size();
  ++records_;
  return payload;
}

}  // namespace berth
