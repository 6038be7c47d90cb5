// The error of a file that is no valid ELF file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "lib/base/result.hpp"

namespace wheelyard::inspect {

// "elf.malformed"; `value` is the number that is wrong.
inline tl::unexpected<base::Error> malformed(std::string sentence, std::uint64_t value) {
    return base::fail_malformed("elf.malformed", std::move(sentence), std::to_string(value));
}

}  // namespace wheelyard::inspect
