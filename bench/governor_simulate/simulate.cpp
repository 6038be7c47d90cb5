// A discrete-event simulation. Between two events each compile's memory is linear in time, so the total is
// too.
#include "bench/governor_simulate/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "builder/governor/admission/dispatch.hpp"
#include "builder/governor/admission/surprise.hpp"
#include "builder/governor/memory/memory_limit.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

constexpr double growth_fraction = 0.5;  // of a compile's time, in which its memory grows

// SplitMix64 (public domain, Vigna). Its numbers are the same on every platform, unlike those of <random>'s
// distributions.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15u);
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
        return mixed ^ (mixed >> 31);
    }
    double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
    double around_one(double part) { return 1 + part * (2 * unit() - 1); }

  private:
    std::uint64_t state_;
};

constexpr double never = std::numeric_limits<double>::infinity();

struct Running {
    double start_s;  // moved forward by the time it was stopped
    const ProfileRow* row;
    std::uint64_t age;  // order of starting
    double stopped_s = never;

    [[nodiscard]] bool is_stopped() const { return stopped_s != never; }
    [[nodiscard]] double end_s() const { return is_stopped() ? never : start_s + row->seconds; }
    [[nodiscard]] double grown_s() const { return start_s + growth_fraction * row->seconds; }
    [[nodiscard]] double next_event_s(double now_s) const {
        return !is_stopped() && grown_s() > now_s ? grown_s() : end_s();
    }
    [[nodiscard]] double bytes_at(double when_s) const {
        const double grown = growth_fraction * row->seconds;
        return grown <= 0
                   ? row->peak_bytes
                   : row->peak_bytes * std::clamp((std::min(when_s, stopped_s) - start_s) / grown, 0.0, 1.0);
    }
    void resume(double when_s) { start_s += when_s - std::exchange(stopped_s, never); }
};

class Machine {
  public:
    void start(TryId id, const ProfileRow& row) { running_.emplace(id, Running{now_s, &row, ++age_}); }
    [[nodiscard]] std::size_t count() const { return running_.size(); }
    [[nodiscard]] const Running& at(TryId id) const { return running_.at(id); }
    void stop(TryId id) { running_.at(id).stopped_s = now_s; }
    void resume(TryId id) { running_.at(id).resume(now_s); }
    void remove(TryId id) { running_.erase(id); }
    [[nodiscard]] bool has_stopped() const {
        return std::any_of(running_.begin(), running_.end(),
                           [](const auto& one) { return one.second.is_stopped(); });
    }
    [[nodiscard]] double bytes_at(double when_s) const {
        double total = 0;
        for (const auto& [id, one] : running_)
            total += one.bytes_at(when_s);
        return total;
    }
    [[nodiscard]] double next_event_s() const {
        double next_s = never;
        for (const auto& [id, one] : running_)
            next_s = std::min(next_s, one.next_event_s(now_s));
        return next_s;
    }
    // Advances to the next event or to `until_s`, whichever is first. If the total crosses `limit` before
    // that, advances to that moment and returns true.
    bool advance(double limit, double until_s = never) {
        const double next_s = std::min(next_event_s(), until_s);
        const double before = bytes_at(now_s), after = bytes_at(next_s);
        if (after > limit && after > before) {
            now_s += std::max(0.0, (limit - before) / (after - before)) * (next_s - now_s);
            high_water = std::max(high_water, limit);
            return true;
        }
        now_s = next_s;
        high_water = std::max(high_water, after);
        return false;
    }
    [[nodiscard]] std::vector<TryId> take_ended() {
        std::vector<TryId> ended;
        for (const auto& [id, one] : running_) {
            if (one.end_s() <= now_s) ended.push_back(id);
        }
        return ended;
    }
    // The compile that the kernel kills when memory is exhausted.
    [[nodiscard]] TryId largest() const {
        return std::max_element(running_.begin(), running_.end(),
                                [&](const auto& a, const auto& b) {
                                    return a.second.bytes_at(now_s) < b.second.bytes_at(now_s);
                                })
            ->first;
    }
    [[nodiscard]] std::vector<TryId> all() const {
        std::vector<TryId> ids;
        for (const auto& [id, one] : running_)
            ids.push_back(id);
        return ids;
    }

    double now_s = 0;
    double high_water = 0;

  private:
    std::map<TryId, Running> running_;
    std::uint64_t age_ = 0;
};

CompileFacts facts_of(const ProfileRow& row) {
    CompileFacts facts;
    facts.source = row.source;
    facts.language = "c++";
    facts.compiler = "simulated";
    return facts;
}

