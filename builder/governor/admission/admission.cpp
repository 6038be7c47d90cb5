// Largest first, with reservations and backfill.
#include "builder/governor/admission/admission.hpp"

#include <algorithm>
#include <cmath>

namespace wheelyard::governor {

namespace {

// Standard deviations kept free for the summed prediction error of all running compiles. More leaves memory
// unused; less causes more stops and kills.
constexpr double margin_deviations = 1.5;

// Room is reserved for a head whose time is more than 1/2 of the time left for the whole machine.
constexpr double reserve_time_divisor = 2;
// While the longest compile takes more than 1/5 of it, longest first matters more than the mix.
constexpr double tail_divisor = 5;
// The running compiles count as smaller when their mean size is below this part of the waiting ones'.
constexpr double size_fraction = 0.9;
// A prediction is precise enough to fill a gap if its spread is at most this part of it.
constexpr double sure_fraction = 0.1;

}  // namespace

void Admission::Load::add(const Need& need) {
    typical += need.typical_bytes;
    squares += need.typical_bytes * need.typical_bytes;
    variance += need.spread_bytes * need.spread_bytes;
    cpus += need.cpus;
    ++count;
}

void Admission::Load::remove(const Need& need) {
    typical = std::max(0.0, typical - need.typical_bytes);
    squares = std::max(0.0, squares - need.typical_bytes * need.typical_bytes);
    variance = std::max(0.0, variance - need.spread_bytes * need.spread_bytes);
    cpus -= need.cpus;
    if (--count == 0) *this = Load{};  // discards rounding errors
}

void Admission::Sizes::add(const Need& need) {
    area += need.seconds * need.typical_bytes;
    squares += need.seconds * need.typical_bytes * need.typical_bytes;
}

void Admission::Sizes::remove(const Need& need) {
    area -= need.seconds * need.typical_bytes;
    squares -= need.seconds * need.typical_bytes * need.typical_bytes;
}

double Admission::Load::bytes() const {
    return typical + margin_deviations * std::sqrt(variance);
}

double Admission::min_waiting_bytes() const {
    return smallest_.empty() ? 0 : smallest_.begin()->first;
}

double Admission::reserved_bytes() const {
    return load_.bytes();
}

Admission::Rank Admission::rank_of(TryId id, const Need& need) {
    const double area = need.typical_bytes * std::max(need.seconds, 1e-3);
    // Positive, so after all others: a compile that runs alone idles the other cores.
    return {need.alone ? 1.0 / (1.0 + area) : -area, id, &need};
}

void Admission::index_waiting(TryId id, const Need& need) {
    order_.insert(rank_of(id, need));
    smallest_.emplace(need.typical_bytes, id);
    if (!need.alone) by_time_.emplace(-need.seconds, id);
    waiting_seconds_ += need.seconds * need.cpus;
    waiting_area_ += need.seconds * need.typical_bytes;
    if (!need.alone) waiting_sizes_.add(need);
}

void Admission::unindex_waiting(TryId id, const Need& need) {
    order_.erase(rank_of(id, need));
    smallest_.erase({need.typical_bytes, id});
    by_time_.erase({-need.seconds, id});
    waiting_seconds_ = order_.empty() ? 0 : waiting_seconds_ - need.seconds * need.cpus;
    waiting_area_ = order_.empty() ? 0 : waiting_area_ - need.seconds * need.typical_bytes;
    if (!need.alone) waiting_sizes_.remove(need);
    if (by_time_.empty()) waiting_sizes_ = {};
}

bool Admission::fits(const Load& load, const Need& need) const {
    if (load.count == 0) return true;
    if (need.alone || load.cpus + std::min(need.cpus, cores_) > cores_) return false;
    Load with = load;
    with.add(need);
    return with.bytes() <= limit_;
}

void Admission::enqueue(TryId id, const Need& need) {
    const std::uint64_t deadline = starts_ + max_overtaken;
    const auto [found, inserted] = waiting_.try_emplace(id, Waiting{need, deadline});
    if (!inserted) return;
    index_waiting(id, found->second.need);
    deadlines_.emplace(deadline, id);
}

void Admission::forget_waiting(std::map<TryId, Waiting>::iterator found) {
    const auto& [id, waiting] = *found;
    unindex_waiting(id, waiting.need);
    deadlines_.erase({waiting.deadline, id});
    waiting_.erase(found);
}

void Admission::revise(TryId id, const Need& need) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return;
    unindex_waiting(id, found->second.need);
    found->second.need = need;
    index_waiting(id, found->second.need);
}

