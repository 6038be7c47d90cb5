// Expected failures as data: what went wrong, with which value, and what to do about it.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace wheelyard::base {

// One expected failure. `code` is stable and machine-readable ("upload.digest_mismatch"); `sentence` is for a
// person and stands alone; `value` is the offending value as found (may be empty, never a secret); `advice`
// says what to do.
struct Error {
    std::string code;
    std::string sentence;
    std::string value = {};
    std::string advice = {};

    // "sentence: `value` (advice)", the form that programs print.
    [[nodiscard]] std::string text() const;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(std::string code, std::string sentence,
                                                std::string value = {}, std::string advice = {}) {
    return tl::unexpected<Error>(
        Error{std::move(code), std::move(sentence), std::move(value), std::move(advice)});
}
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
    return tl::unexpected<Error>(std::move(error));
}

// A failure of the system call `what` on `subject`, from errno: code "os.ENOSPC", "os.ENOENT" …
[[nodiscard]] tl::unexpected<Error> fail_errno(std::string_view what, std::string_view subject,
                                               int error_number);

}  // namespace wheelyard::base

// Early return in functions that return Result or Status. WHEELYARD_TRY(expr) for a Status;
// WHEELYARD_ASSIGN(decl, expr) for a value: `WHEELYARD_ASSIGN(const auto text, read_file(path, limit));`.
#define WHEELYARD_CONCAT_2(a, b) a##b
#define WHEELYARD_CONCAT(a, b) WHEELYARD_CONCAT_2(a, b)
#define WHEELYARD_TRY(expression)                                                                   \
    do {                                                                                            \
        if (auto wheelyard_status = (expression); !wheelyard_status)                                \
            return ::tl::unexpected<::wheelyard::base::Error>(std::move(wheelyard_status.error())); \
    } while (false)
#define WHEELYARD_ASSIGN(declaration, expression) \
    WHEELYARD_ASSIGN_2(WHEELYARD_CONCAT(wheelyard_result_, __LINE__), declaration, expression)
#define WHEELYARD_ASSIGN_2(name, declaration, expression)                                  \
    auto name = (expression);                                                              \
    if (!name) return ::tl::unexpected<::wheelyard::base::Error>(std::move(name.error())); \
    declaration = std::move(*name)
