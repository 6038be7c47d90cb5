// Which waiting compile starts now. Pure and without a clock: time comes in as a number, so the simulator
// runs the very code that governs a build.
//
// Order: largest time × memory first, because what is started last decides how long the machine stands idle,
// and a giant started last stands alone. Compiles that run alone come after all others. Within that order,
// the mix is kept: when what runs is heavier (memory per core) than what waits, the first of the lighter ones
// is taken, else the first of the heavier, since a build that runs its heavy ones first idles its cores at
// first and its memory at last. Where what was chosen would be the last to fit, the largest that fits is
// taken instead. Near the end, when the longest one's own time may decide it, the longest goes first.
//
// Room: every compile is expected to peak at `typical`, give or take `spread` (one standard deviation). Peaks
// of different compiles miss independently, so a set fits when Σ typical + 1.5·√(Σ spread²) is within the
// limit. One unknown compile thus reserves a high quantile, a hundred of them not a hundred high quantiles.
//
// No starvation: when the first in order does not fit, others may overtake it, but only so often, not when it
// alone is a good part of what is left, and not while what runs is finer than what waits: the large would all
// be left for the end, where few of them fill the room. Then they may start only if they end before it could
// start, or leave it its room (EASY backfill, as batch schedulers do).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace wheelyard::governor {

using TryId = std::uint64_t;

struct Need {
    double typical_bytes = 0;
    double spread_bytes = 0;
    double seconds = 1;
    unsigned cpus = 1;
    bool alone = false;

    [[nodiscard]] double high_bytes() const { return typical_bytes + 2 * spread_bytes; }
};

class Admission {
  public:
    explicit Admission(unsigned cores) : cores_(cores == 0 ? 1 : cores) {}

    void set_limit(double bytes) { limit_ = bytes; }
    void set_cores(unsigned cores) { cores_ = cores == 0 ? 1 : cores; }
    void enqueue(TryId id, const Need& need);
    // A waiting one's prediction changed.
    void revise(TryId id, const Need& need);
    // Gone, waiting or running; unknown ids are ignored.
    void remove(TryId id);
    // A running compile uses `bytes` now: never less than that is reserved for it.
    void observe(TryId id, double bytes);
    // Chooses, moves to running and returns what starts now, in order. Whenever anything waits and nothing
    // runs, something starts: a limit that is too low for all must be met by a compile, not by silence.
    [[nodiscard]] std::vector<TryId> start(double now_s);

    [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
    [[nodiscard]] bool is_running(TryId id) const { return running_.contains(id); }
    [[nodiscard]] std::size_t running() const { return running_.size(); }
    [[nodiscard]] double reserved_bytes() const;
    [[nodiscard]] double min_waiting_bytes() const;  // as expected; 0 when none waits
    // How long what waits would keep a full machine busy.
    [[nodiscard]] double left_s() const;

  private:
    struct Waiting {
        Need need;
        std::uint64_t deadline;  // count of starts at which it becomes the first
    };
    struct Running {
        Need need;
        double end_s;
    };
    struct Load {  // what a set of compiles takes
        double typical = 0, variance = 0, squares = 0;
        unsigned cpus = 0;
        std::size_t count = 0;
        void add(const Need& need);
        void take(const Need& need);
        [[nodiscard]] double bytes() const;
    };
    struct Grain {
        double area = 0, squares = 0;  // bytes × seconds, bytes² × seconds
        void add(const Need& need);
        void take(const Need& need);
    };
    struct Rank {
        double key;  // −time × memory, then first come
        TryId id;
        const Need* need;
        bool operator<(const Rank& other) const { return key != other.key ? key < other.key : id < other.id; }
    };

    [[nodiscard]] static Rank rank_of(TryId id, const Need& need);
    void count_in(TryId id, const Need& need);
    void count_out(TryId id, const Need& need);
    [[nodiscard]] bool overdue() const { return deadlines_.begin()->first <= starts_; }
    [[nodiscard]] bool must_guard(const Need& head, double now_s) const;
    [[nodiscard]] bool is_too_fine(const Need& head) const;
    [[nodiscard]] const Rank* first_that_fits(std::optional<bool> heavier) const;
    [[nodiscard]] const Rank* choose(TryId head_id, const Need& head) const;
    [[nodiscard]] bool fits(const Load& load, const Need& need) const;
    [[nodiscard]] bool is_near_end() const;
    [[nodiscard]] const Rank* best_filling(const Rank* chosen) const;
    [[nodiscard]] const Rank* longest_that_fits() const;
    void begin(TryId id, double now_s, std::vector<TryId>& started);
    void forget_waiting(std::map<TryId, Waiting>::iterator found);
    [[nodiscard]] TryId head() const;
    [[nodiscard]] std::pair<double, Load> room_for_head(const Need& need, double now_s) const;
    void backfill(TryId head_id, double now_s, std::vector<TryId>& started);

    unsigned cores_;
    double limit_ = 0;
    std::uint64_t starts_ = 0;
    double waiting_seconds_ = 0;  // × cores taken
    double waiting_area_ = 0;     // bytes × seconds
    Grain waiting_grain_;         // of those that need not be alone
    std::map<TryId, Waiting> waiting_;
    std::set<Rank> order_;
    std::set<std::pair<double, TryId>> by_time_;  // (−seconds, id) of those that need not be alone
    std::set<std::pair<std::uint64_t, TryId>> deadlines_;
    std::set<std::pair<double, TryId>> smallest_;  // (typical bytes, id) of the waiting
    std::map<TryId, Running> running_;
    Load load_;
};

}  // namespace wheelyard::governor