void Admission::remove(TryId id) {
    if (const auto found = waiting_.find(id); found != waiting_.end()) forget_waiting(found);
    if (const auto found = running_.find(id); found != running_.end()) {
        load_.remove(found->second.need);
        running_.erase(found);
    }
}

void Admission::observe(TryId id, double bytes) {
    const auto found = running_.find(id);
    if (found == running_.end() || found->second.need.typical_bytes >= bytes) return;
    load_.remove(found->second.need);
    found->second.need.typical_bytes = bytes;
    load_.add(found->second.need);
}

void Admission::begin(TryId id, double now_s, std::vector<TryId>& started) {
    const auto found = waiting_.find(id);
    Need need = found->second.need;
    need.cpus = std::min(need.cpus, cores_);
    forget_waiting(found);
    running_.emplace(id, Running{need, now_s + need.seconds});
    load_.add(need);
    ++starts_;
    started.push_back(id);
}

TryId Admission::head() const {
    if (overdue()) return deadlines_.begin()->second;
    return is_near_end() ? by_time_.begin()->second : order_.begin()->id;
}

// Room is reserved for a head that cannot start if it is overdue, if its own time is a large part of the time
// left, or if the running compiles are smaller than the waiting ones. The last reason applies only if the
// room is expected to become free later than now: if running compiles exceed their predicted time, nobody
// knows when it does, and the machine would idle until then.
bool Admission::must_reserve(const Need& head, double now_s) const {
    return overdue() || head.seconds * reserve_time_divisor > left_s() ||
           (are_running_smaller(head) && room_for_head(head, now_s).first > now_s);
}

// Compares mean sizes, weighted by size: Σ bytes² / Σ bytes; for waiting compiles also by time. Leaves out
// what is larger than the limit, which comes last anyway.
bool Admission::are_running_smaller(const Need& head) const {
    Load one;
    one.add(head);
    if (load_.typical <= 0 || one.bytes() > limit_) return false;
    Sizes rest = waiting_sizes_;
    for (auto at = smallest_.rbegin(); at != smallest_.rend() && at->first > limit_; ++at) {
        if (const Need& need = waiting_.at(at->second).need; !need.alone) rest.remove(need);
    }
    return rest.area > 0 && load_.squares / load_.typical < size_fraction * rest.squares / rest.area;
}

double Admission::left_s() const {
    return std::max(waiting_seconds_ / cores_, waiting_area_ / std::max(limit_, 1.0));
}

// Says whether so little is left that the longest compile may decide the end of the build.
bool Admission::is_near_end() const {
    return !by_time_.empty() && -by_time_.begin()->first * tail_divisor > left_s();
}

// If nothing more fits after `chosen`, returns the largest that fits instead: the room left over stays unused
// until something ends.
const Admission::Rank* Admission::best_filling(const Rank* chosen) const {
    if (chosen == nullptr || chosen->need->spread_bytes > sure_fraction * chosen->need->typical_bytes)
        return chosen;
    Load with = load_;
    with.add(*chosen->need);
    if (with.bytes() + smallest_.begin()->first <= limit_) return chosen;
    for (auto at = smallest_.lower_bound({limit_ - load_.bytes(), 0}); at != smallest_.begin();) {
        --at;
        const Need& need = waiting_.at(at->second).need;
        if (need.typical_bytes <= chosen->need->typical_bytes) break;
        if (fits(load_, need)) return &*order_.find(rank_of(at->second, need));
    }
    return chosen;
}

const Admission::Rank* Admission::slowest_that_fits() const {
    for (const auto& [time, id] : by_time_) {
        const Need& need = waiting_.at(id).need;
        if (fits(load_, need)) return &*order_.find(rank_of(id, need));
    }
    return nullptr;
}

// The first in order that fits and is heavier or not heavier than the mean memory per core, as `heavier`
// says; if there is none, the first that fits. One pass: if all are alike, one side is empty.
const Admission::Rank* Admission::first_that_fits(std::optional<bool> heavier) const {
    const double mix = waiting_seconds_ > 0 ? waiting_area_ / waiting_seconds_ : 0;
    const double room = limit_ - load_.bytes();
    const Rank* of_other_side = nullptr;
    for (const auto& rank : order_) {
        const Need& need = *rank.need;
        if (need.typical_bytes > room || need.alone) continue;
        const bool is_other = heavier && (need.typical_bytes > mix * need.cpus) != *heavier;
        if ((is_other && of_other_side != nullptr) || !fits(load_, need)) continue;
        if (!is_other) return &rank;
        of_other_side = &rank;
    }
    return of_other_side;
}

