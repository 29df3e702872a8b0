#include "apiserver/exchange.h"

#include <string>
#include <utility>

#include "apiserver/accept.h"

namespace berth {
namespace {

// Kubernetes cuts them off as well: headers have a bound everywhere.
constexpr std::size_t kWarningsMax = 20;
constexpr std::size_t kWarningBytesMax = 256;

std::string warning_header(std::string_view text) {
  std::string out = "299 - \"";
  for (const char c : text.substr(0, kWarningBytesMax)) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return out + "\"";
}

}  // namespace

void answer(Exchange& exchange, HttpReply reply) {
  for (std::size_t i = 0; i < exchange.warnings.size() && i < kWarningsMax; ++i) {
    reply.headers.emplace_back("Warning", warning_header(exchange.warnings[i]));
  }
  reply.headers.emplace_back("Cache-Control", "no-cache, private");
  // The limit counts work, not the time a client takes to read.
  exchange.ticket.reset();
  exchange.responder->reply(std::move(reply));
}

void answer_error(Exchange& exchange, const ApiError& error) {
  HttpReply reply;
  const Encoding encoding = encoding_for(exchange.request);
  reply.status = error.code;
  reply.content_type = content_type_of(encoding);
  reply.body = encoded_text(status_of(error), encoding);
  if (!error.allowed_methods.empty()) reply.headers.emplace_back("Allow", error.allowed_methods);
  if (error.retry_after_s > 0) reply.headers.emplace_back("Retry-After", std::to_string(error.retry_after_s));
  answer(exchange, std::move(reply));
}

void answer_value(Exchange& exchange, int code, const Value& value) {
  HttpReply reply;
  const Encoding encoding = encoding_for(exchange.request);
  reply.status = code;
  reply.content_type = content_type_of(encoding);
  reply.body = encoded_text(value, encoding);
  answer(exchange, std::move(reply));
}

void answer_json(Exchange& exchange, int code, std::string_view object) {
  HttpReply reply;
  reply.status = code;
  reply.content_type = content_type_of(Encoding::kJson);
  reply.body.reserve(object.size() + 1);
  reply.body += object;
  reply.body += '\n';
  answer(exchange, std::move(reply));
}

void answer_text(Exchange& exchange, int code, std::string text) {
  HttpReply reply;
  reply.status = code;
  reply.content_type = "text/plain; charset=utf-8";
  reply.body = std::move(text);
  answer(exchange, std::move(reply));
}

}  // namespace berth
