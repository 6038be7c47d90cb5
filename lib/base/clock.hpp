// Time behind an interface: tests control the clock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::base {

// Microseconds since 1970-01-01T00:00:00Z.
using UnixMicros = std::int64_t;
inline constexpr UnixMicros second_us = 1'000'000, day_us = 86'400 * second_us;

class Clock {
  public:
    virtual ~Clock() = default;
    [[nodiscard]] virtual UnixMicros now() const = 0;
    virtual void sleep_ms(std::int64_t duration_ms) = 0;
};

class SystemClock final : public Clock {
  public:
    [[nodiscard]] UnixMicros now() const override;
    void sleep_ms(std::int64_t duration_ms) override;
};

// A clock for tests: it moves only by set() and sleep_ms().
class ManualClock final : public Clock {
  public:
    explicit ManualClock(UnixMicros start) : now_(start) {}
    [[nodiscard]] UnixMicros now() const override { return now_; }
    void sleep_ms(std::int64_t duration_ms) override { now_ += duration_ms * 1000; }
    void set(UnixMicros now) { now_ = now; }

  private:
    UnixMicros now_;
};

// "2026-11-20T07:47:35.000000Z": the form of PEP 700's upload-time; `parse` accepts 0 to 6 fraction digits.
[[nodiscard]] std::string render_rfc3339(UnixMicros time);
void append_rfc3339(std::string& out, UnixMicros time);  // appends
[[nodiscard]] Result<UnixMicros> parse_rfc3339(std::string_view text);
// "Fri, 20 Nov 2026 07:47:35 GMT" (RFC 9110 §5.6.7).
[[nodiscard]] std::string render_http_date(UnixMicros time);

}  // namespace wheelyard::base
