// Limits of registry/identity/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::identity {

inline constexpr std::int64_t clock_skew_s = 60;
inline constexpr std::int64_t max_token_life_s = 24 * 3600;  // an ID token is exchanged within seconds
inline constexpr std::size_t max_subject_bytes = 255;        // OpenID Connect Core 1.0, section 2
inline constexpr std::size_t max_shown_name_bytes = 60;      // of the name that people are shown
inline constexpr std::size_t max_quoted_bytes = 100;         // of what a token says, in an error

// The size of each document of a provider. Keycloak's discovery document has 6.5 kB, its key set 3 kB.
inline constexpr std::size_t max_document_bytes = 64 * base::kib;
inline constexpr std::size_t max_keys = 32;
inline constexpr std::int64_t fetch_timeout_ms = 5'000;  // of one request, in all

// Log-ins that wait.
inline constexpr std::int64_t waiting_life_s = 600;     // to type a password and a second factor
inline constexpr std::size_t max_noted_logins = 1'000;  // of each kind of note; the oldest give way
// How often a provider is asked to begin a log-in by device code for one address: a course room behind one,
// and a flood is over after a minute.
inline constexpr std::size_t max_asked_for_client = 30;
inline constexpr std::int64_t asked_window_s = 60;
inline constexpr std::size_t max_code_bytes = 4 * base::kib;  // of a provider's `code` and `state`
inline constexpr std::int64_t max_poll_s = 60;

}  // namespace wheelyard::identity
