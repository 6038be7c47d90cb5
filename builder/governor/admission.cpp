// Largest first, with a guarded backfill.
#include "builder/governor/admission.hpp"

#include <algorithm>
#include <cmath>

#include "builder/governor/limits.hpp"

namespace wheelyard::governor {

void Admission::Load::add(const Need& need) {
    typical += need.typical_bytes;
    variance += need.spread_bytes * need.spread_bytes;
    cpus += need.cpus;
    ++count;
}

void Admission::Load::take(const Need& need) {
    typical = std::max(0.0, typical - need.typical_bytes);
    variance = std::max(0.0, variance - need.spread_bytes * need.spread_bytes);
    cpus -= need.cpus;
    if (--count == 0) *this = Load{};  // sheds what rounding left behind
}

double Admission::Load::bytes() const { return typical + 2 * std::sqrt(variance); }

double Admission::reserved_bytes() const { return load_.bytes(); }

Admission::Rank Admission::rank_of(TryId id, const Need& need) {
    const double area = need.typical_bytes * std::max(need.seconds, 1e-3);
    // After every real area: those that run alone cost the machine's other cores, so all others go before them.
    return {need.alone ? 1.0 / (1.0 + area) : -area, id};
}

bool Admission::fits(const Load& load, const Need& need) const {
    if (load.count == 0) return true;
    if (need.alone || load.cpus + std::min(need.cpus, cores_) > cores_) return false;
    Load with = load;
    with.add(need);
    return with.bytes() <= limit_;
}

void Admission::enqueue(TryId id, const Need& need) {
    const std::uint64_t deadline = starts_ + waiting_.size() + std::uint64_t{overtaken_per_core} * cores_;
    const auto [found, inserted] = waiting_.try_emplace(id, Waiting{need, deadline});
    if (!inserted) return;
    order_.insert(rank_of(id, need));
    deadlines_.emplace(deadline, id);
    smallest_.insert(need.typical_bytes);
    waiting_seconds_ += need.seconds;
}

void Admission::forget_waiting(std::map<TryId, Waiting>::iterator found) {
    const auto& [id, waiting] = *found;
    order_.erase(rank_of(id, waiting.need));
    deadlines_.erase({waiting.deadline, id});
    smallest_.erase(smallest_.find(waiting.need.typical_bytes));
    waiting_seconds_ = std::max(0.0, waiting_seconds_ - waiting.need.seconds);
    waiting_.erase(found);
}

void Admission::revise(TryId id, const Need& need) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return;
    order_.erase(rank_of(id, found->second.need));
    smallest_.erase(smallest_.find(found->second.need.typical_bytes));
    waiting_seconds_ += need.seconds - found->second.need.seconds;
    found->second.need = need;
    order_.insert(rank_of(id, need));
    smallest_.insert(need.typical_bytes);
}

void Admission::remove(TryId id) {
    if (const auto found = waiting_.find(id); found != waiting_.end()) forget_waiting(found);
    if (const auto found = running_.find(id); found != running_.end()) {
        load_.take(found->second.need);
        running_.erase(found);
    }
}

void Admission::observe(TryId id, double bytes) {
    const auto found = running_.find(id);
    if (found == running_.end() || found->second.need.typical_bytes >= bytes) return;
    load_.take(found->second.need);
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
    if (deadlines_.begin()->first <= starts_) return deadlines_.begin()->second;
    return order_.begin()->second;
}

// When the blocked head can start by what is expected to end, and what will still be running then.
std::pair<double, Admission::Load> Admission::room_for_head(const Need& need, double now_s) const {
    std::vector<const Running*> by_end;
    by_end.reserve(running_.size());
    for (const auto& [id, running] : running_) by_end.push_back(&running);
    std::sort(by_end.begin(), by_end.end(),
              [](const Running* a, const Running* b) { return a->end_s < b->end_s; });
    Load left = load_;
    double when = now_s;
    for (const auto* running : by_end) {
        if (fits(left, need)) break;
        left.take(running->need);
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
        if (load_.cpus >= cores_ || load_.bytes() + *smallest_.begin() > limit_) return;
        const TryId id = at->second;
        ++at;  // begin() erases
        if (id == head_id) continue;
        const Need need = waiting_.at(id).need;
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
        const TryId id = head();
        const Need need = waiting_.at(id).need;
        if (fits(load_, need)) {
            begin(id, now_s, started);
            if (need.alone) break;
            continue;
        }
        backfill(id, now_s, started);
        break;
    }
    return started;
}

}  // namespace wheelyard::governor
