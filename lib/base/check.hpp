// Invariants of our own code: a broken one is a bug and throws std::logic_error (caught at main, request and
// job).
#pragma once

#include <string_view>

namespace wheelyard::base {

[[noreturn]] void throw_broken_invariant(std::string_view expression, std::string_view file, int line);

}  // namespace wheelyard::base

#define WHEELYARD_CHECK(expression) \
    ((expression) ? void(0) : ::wheelyard::base::throw_broken_invariant(#expression, __FILE__, __LINE__))
