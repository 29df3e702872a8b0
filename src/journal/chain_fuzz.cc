// Any bytes are a journal or a complaint. A fuzzer finds no SHA-256 that fits, so the bytes are also made into a journal:
// what was written is read back, and one changed byte is found.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.h"
#include "journal/chain.h"

namespace {

using berth::Bytes;

// How many payloads there are; -1 if something is wrong.
int read(std::span<const std::uint8_t> file) {
  berth::ChainReader reader(file);
  for (int payloads = 0;; ++payloads) {
    const auto payload = reader.next();
    if (!payload) {
      BERTH_ASSERT(!payload.error().empty());
      return -1;
    }
    if (payload->empty()) return payloads;
    BERTH_ASSERT(reader.offset() <= file.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::span<const std::uint8_t> given(bytes, size);
  read(given);
  if (size < 3) return 0;
  berth::ChainWriter writer;
  Bytes file = writer.begin_section(0, 1);
  // A payload that ends a section is one in the middle here.
  const bool ends_early = [&] {
    const auto record = berth::decode(given);
    return record && std::holds_alternative<berth::RunClosed>(*record);
  }();
  for (const Bytes& payload : {Bytes(given.begin(), given.end()), berth::encode(berth::RunClosed{})}) {
    const Bytes record = writer.append(payload);
    file.insert(file.end(), record.begin(), record.end());
  }
  BERTH_ASSERT(read(file) == (ends_early ? -1 : 2));
  const std::size_t at = (bytes[0] + std::size_t{256} * bytes[1]) % file.size();
  file[at] = static_cast<std::uint8_t>(file[at] ^ (bytes[2] == 0 ? 1 : bytes[2]));
  BERTH_ASSERT(read(file) == -1);
  return 0;
}
