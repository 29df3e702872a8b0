#include "web_server/http.h"

#include <string>
#include <string_view>

namespace berth {

std::string_view HttpRequest::header(std::string_view lower_case_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_case_name) return value;
  }
  return {};
}

const std::string* HttpRequest::parameter(std::string_view name) const {
  for (const auto& [known, value] : query) {
    if (known == name) return &value;
  }
  return nullptr;
}

}  // namespace berth
