// Combines prediction, admission and the retry rules; used by the broker and by the simulator alike. Pure:
// uses no process, socket or clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "builder/governor/admission/admission.hpp"
#include "builder/governor/admission/predict.hpp"
#include "builder/governor/memory/memory_limit.hpp"

namespace wheelyard::governor {

inline constexpr unsigned max_tries = 6;  // for any reason

// How long to wait for other processes to free memory when nothing waiting would fit otherwise.
inline constexpr double max_wait_for_others_s = 120;

enum class Retry {
    again,    // queued again; the build tool does not notice
    give_up,  // the compile fails
};

class Dispatch {
  public:
    Dispatch(unsigned cores, Predictor predictor) : admission_(cores), predictor_(std::move(predictor)) {}

    // The room now, and the room if no other process used memory under the same limits.
    void set_limit(const Room& now, const Room& without_others);
    void set_limit(double bytes, double without_others) {
        set_limit(Room{bytes, bytes}, Room{without_others, without_others});
    }
    void set_limit(double bytes) { set_limit(bytes, bytes); }
    void set_cores(unsigned cores) { admission_.set_cores(cores); }
    // Adds a compile to those that wait.
    void arrive(TryId id, const CompileFacts& facts);
    // The compiles that start now, in order.
    [[nodiscard]] std::vector<TryId> start(double now_s);
    void observe(TryId id, double bytes) { admission_.observe(id, bytes); }
    // The compile ended by itself. `measured` is false after a compiler-cache hit or a failure: then the
    // prediction learns nothing.
    void ended(TryId id, double peak_bytes, double seconds, bool measured);
    // The compile was killed at `bytes`, by us or by the kernel. It is retried with more room, and later
    // alone. If it was killed while alone it cannot fit and fails, unless it was so far from the limit that
    // other processes' memory caused the kill.
    [[nodiscard]] Retry killed_for_memory(TryId id, double bytes);
    // The compile died of SIGKILL without a sign of memory pressure: it is retried once, alone, then fails.
    [[nodiscard]] Retry died_unexplained(TryId id);
    // The compile is gone: its launcher died or it failed for good.
    void leave(TryId id);

    [[nodiscard]] const Admission& admission() const { return admission_; }
    [[nodiscard]] const Predictor& predictor() const { return predictor_; }
    [[nodiscard]] const Need& need(TryId id) const { return compiles_.at(id).need; }
    [[nodiscard]] unsigned tries(TryId id) const { return compiles_.at(id).tries; }

  private:
    struct Compile {
        CompileFacts facts;
        Need need;
        bool known = false;
        bool must_be_alone = false;
        unsigned tries = 0, memory_kills = 0, unexplained = 0;
    };
    void predict(Compile& compile) const;
    void queue_again(TryId id, Compile& compile);
    [[nodiscard]] bool waits_for_others(double now_s);
    void revise_waiting();

    Admission admission_;
    Predictor predictor_;
    Room room_, room_without_others_;
    std::optional<double> crowded_since_s_;  // since when nothing runs and nothing waiting would fit
    bool hold_ = false;  // after a kill nothing starts until something ends: the others are still growing
    std::map<TryId, Compile> compiles_;  // waiting and running
    std::map<TryId, bool> unknown_waiting_;
    std::uint64_t learnt_ = 0, revised_at_ = 0;
};

}  // namespace wheelyard::governor
