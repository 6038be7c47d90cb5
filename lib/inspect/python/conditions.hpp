// What an `if` or an `except` says without running it.
#pragma once

#include <cstdint>
#include <optional>

#include "lib/inspect/python/source_lines.hpp"

namespace wheelyard::inspect {

// Whether the condition holds when CPython or PyPy 3 imports the module on Linux; nullopt: that depends on more.
// TYPE_CHECKING and `__name__ == "__main__"` do not hold; names of systems are compared with Linux; `not X` and `X is None`
// hold, as of a library that is opened once.
[[nodiscard]] std::optional<bool> condition_holds(Tokens condition, unsigned depth = 0);

// Exceptions that a handler may take.
enum Caught : std::uint8_t {
    caught_import = 1,     // ImportError: of an extension module that cannot be loaded
    caught_missing = 2,    // ModuleNotFoundError
    caught_os = 4,         // OSError: of a library that cannot be opened
    caught_attribute = 8,  // AttributeError
};
// Of the tokens between `except` and the colon, or between the parentheses of contextlib.suppress.
[[nodiscard]] std::uint8_t caught_by(Tokens types);

}  // namespace wheelyard::inspect
