// Limits of registry/access/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::registry {

// Tokens.
inline constexpr std::size_t token_id_bytes = 6;  // public; unique among a few hundred tokens
inline constexpr std::size_t max_authorization_bytes = 4 * base::kib;
inline constexpr std::size_t max_token_name = 120;
// Tokens that are neither revoked nor expired, as created over HTTP: each request compares with all of them.
inline constexpr std::size_t max_active_tokens = 1'000;
inline constexpr std::size_t max_active_logins = 2'000;  // beside them
// A job's token lasts for an upload of many wheels; as long as one for changes that a person gets.
inline constexpr std::int64_t publisher_token_life_s = 15 * 60;
// Tokens of one publisher, with those that ended: they are kept so that no identity token, which lives for a
// day, is exchanged twice. Beside the others.
inline constexpr std::size_t max_publisher_tokens = 1'000;
inline constexpr std::int64_t ended_publisher_tokens_kept_days = 1;
// Of one agent, those included that it has replaced: some 60 renewals in 30 days, and the tokens of a day.
inline constexpr std::size_t max_rows_of_agent = 500;
// One person logs in on several machines; one more log-in ends the oldest.
inline constexpr std::size_t max_logins_of_person = 20;
// A browser's cookie for a private index: as long as a log-in to read lasts by default.
inline constexpr std::int64_t reading_cookie_life_s = 7 * 24 * 60 * 60;
// Of one answer: some 180 bytes each, and nginx takes 4 KiB of fields (proxy_buffer_size).
inline constexpr std::size_t max_reading_cookies = 16;
inline constexpr std::size_t max_scope_items = 1'000;  // indexes, projects or actions of one token

}  // namespace wheelyard::registry