const Admission::Rank* Admission::choose(TryId head_id, const Need& head) const {
    if (load_.count == 0 || overdue()) {
        // A head that is larger than the limit comes after those that fit.
        if (head.typical_bytes > limit_ && !overdue()) {
            if (const auto* found = first_that_fits(std::nullopt)) return found;
        }
        return fits(load_, head) ? &*order_.find(rank_of(head_id, head)) : nullptr;
    }
    if (load_.bytes() + smallest_.begin()->first > limit_) return nullptr;
    if (is_near_end()) return slowest_that_fits();
    const bool heavier = load_.typical <= waiting_area_ / waiting_seconds_ * load_.cpus;
    return best_filling(first_that_fits(heavier));
}

// When the blocked head is expected to be able to start, and what will still be running then.
std::pair<double, Admission::Load> Admission::room_for_head(const Need& need, double now_s) const {
    std::vector<const Running*> by_end;
    by_end.reserve(running_.size());
    for (const auto& [id, running] : running_)
        by_end.push_back(&running);
    std::sort(by_end.begin(), by_end.end(),
              [](const Running* a, const Running* b) { return a->end_s < b->end_s; });
    Load left = load_;
    double when = now_s;
    for (const auto* running : by_end) {
        if (fits(left, need)) break;
        left.remove(running->need);
        when = std::max(when, running->end_s);
    }
    return {when, left};
}

void Admission::backfill(TryId head_id, double now_s, std::vector<TryId>& started) {
    const Need head_need = waiting_.at(head_id).need;
    auto [head_start_s, then] = room_for_head(head_need, now_s);
    Load then_with_head = then;
    then_with_head.add(head_need);
    for (auto at = order_.begin(); at != order_.end();) {
        if (load_.cpus >= cores_ || load_.bytes() + smallest_.begin()->first > limit_) return;
        const TryId id = at->id;
        const Need need = *at->need;
        ++at;  // begin() erases
        if (id == head_id) continue;
        if (!fits(load_, need)) continue;
        const bool ends_before = now_s + need.seconds <= head_start_s;
        if (!ends_before && (head_need.alone || !fits(then_with_head, need))) continue;
        begin(id, now_s, started);
        if (!ends_before) then_with_head.add(need);
        if (waiting_.size() == 1) return;
    }
}

std::vector<TryId> Admission::start(double now_s) {
    std::vector<TryId> started;
    for (const auto& [id, running] : running_) {
        if (running.need.alone) return started;
    }
    while (!waiting_.empty() && load_.cpus < cores_) {
        const TryId head_id = head();
        const Need first = waiting_.at(head_id).need;
        if (!fits(load_, first) && must_reserve(first, now_s)) {
            backfill(head_id, now_s, started);
            break;
        }
        const auto* chosen = choose(head_id, first);
        if (chosen == nullptr) break;
        const bool alone = chosen->need->alone;
        begin(chosen->id, now_s, started);
        if (alone) break;
    }
    return started;
}

namespace {

constexpr std::uint64_t other_files = 64;      // of the broker: samples, history
constexpr std::uint64_t other_processes = 64;  // of the user: shells, build tool, editor

}  // namespace

unsigned choose_window(const WindowFacts& facts) {
    const bool is_roomy = facts.limit_bytes >= facts.cores * roomy_bytes_per_core;
    std::uint64_t window = std::clamp<std::uint64_t>(std::uint64_t{facts.cores} * window_per_core,
                                                     is_roomy ? roomy_window : tight_window, max_window);
    const auto at_most = [&](std::uint64_t number) { window = std::min(window, number); };
    at_most(static_cast<std::uint64_t>(std::max(0.0, facts.limit_bytes)) / waiting_divisor /
            waiting_launcher_bytes);
    at_most(facts.open_files > other_files ? facts.open_files - other_files : 0);
    for (const auto& limit : {facts.user_processes, facts.free_pids}) {
        if (!limit) continue;
        const std::uint64_t taken = other_processes + processes_per_running * facts.cores;
        at_most(*limit > taken ? (*limit - taken) / processes_per_waiting : 0);
    }
    // Never below the number of cores: some would idle. A machine without room for even that many launchers
    // fails either way.
    return static_cast<unsigned>(
        std::max<std::uint64_t>({window, std::uint64_t{facts.cores}, std::uint64_t{min_window}}));
}

}  // namespace wheelyard::governor
