// The states of a compile: waiting, running, then ended, queued again or failed.
#include "builder/governor/admission/dispatch.hpp"

#include <algorithm>

#include "builder/governor/admission/predict.hpp"

namespace wheelyard::governor {
namespace {

constexpr unsigned max_memory_kills_shared = 2;  // after these it runs alone
constexpr unsigned max_unexplained_retries = 1;  // SIGKILL without a sign of memory pressure

// A compile killed while alone, below this part of the room without other processes, may still fit later.
constexpr double conclusive_kill_fraction = 0.7;

// Waiting compiles get new predictions each time the number of measured runs has grown by 1/8.
constexpr std::uint64_t revise_after_divisor = 8;

}  // namespace

void Dispatch::set_limit(const Room& now, const Room& without_others) {
    room_ = now;
    room_without_others_ = without_others;
    admission_.set_limit(now.shared);
}

void Dispatch::predict(Compile& compile) const {
    compile.need = predictor_.predict(compile.facts);
    compile.known = predictor_.knows(compile.facts);
    compile.need.alone = compile.must_be_alone;
}

void Dispatch::arrive(TryId id, const CompileFacts& facts) {
    auto& compile = compiles_[id];
    compile.facts = facts;
    predict(compile);
    admission_.enqueue(id, compile.need);
    if (!compile.known) unknown_waiting_.emplace(id, true);
}

// True while nothing runs and the smallest waiting compile would fit only without the memory of other
// processes. Ends after max_wait_for_others_s.
bool Dispatch::waits_for_others(double now_s) {
    const double smallest = admission_.min_waiting_bytes();
    const auto fits_without_others = [&](double now, double without_others) {
        return smallest > now && smallest <= without_others;
    };
    if (admission_.running() > 0 || !(fits_without_others(room_.shared, room_without_others_.shared) ||
                                      fits_without_others(room_.alone, room_without_others_.alone))) {
        crowded_since_s_.reset();
        return false;
    }
    if (!crowded_since_s_) crowded_since_s_ = now_s;
    return now_s - *crowded_since_s_ < max_wait_for_others_s;
}

std::vector<TryId> Dispatch::start(double now_s) {
    if (hold_ && admission_.running() > 0) return {};
    if (waits_for_others(now_s)) return {};
    auto started = admission_.start(now_s);
    for (const auto id : started) {
        ++compiles_.at(id).tries;
        unknown_waiting_.erase(id);
    }
    return started;
}

void Dispatch::ended(TryId id, double peak_bytes, double seconds, bool measured) {
    const auto found = compiles_.find(id);
    if (found == compiles_.end()) return;
    if (measured) {
        predictor_.learn(found->second.facts, peak_bytes, seconds);
        ++learnt_;
    }
    leave(id);
    if (learnt_ > revised_at_ + revised_at_ / revise_after_divisor) revise_waiting();
}

void Dispatch::revise_waiting() {
    revised_at_ = learnt_;
    for (const auto& [id, unused] : unknown_waiting_) {
        auto& compile = compiles_.at(id);
        predict(compile);
        admission_.revise(id, compile.need);
    }
}

void Dispatch::leave(TryId id) {
    if (admission_.is_running(id)) hold_ = false;  // its memory is free now
    admission_.remove(id);
    unknown_waiting_.erase(id);
    compiles_.erase(id);
}

void Dispatch::queue_again(TryId id, Compile& compile) {
    admission_.remove(id);
    predict(compile);
    admission_.enqueue(id, compile.need);
}

Retry Dispatch::killed_for_memory(TryId id, double bytes) {
    auto& compile = compiles_.at(id);
    const bool was_alone = admission_.running() == 1;
    predictor_.learn_at_least(compile.facts, bytes);
    const bool others_caused_it =
        bytes < room_without_others_.alone * conclusive_kill_fraction && compile.tries < max_tries;
    if (was_alone && compile.must_be_alone && !others_caused_it) return Retry::give_up;
    // A compile killed within its prediction did not cause the shortage and needs no more room than before.
    if (bytes > compile.need.high_bytes()) ++compile.memory_kills;
    const bool too_large = bytes * min_retry_growth > room_.shared;
    if (was_alone || too_large || compile.memory_kills >= max_memory_kills_shared ||
        compile.tries >= max_tries) {
        compile.must_be_alone = true;
    }
    queue_again(id, compile);
    hold_ = true;
    return Retry::again;
}

Retry Dispatch::died_unexplained(TryId id) {
    auto& compile = compiles_.at(id);
    if (++compile.unexplained > max_unexplained_retries || compile.tries >= max_tries) return Retry::give_up;
    compile.must_be_alone = true;
    queue_again(id, compile);
    return Retry::again;
}

}  // namespace wheelyard::governor
