#include "manifest/host_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

namespace berth {
namespace {

constexpr std::size_t kHostNameMax = 253;  // of an object of Kubernetes

// One part of a name: what stands there, each for a name of its own.
using Choices = std::vector<std::string>;

class HostList {
 public:
  HostList(std::string_view text, const Place& place) : text_(text), place_(place) {}

  Result<std::vector<std::string>> read() {
    while (complaints_.empty() && at_ < text_.size()) read_name();
    if (complaints_.empty() && text_.ends_with(',')) complain("a name is missing behind the last comma");
    if (complaints_.empty() && hosts_.empty()) complain("no node is named");
    if (!complaints_.empty()) return std::move(complaints_);
    return std::move(hosts_);
  }

 private:
  void complain(std::string_view what) { complaints_.add(place_, fmt::format("'{}': {}", text_, what)); }

  void read_name() {
    std::vector<Choices> parts;
    while (complaints_.empty() && at_ < text_.size() && text_[at_] != ',') {
      if (text_[at_] == '[') {
        parts.push_back(read_numbers());
      } else {
        const std::size_t end = std::min(text_.find_first_of(",[", at_), text_.size());
        parts.push_back({std::string(text_.substr(at_, end - at_))});
        at_ = end;
      }
    }
    if (!complaints_.empty()) return;
    if (parts.empty()) return complain("a name is missing before a comma");
    ++at_;
    add_all(parts);
  }

  Choices read_numbers() {
    const std::size_t end = text_.find(']', at_);
    if (end == std::string_view::npos) {
      complain("a bracket is not closed");
      return {};
    }
    std::string_view rest = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    Choices choices;
    while (complaints_.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      add_range(rest.substr(0, comma), choices);
      if (comma == rest.size()) break;
      rest.remove_prefix(comma + 1);
    }
    return choices;
  }

  // "7" or "08-10".
  void add_range(std::string_view range, Choices& choices) {
    const std::size_t dash = range.find('-');
    const std::string_view first_text = range.substr(0, dash);
    const std::string_view last_text = dash == std::string_view::npos ? first_text : range.substr(dash + 1);
    std::int64_t first = 0;
    std::int64_t last = 0;
    if (!read_number(first_text, first) || !read_number(last_text, last) || last < first) {
      return complain(fmt::format("'{}' is no number and no range, as in [1-4,7]", range));
    }
    if (last - first >= static_cast<std::int64_t>(kHostsMax)) return too_many();
    for (std::int64_t number = first; number <= last; ++number) {
      if (choices.size() == kHostsMax) return too_many();
      choices.push_back(fmt::format("{:0{}}", number, first_text.size()));
    }
  }

  static bool read_number(std::string_view text, std::int64_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return !text.empty() && text.front() != '-' && error == std::errc() && end == text.data() + text.size();
  }

  void add_all(const std::vector<Choices>& parts) {
    std::vector<std::string> names = {""};
    std::size_t length = 0;
    for (const Choices& choices : parts) {
      length += choices.back().size();
      if (length > kHostNameMax) return complain(fmt::format("a name of more than {} characters", kHostNameMax));
      if (names.size() * choices.size() > kHostsMax) return too_many();
      std::vector<std::string> longer;
      for (const std::string& name : names) {
        for (const std::string& choice : choices) longer.push_back(name + choice);
      }
      names = std::move(longer);
    }
    if (hosts_.size() + names.size() > kHostsMax) return too_many();
    for (std::string& name : names) hosts_.push_back(std::move(name));
  }

  void too_many() { complain(fmt::format("more than {} nodes; write them in several files", kHostsMax)); }

  std::string_view text_;
  const Place& place_;
  std::size_t at_ = 0;
  std::vector<std::string> hosts_;
  Complaints complaints_;
};

}  // namespace

Result<std::vector<std::string>> expand_host_list(std::string_view text, const Place& place) {
  return HostList(text, place).read();
}

}  // namespace berth
