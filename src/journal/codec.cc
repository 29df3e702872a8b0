#include "journal/codec.h"

#include <utility>

#include "journal/record_fields.h"
#include "journal/wire.h"

namespace berth {
namespace {

constexpr std::uint8_t kCycleAskedType = 64;
constexpr std::uint8_t kPlanType = 65;
constexpr std::uint8_t kRunClosedType = 66;

template <class T>
std::expected<JournalRecord, std::string> read_as(wire::Reader& reader) {
  T value;
  fields(reader, value);
  if (reader.failed()) return std::unexpected("a field is damaged");
  if (!reader.at_end()) return std::unexpected("bytes follow the last field");
  if constexpr (std::is_constructible_v<Event, T>) {
    return JournalRecord(Event(std::move(value)));
  } else {
    return JournalRecord(std::move(value));
  }
}

template <std::size_t... Index>
std::expected<JournalRecord, std::string> read_event(wire::Reader& reader, std::uint8_t type,
                                                     std::index_sequence<Index...>) {
  std::expected<JournalRecord, std::string> record = std::unexpected("its type is unknown");
  static_cast<void>(
      ((type == Index && (record = read_as<std::variant_alternative_t<Index, Event>>(reader), true)) || ...));
  return record;
}

}  // namespace

Bytes encode(const JournalRecord& record) {
  wire::Writer writer;
  // fields() serves reading too and so takes what it may change; here it changes nothing.
  const auto write = [&](std::uint8_t type, const auto& value) {
    writer.bytes.push_back(type);
    fields(writer, const_cast<std::remove_cvref_t<decltype(value)>&>(value));
  };
  if (const Event* const event = std::get_if<Event>(&record)) {
    std::visit([&](const auto& fact) { write(static_cast<std::uint8_t>(event->index()), fact); }, *event);
  } else if (const CycleAsked* const asked = std::get_if<CycleAsked>(&record)) {
    write(kCycleAskedType, *asked);
  } else if (const Plan* const plan = std::get_if<Plan>(&record)) {
    write(kPlanType, *plan);
  } else {
    write(kRunClosedType, std::get<RunClosed>(record));
  }
  return std::move(writer.bytes);
}

std::expected<JournalRecord, std::string> decode(std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return std::unexpected("it is empty");
  wire::Reader reader(bytes.subspan(1));
  switch (bytes.front()) {
    case kCycleAskedType:
      return read_as<CycleAsked>(reader);
    case kPlanType:
      return read_as<Plan>(reader);
    case kRunClosedType:
      return read_as<RunClosed>(reader);
    default:
      return read_event(reader, bytes.front(), std::make_index_sequence<std::variant_size_v<Event>>());
  }
}

}  // namespace berth