Predictor recalled(const std::vector<ProfileRow>& rows, const SimulationPlan& plan) {
    Predictor predictor;
    if (plan.policy == Policy::governed && !plan.history) return predictor;
    Random random(plan.seed + 77);
    for (const auto& row : rows) {
        if (random.unit() >= plan.history_fraction) continue;
        const CompileFacts facts = facts_of(row);
        Record record;
        record.source = facts.source;
        record.language = facts.language;
        record.compiler = facts.compiler;
        record.runs = 1;
        const bool exact = plan.policy == Policy::oracle;
        record.peak_bytes = row.peak_bytes * (exact ? 1 : random.around_one(0.02));
        record.seconds = row.seconds * (exact ? 1 : random.around_one(0.10));
        predictor.recall(key_of(facts), record);
    }
    return predictor;
}

class GovernedSimulation {
  public:
    GovernedSimulation(const std::vector<ProfileRow>& rows, const SimulationPlan& plan,
                       SimulationResult& result)
        : rows_(rows),
          plan_(plan),
          result_(result),
          room_(plan.limit_bytes - reserve_of(plan.limit_bytes)),
          thresholds_(thresholds_of({room_, room_}, plan.limit_bytes, plan.limit_bytes)),
          dispatch_(plan.cores, recalled(rows, plan)) {
        dispatch_.set_limit(room_);
    }

    void run() {
        while (done_ < rows_.size()) {
            arrive();
            observe();
            for (const auto id : dispatch_.start(machine_.now_s))
                machine_.start(id, rows_[id]);
            const double sample_s = next_sample_s();
            if (machine_.advance(plan_.limit_bytes, sample_s)) {
                ++result_.kernel_kills;
                kill(machine_.largest());
                continue;
            }
            for (const auto id : machine_.take_ended()) {
                dispatch_.ended(id, rows_[id].peak_bytes, rows_[id].seconds, true);
                machine_.remove(id);
                ++done_;
            }
            if (machine_.now_s >= sample_s) sample_memory();
        }
        result_.makespan_s = machine_.now_s;
        result_.high_water_bytes = machine_.high_water;
    }

  private:
    void arrive() {
        while (asked_ < rows_.size() && (plan_.window == 0 || asked_ - done_ < plan_.window)) {
            dispatch_.arrive(asked_, facts_of(rows_[asked_]));
            ++asked_;
        }
    }

    void observe() {
        for (const auto id : machine_.all())
            dispatch_.observe(id, machine_.at(id).bytes_at(machine_.now_s));
    }

    // Skips samples that would change nothing.
    [[nodiscard]] double next_sample_s() const {
        const double next_s = machine_.next_event_s();
        const double used = machine_.bytes_at(machine_.now_s);
        const double most = std::max(used, machine_.bytes_at(next_s));
        if (most <= room_ * stop_above && !machine_.has_stopped()) return never;
        const auto interval_ms = next_sample_ms(used, room_, machine_.count());
        return std::max(machine_.now_s, sampled_s_ + static_cast<double>(interval_ms) / 1000);
    }

    void sample_memory() {
        sampled_s_ = machine_.now_s;
        std::vector<RunningView> views;
        for (const auto id : machine_.all()) {
            const auto& one = machine_.at(id);
            views.push_back({id, one.age, one.bytes_at(machine_.now_s), dispatch_.need(id).typical_bytes,
                             one.is_stopped()});
        }
        const Remedy remedy = find_remedy(views, thresholds_);
        if (remedy.stop) {
            machine_.stop(*remedy.stop);
            ++result_.stops;
        }
        if (remedy.resume) machine_.resume(*remedy.resume);
        if (remedy.kill) kill(*remedy.kill);
    }

    void kill(TryId victim) {
        const double bytes = machine_.at(victim).bytes_at(machine_.now_s);
        ++result_.kills;
        machine_.remove(victim);
        if (dispatch_.killed_for_memory(victim, bytes) == Retry::again) return;
        dispatch_.leave(victim);
        ++result_.failed;
        ++done_;
    }

    const std::vector<ProfileRow>& rows_;
    const SimulationPlan& plan_;
    SimulationResult& result_;
    double room_;
    Thresholds thresholds_;
    Dispatch dispatch_;
    Machine machine_;
    std::size_t asked_ = 0, done_ = 0;
    double sampled_s_ = 0;
};

