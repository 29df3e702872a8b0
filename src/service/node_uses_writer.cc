#include "service/node_uses_writer.h"

namespace berth {
namespace {

constexpr Duration kRetry = seconds(1);

}  // namespace

void NodeUsesWriter::write(const NodeUses& uses) {
  Pages& pages = pages_[uses.node];
  pages.latest = uses;
  ++pages.version;
  if (!pages.sending) send(uses.node);
}

void NodeUsesWriter::when_written(const std::string& node, std::function<void()> go_on) {
  const auto pages = pages_.find(node);
  if (pages == pages_.end()) return go_on();
  pages->second.waiting.emplace_back(pages->second.version, std::move(go_on));
}

void NodeUsesWriter::send(const std::string& node) {
  Pages& pages = pages_.at(node);
  pages.sending = true;
  outbox_.send(Outbox::Urgency::kFirst, call_(pages.latest),
               [this, node, version = pages.version](const ApiAnswer& answer) {
                 if (answer.ok() || answer.status == 404) return note(node, version);
                 // Nobody comes before it stands there, whatever the reason.
                 delays_.after(kRetry, [this, node] { send(node); });
               });
}

void NodeUsesWriter::note(const std::string& node, std::uint64_t version) {
  Pages& pages = pages_.at(node);
  pages.sending = false;
  pages.written = version;
  std::vector<std::function<void()>> go_on;
  while (!pages.waiting.empty() && pages.waiting.front().first <= version) {
    go_on.push_back(std::move(pages.waiting.front().second));
    pages.waiting.erase(pages.waiting.begin());
  }
  if (pages.version > version) {
    send(node);
  } else {
    pages_.erase(node);
  }
  for (const auto& each : go_on) each();
}

}  // namespace berth
