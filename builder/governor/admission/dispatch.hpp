// Prediction, admission and the rules of retrying in one: what the broker asks and the simulator asks alike.
// Pure: knows no process, socket or clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "builder/governor/admission/admission.hpp"
#include "builder/governor/admission/predict.hpp"
#include "builder/governor/memory/room.hpp"

namespace wheelyard::governor {

enum class Verdict {
    again,    // queued again; the build tool sees nothing
    give_up,  // fails
};

class Dispatch {
  public:
    Dispatch(unsigned cores, Predictor predictor) : admission_(cores), predictor_(std::move(predictor)) {}

    // The room now, and what it would be if nobody else used memory under the same limits.
    void set_limit(const Room& now, const Room& without_others);
    void set_limit(double bytes, double without_others) {
        set_limit(Room{bytes, bytes}, Room{without_others, without_others});
    }
    void set_limit(double bytes) { set_limit(bytes, bytes); }
    void set_cores(unsigned cores) { admission_.set_cores(cores); }
    void arrive(TryId id, const Facts& facts);
    [[nodiscard]] std::vector<TryId> start(double now_s);
    void observe(TryId id, double bytes) { admission_.observe(id, bytes); }
    // Ended by itself. `measured` is false for a compiler-cache hit or a failed compile: nothing is learnt.
    void ended(TryId id, double peak_bytes, double seconds, bool measured);
    // Killed at `bytes`, by us or by the kernel: with room for more it runs again, after that alone. Killed
    // although it ran alone, it cannot fit; unless it was far from the limit, so that a neighbour's memory
    // killed it.
    [[nodiscard]] Verdict killed_for_memory(TryId id, double bytes);
    // Died by signal 9 without a sign of memory pressure: once more, alone, then it fails.
    [[nodiscard]] Verdict died_unexplained(TryId id);
    void leave(TryId id);

    [[nodiscard]] const Admission& admission() const { return admission_; }
    [[nodiscard]] const Predictor& predictor() const { return predictor_; }
    [[nodiscard]] const Need& need(TryId id) const { return compiles_.at(id).need; }
    [[nodiscard]] unsigned tries(TryId id) const { return compiles_.at(id).tries; }

  private:
    struct Compile {
        Facts facts;
        Need need;
        bool known = false;
        bool must_be_alone = false;
        unsigned tries = 0, memory_kills = 0, unexplained = 0;
    };
    void predict(Compile& compile) const;
    void queue_again(TryId id, Compile& compile);
    [[nodiscard]] bool waits_for_neighbours(double now_s);
    void revise_waiting();

    Admission admission_;
    Predictor predictor_;
    Room room_, room_without_others_;
    std::optional<double> crowded_since_s_;  // nothing runs and nothing that waits would fit
    bool hold_ = false;  // after a kill nothing starts until something ends: those that run are still growing
    std::map<TryId, Compile> compiles_;  // waiting and running
    std::map<TryId, bool> unknown_waiting_;
    std::uint64_t learnt_ = 0, revised_at_ = 0;
};

}  // namespace wheelyard::governor