void simulate_fixed(const std::vector<ProfileRow>& rows, const SimulationPlan& plan,
                    SimulationResult& result) {
    Machine machine;
    std::vector<TryId> todo(rows.size());
    for (std::size_t i = 0; i < todo.size(); ++i)
        todo[i] = rows.size() - 1 - i;  // back() is the next
    std::size_t jobs = std::max(1u, plan.jobs);
    while (!todo.empty() || machine.count() > 0) {
        while (!todo.empty() && machine.count() < std::min<std::size_t>(jobs, plan.cores)) {
            machine.start(todo.back(), rows[todo.back()]);
            todo.pop_back();
        }
        if (!machine.advance(plan.limit_bytes)) {
            for (const auto id : machine.take_ended())
                machine.remove(id);
            continue;
        }
        // The build died and what ran is lost. With fixed_then_j1, the user restarts it with -j1.
        ++result.kills;
        if (plan.policy == Policy::fixed_j || machine.count() == 1) {
            result.failed = todo.size() + machine.count();
            break;
        }
        auto lost = machine.all();
        std::reverse(lost.begin(), lost.end());
        for (const auto id : lost) {
            machine.remove(id);
            todo.push_back(id);
        }
        jobs = 1;
    }
    result.makespan_s = machine.now_s;
    result.high_water_bytes = machine.high_water;
}

}  // namespace

base::Result<std::vector<ProfileRow>> parse_profile(std::string_view text) {
    const auto lines = base::split_lines(text);
    if (lines.empty()) {
        return base::fail("governor.profile_empty", "The profile is empty", "",
                          "give a CSV file with the columns source, cpu_s, max_rss_kib");
    }
    std::map<std::string, std::size_t, std::less<>> column;
    const auto names = base::split(lines[0], ',');
    for (std::size_t i = 0; i < names.size(); ++i)
        column.emplace(std::string(base::trim(names[i])), i);
    for (const char* name : {"source", "cpu_s", "max_rss_kib"}) {
        if (!column.contains(name)) {
            return base::fail("governor.profile_columns", "The profile's first line has no such column", name,
                              "the columns are source, cpu_s, max_rss_kib");
        }
    }
    std::vector<ProfileRow> rows;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        if (base::trim(lines[i]).empty()) continue;
        const auto fields = base::split(lines[i], ',');
        ProfileRow row;
        bool good = fields.size() == names.size();
        if (good) {
            row.source = std::string(fields[column.find("source")->second]);
            const auto number = [&](const char* name, double& into) {
                const std::string field(base::trim(fields[column.find(name)->second]));
                char* end = nullptr;
                into = std::strtod(field.c_str(), &end);
                return !field.empty() && *end == '\0' && std::isfinite(into) && into >= 0 && into < 1e15;
            };
            good = number("cpu_s", row.seconds) && number("max_rss_kib", row.peak_bytes);
            row.peak_bytes *= 1024;
        }
        if (!good) {
            return base::fail(
                "governor.profile_row", "Line " + std::to_string(i + 1) + " of the profile is malformed",
                std::string(lines[i].substr(0, 200)), "source,cpu_s,max_rss_kib with plain numbers");
        }
        rows.push_back(std::move(row));
    }
    if (rows.empty()) return base::fail("governor.profile_empty", "The profile has no rows", "", "");
    return rows;
}

std::vector<ProfileRow> scale_profile(const std::vector<ProfileRow>& rows, std::size_t count,
                                      std::uint64_t seed) {
    Random random(seed);
    std::vector<ProfileRow> scaled;
    scaled.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        ProfileRow row = rows[static_cast<std::size_t>(random.next() % rows.size())];
        row.source = row.source + "." + std::to_string(i);
        row.seconds *= random.around_one(0.15);
        row.peak_bytes *= random.around_one(0.15);
        scaled.push_back(std::move(row));
    }
    // Moves the largest 3 % by area into the last tenth, as in PyTorch, where they wait for generated
    // sources.
    std::vector<std::size_t> by_area(count);
    for (std::size_t i = 0; i < count; ++i)
        by_area[i] = i;
    std::sort(by_area.begin(), by_area.end(), [&](std::size_t a, std::size_t b) {
        return scaled[a].seconds * scaled[a].peak_bytes > scaled[b].seconds * scaled[b].peak_bytes;
    });
    for (std::size_t i = 0; i < count * 3 / 100; ++i) {
        const std::size_t late = count - 1 - static_cast<std::size_t>(random.next() % (count / 10 + 1));
        std::swap(scaled[by_area[i]], scaled[late]);
    }
    return scaled;
}

SimulationResult simulate(const std::vector<ProfileRow>& rows, const SimulationPlan& plan) {
    SimulationResult result;
    double work = 0, area = 0, longest = 0;
    for (const auto& row : rows) {
        work += row.seconds;
        area += row.seconds * row.peak_bytes;
        longest = std::max(longest, row.seconds);
    }
    result.bound_s = std::max({work / plan.cores, area / plan.limit_bytes, longest});
    if (plan.policy == Policy::governed || plan.policy == Policy::oracle) {
        GovernedSimulation(rows, plan, result).run();
    } else {
        simulate_fixed(rows, plan, result);
    }
    return result;
}

}  // namespace wheelyard::governor
