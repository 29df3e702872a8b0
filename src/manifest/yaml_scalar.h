// What a plain YAML scalar means. Reading and writing share it: what is written plain is what is read as the same text.
#pragma once

#include <string_view>

#include "manifest/value.h"

namespace berth {

// As kubectl reads it (YAML 1.1): null, bools (also yes, no, on, off, y, n), whole numbers in any base, fractions as
// they were written; otherwise the text itself. Infinities and what is no number (".inf", ".nan") stay texts here.
Value read_plain_scalar(std::string_view text);
bool is_infinity_or_nan(std::string_view text);

}  // namespace berth
