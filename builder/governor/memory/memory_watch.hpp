// How much memory there is now and what has become of it: the limit, read again and again; the kernel's
// kills; and whether memory was short a moment ago.
#pragma once

#include <cstdint>

#include "builder/governor/memory/memory_limit.hpp"
#include "builder/governor/memory/pressure.hpp"
#include "builder/governor/memory/room.hpp"

namespace wheelyard::governor {

class MemoryWatch {
  public:
    explicit MemoryWatch(LimitReader limits);

    // Every source again; `own_bytes` is what our compiles use.
    void read(double own_bytes, std::int64_t now_ms);
    [[nodiscard]] bool is_due(std::int64_t now_ms) const;
    // Notes what our compiles use now; reads again at once when they near the limit, since what others use
    // may just have changed. True when they do.
    bool note_use(double own_bytes, std::int64_t now_ms);
    // The kernel reports pressure where our limit is: in our own group (version 2), or on the whole machine
    // when its free memory is the limit. Elsewhere, others' pressure says nothing of us.
    [[nodiscard]] bool is_stalled(std::int64_t now_ms);
    // A high reading in the last seconds: what died now may have died of memory.
    [[nodiscard]] bool was_short(std::int64_t now_ms) const;
    // The kernel's kills up to now, in our groups and on the machine.
    [[nodiscard]] std::uint64_t count_kernel_kills();
    [[nodiscard]] std::uint64_t kernel_kills() const { return kernel_kills_; }

    [[nodiscard]] Room room() const { return {limit_.tightest.room(), limit_.tightest_killing.room()}; }
    // The widest that was seen under the present limits: what the others may leave us again.
    [[nodiscard]] Room widest_room() const { return {widest_.bytes, widest_alone_.bytes}; }
    [[nodiscard]] double own_bytes() const { return own_bytes_; }
    [[nodiscard]] const MemoryLimit& limit() const { return limit_; }
    [[nodiscard]] const LimitReader& limits() const { return limits_; }

  private:
    struct Widest {
        double bytes = 0, cap = 0;
        void see(const LimitSource& source);
    };

    LimitReader limits_;
    StallMeter group_stall_, machine_stall_;
    MemoryLimit limit_;
    Widest widest_, widest_alone_;
    double own_bytes_ = 0;
    std::int64_t read_ms_ = 0, short_ms_ = 0;
    bool was_ever_short_ = false;
    std::uint64_t kernel_kills_ = 0;
};

}  // namespace wheelyard::governor
