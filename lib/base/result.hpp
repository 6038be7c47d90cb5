// Expected failures as data: what went wrong, with which value, and what to do about it.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace wheelyard::base {

// Who can help. Set where the error is made; it decides whether a caller tries again.
enum class Recovery {
    never,   // the same call fails again
    retry,   // it may succeed by itself: the network, a busy server, a full disk
    person,  // a person must act first; the work is kept until then
};

// What a caller may act on. Codes are for people and tests; control flow uses this.
enum class ErrorKind {
    other,
    busy,          // somebody else holds it now
    lost,          // it was ours and is no longer: a lock, a lease
    in_progress,   // work for it has begun and is not finished
    unavailable,   // the other side answers that it cannot serve now
    unreachable,   // no connection came about
    cut,           // the connection broke or fell silent in the middle
    unauthorized,  // the credentials are missing or refused
    malformed,     // the bytes are not what they should be
    missing,       // it was there and is gone, or never was
    program,       // a program that ran for it failed; `value` is its log
};

// One expected failure. `code` is stable and machine-readable ("upload.digest_mismatch"); `sentence` is for a
// person and is complete without the rest; `value` is the offending value as found (may be empty, never a
// secret); `advice` says what to do.
struct Error {
    std::string code;
    std::string sentence;
    std::string value = {};
    std::string advice = {};
    Recovery recovery = Recovery::never;
    ErrorKind kind = ErrorKind::other;
    int os_error = 0;  // errno of the system call that failed; 0: no system call

    // "sentence: `value` (advice)", the form that programs print.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool may_pass() const { return recovery != Recovery::never; }
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

// The same, of a kind that callers act on.
[[nodiscard]] inline tl::unexpected<Error> fail_as(ErrorKind kind, Recovery recovery, Error error) {
    error.kind = kind;
    error.recovery = recovery;
    return fail(std::move(error));
}
[[nodiscard]] inline tl::unexpected<Error> fail_for_now(std::string code, std::string sentence,
                                                        std::string value = {}, std::string advice = {}) {
    return fail_as(ErrorKind::other, Recovery::retry,
                   {std::move(code), std::move(sentence), std::move(value), std::move(advice)});
}

// A failure of the system call `what` on `subject`, from errno: code "os.ENOSPC", "os.ENOENT" …, recovery retry but for what
// no waiting changes (EISDIR, ELOOP, ENAMETOOLONG).
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
