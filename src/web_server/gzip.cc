#include "web_server/gzip.h"

#define ZLIB_CONST  // what is read stays as it is
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "web_server/header_text.h"

namespace berth {
namespace {

// Of all levels the fastest; more would make lists of objects little smaller.
constexpr int kLevel = 1;
constexpr int kGzipWindow = 15 + 16;  // zlib's way to ask for gzip's frame
constexpr int kMemoryLevel = 8;       // a quarter of a MiB, as long as the reply is being sent

class Deflated final : public GzipBody {
 public:
  Deflated() {
    begun_ = deflateInit2(&zlib_, kLevel, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~Deflated() override {
    if (begun_) deflateEnd(&zlib_);
  }
  Deflated(const Deflated&) = delete;
  Deflated& operator=(const Deflated&) = delete;

  bool begun() const { return begun_; }
  void take(std::vector<std::shared_ptr<const std::string>> parts) { parts_ = std::move(parts); }

  std::string next(std::size_t body_bytes) override {
    std::string out;
    while (!done_ && (body_bytes > 0 || out.empty())) {
      if (part_ == parts_.size()) {
        done_ = squeeze({}, Z_FINISH, out);
        continue;
      }
      // What zlib keeps for itself at first is no progress to wait for.
      const std::string_view part = std::string_view(*parts_[part_]).substr(at_);
      const std::size_t step = std::min({part.size(), std::max(body_bytes, kStepMin), kStepMax});
      squeeze(part.substr(0, step), Z_NO_FLUSH, out);
      body_bytes -= std::min(body_bytes, step);
      at_ += step;
      if (step < part.size()) continue;
      parts_[part_++].reset();
      at_ = 0;
    }
    return out;
  }

  bool done() const override { return done_; }

 private:
  static constexpr std::size_t kStepMin = 4 << 10;
  static constexpr std::size_t kStepMax = std::numeric_limits<uInt>::max();

  // Whether the stream has ended.
  bool squeeze(std::string_view in, int flush, std::string& out) {
    zlib_.next_in = reinterpret_cast<const Bytef*>(in.data());
    zlib_.avail_in = static_cast<uInt>(in.size());
    int said = Z_OK;
    do {
      zlib_.next_out = reinterpret_cast<Bytef*>(landing_.data());
      zlib_.avail_out = static_cast<uInt>(landing_.size());
      said = deflate(&zlib_, flush);
      out.append(landing_.data(), landing_.size() - zlib_.avail_out);
    } while (zlib_.avail_out == 0);
    return said == Z_STREAM_END;
  }

  z_stream zlib_{};
  bool begun_ = false;
  bool done_ = false;
  std::vector<std::shared_ptr<const std::string>> parts_;
  std::size_t part_ = 0, at_ = 0;
  std::array<char, 32 << 10> landing_{};
};

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    std::string_view coding = take_word(accept_encoding, ',');
    if (take_word(coding, ';') != "gzip") continue;
    const std::string_view quality = trimmed(coding);
    // "q=0", "q=0.000": anything but that.
    return !quality.starts_with("q=0") || quality.find_first_of("123456789") != std::string_view::npos;
  }
  return false;
}

std::unique_ptr<GzipBody> GzipBody::begin(std::vector<std::shared_ptr<const std::string>>& parts) {
  auto body = std::make_unique<Deflated>();
  if (!body->begun()) return nullptr;
  body->take(std::move(parts));
  parts.clear();
  return body;
}

}  // namespace berth
