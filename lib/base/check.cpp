#include "lib/base/check.hpp"

#include <stdexcept>
#include <string>

namespace wheelyard::base {

void throw_broken_invariant(std::string_view expression, std::string_view file, int line) {
    throw std::logic_error("broken invariant at " + std::string(file) + ":" + std::to_string(line) + ": " +
                           std::string(expression));
}

}  // namespace wheelyard::base
