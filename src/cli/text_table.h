// A table for a terminal: columns aligned, numbers to the right.
#pragma once

#include <string>
#include <vector>

namespace berth {

struct TextTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // INVARIANT: each as long as the header

  // The first column to the left, the others to the right; two spaces between. Ends with a newline.
  std::string to_text() const;
  std::string to_markdown() const;
};

}  // namespace berth
