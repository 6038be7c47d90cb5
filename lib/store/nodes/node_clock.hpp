// The two clocks of a lease. CLOCK_BOOTTIME counts the time that a machine sleeps, too, and nobody sets it; a
// wall clock that jumps shows a machine that was frozen and resumed.
#pragma once

#include <cstdint>

namespace wheelyard::nodes {

class NodeClock {
  public:
    virtual ~NodeClock() = default;
    [[nodiscard]] virtual std::int64_t boot_us() const = 0;
    [[nodiscard]] virtual std::int64_t wall_us() const = 0;
};

class SystemNodeClock final : public NodeClock {
  public:
    [[nodiscard]] std::int64_t boot_us() const override;
    [[nodiscard]] std::int64_t wall_us() const override;
};

}  // namespace wheelyard::nodes
