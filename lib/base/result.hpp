// Expected failures as data: what failed, the offending value, and what to do about it.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace wheelyard::base {

// Who can resolve a failure. Set where the error is created; decides whether a caller retries.
enum class Recovery {
    never,   // the same call will fail again
    retry,   // a later call may succeed: the network, a busy server, a full disk
    person,  // a person must act first; the work is kept until then
};

// The class of failure that control flow acts on. Codes are for people and tests.
enum class ErrorKind {
    other,
    busy,          // another process holds it
    lost,          // this process no longer holds it: a lock, a lease
    in_progress,   // the operation has started and is not finished
    unavailable,   // the server answers that it cannot serve now
    unreachable,   // no connection was made
    cut,           // the connection broke or stalled during the exchange
    unauthorized,  // credentials are missing or rejected
    malformed,     // the data is not in the expected format
    missing,       // it does not exist, or no longer
    invalid,       // the request can never be accepted in this form
    unsupported,   // the form of the request is not known here
    conflict,      // the request contradicts the present state of its target
    refused,       // the request is understood and denied
    too_large,     // the request is larger than a limit
    program,       // a program that ran for the operation failed; `value` is its log
    exhausted,     // a limit on the number of requests or items is reached
};

// One expected failure. `code` is stable and machine-readable ("upload.digest_mismatch"). `sentence` is for
// people and complete without the other fields. `value` is the offending value as found (may be empty, never
// a secret). `advice` says what to do.
struct Error {
    std::string code;
    std::string sentence;
    std::string value = {};
    std::string advice = {};
    Recovery recovery = Recovery::never;
    ErrorKind kind = ErrorKind::other;
    int os_error = 0;  // errno of the failed system call; 0: none

    // "sentence: `value` (advice)", as programs print it.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool may_pass() const { return recovery != Recovery::never; }
    // No connection was made, or it broke: there is no answer of the server.
    [[nodiscard]] bool is_of_connection() const {
        return kind == ErrorKind::unreachable || kind == ErrorKind::cut;
    }
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

// fail() with a kind and a recovery for control flow.
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

[[nodiscard]] inline tl::unexpected<Error> fail_malformed(std::string code, std::string sentence,
                                                          std::string value = {}, std::string advice = {}) {
    return fail_as(ErrorKind::malformed, Recovery::never,
                   {std::move(code), std::move(sentence), std::move(value), std::move(advice)});
}

// The system call `what` on `subject` failed with errno `error_number`: code "os.ENOSPC", "os.ENOENT" …;
// recovery retry, except for errors that waiting cannot clear (EISDIR, ELOOP, ENAMETOOLONG).
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
