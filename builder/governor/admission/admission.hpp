// Decides which waiting compiles start now. Pure: the caller passes the time, so the simulator runs the same
// code as a real build.
//
// Order: the largest time × memory goes first, because the compiles started last decide how long cores idle
// at the end, and a large one started last runs alone. Compiles that must run alone come last. Within this
// order the mix is balanced: if the running compiles use more memory per core than the waiting ones, the
// first lighter compile starts, otherwise the first heavier one. A build that ran its heavy compiles first
// would idle cores at the beginning and memory at the end. If the chosen compile would be the last that fits,
// the largest that fits replaces it. Near the end, when the longest compile may decide the end of the build,
// the longest goes first.
//
// Room: a compile's peak is expected at `typical` with the standard deviation `spread`. Errors of different
// compiles are independent, so a set fits if Σ typical + 1.5·√(Σ spread²) is within the limit. One unknown
// compile reserves a high quantile; for many together the errors average out.
//
// Starvation: if the head of the order does not fit, others may overtake it, unless it was overtaken too
// often, its own time is a large part of what is left, or the running compiles are smaller than the waiting
// ones (the large ones would all be left for the end, where few fit together). Then room is reserved for the
// head: others start only if they end before it can start or leave it enough room (EASY backfill).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "builder/governor/memory/limits.hpp"

namespace wheelyard::governor {

// How many compiles the build tool may keep waiting: enough for the broker to choose well, within the limits
// of file descriptors, processes and memory. Pure.

// The waiting launchers may use at most 1/waiting_divisor of the limit.
inline constexpr std::uint64_t waiting_divisor = 20;
inline constexpr std::uint64_t waiting_launcher_bytes = 400 * kib;  // with the `sh -c` around it
inline constexpr std::uint64_t processes_per_waiting = 2;           // `sh -c` and the launcher
inline constexpr std::uint64_t processes_per_running = 6;           // also driver, front end, assembler …

// How many waiting compiles the broker chooses from. With 1.5 GiB per core or more, 32 per core come within
// 0.5 % of an unlimited choice in simulated builds; with less memory, a larger choice packs better. More
// would slow the build tool, which polls a pipe per child.
inline constexpr unsigned window_per_core = 32;
inline constexpr unsigned roomy_window = 64;    // minimum
inline constexpr unsigned tight_window = 1024;  // minimum with less than roomy_bytes_per_core
inline constexpr double roomy_bytes_per_core = 2.0 * gib;
inline constexpr unsigned max_window = 4096;
inline constexpr unsigned min_window = 2;

struct WindowFacts {
    unsigned cores = 1;
    double limit_bytes = 0;
    std::uint64_t open_files = 1024;              // hard RLIMIT_NOFILE
    std::optional<std::uint64_t> user_processes;  // RLIMIT_NPROC
    std::optional<std::uint64_t> free_pids;       // cgroup pids.max less pids.current
};

[[nodiscard]] unsigned choose_window(const WindowFacts& facts);

// After this many overtaking starts, two full windows, a compile becomes the head of the queue.
inline constexpr unsigned max_overtaken = 2 * max_window;

using TryId = std::uint64_t;

// The predicted need of one compile.
struct Need {
    double typical_bytes = 0;  // expected peak
    double spread_bytes = 0;   // its standard deviation
    double seconds = 1;
    unsigned cpus = 1;
    bool alone = false;  // must run alone

    [[nodiscard]] double high_bytes() const { return typical_bytes + 2 * spread_bytes; }
};

class Admission {
  public:
    explicit Admission(unsigned cores) : cores_(cores == 0 ? 1 : cores) {}

    void set_limit(double bytes) { limit_ = bytes; }
    void set_cores(unsigned cores) { cores_ = cores == 0 ? 1 : cores; }
    void enqueue(TryId id, const Need& need);
    // Replaces the prediction of a waiting compile.
    void revise(TryId id, const Need& need);
    // Removes a waiting or running compile; ignores unknown ids.
    void remove(TryId id);
    // A running compile uses `bytes` now; at least that much stays reserved for it.
    void observe(TryId id, double bytes);
    // Moves the compiles that start now to running and returns them in order. If something waits and nothing
    // runs, something starts even if it does not fit: a limit that is too low must show as a failing compile,
    // not as a build that hangs.
    [[nodiscard]] std::vector<TryId> start(double now_s);

    [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
    [[nodiscard]] bool is_running(TryId id) const { return running_.contains(id); }
    [[nodiscard]] std::size_t running() const { return running_.size(); }
    [[nodiscard]] double reserved_bytes() const;
    [[nodiscard]] double min_waiting_bytes() const;  // smallest expected peak; 0 if nothing waits
    // Seconds that the waiting compiles would keep a full machine busy.
    [[nodiscard]] double left_s() const;

  private:
    struct Waiting {
        Need need;
        std::uint64_t deadline;  // value of starts_ at which it becomes the head
    };
    struct Running {
        Need need;
        double end_s;
    };
    struct Load {  // what the running compiles use
        double typical = 0, variance = 0, squares = 0;
        unsigned cpus = 0;
        std::size_t count = 0;
        void add(const Need& need);
        void remove(const Need& need);
        [[nodiscard]] double bytes() const;
    };
    struct Sizes {                     // for the mean size, squares / area
        double area = 0, squares = 0;  // bytes × seconds, bytes² × seconds
        void add(const Need& need);
        void remove(const Need& need);
    };
    struct Rank {
        double key;  // −time × memory; ties by id, the order of arrival
        TryId id;
        const Need* need;
        bool operator<(const Rank& other) const { return key != other.key ? key < other.key : id < other.id; }
    };

    [[nodiscard]] static Rank rank_of(TryId id, const Need& need);
    void index_waiting(TryId id, const Need& need);
    void unindex_waiting(TryId id, const Need& need);
    [[nodiscard]] bool overdue() const { return deadlines_.begin()->first <= starts_; }
    [[nodiscard]] bool must_reserve(const Need& head, double now_s) const;
    [[nodiscard]] bool are_running_smaller(const Need& head) const;
    [[nodiscard]] const Rank* first_that_fits(std::optional<bool> heavier) const;
    [[nodiscard]] const Rank* choose(TryId head_id, const Need& head) const;
    [[nodiscard]] bool fits(const Load& load, const Need& need) const;
    [[nodiscard]] bool is_near_end() const;
    [[nodiscard]] const Rank* best_filling(const Rank* chosen) const;
    [[nodiscard]] const Rank* slowest_that_fits() const;
    void begin(TryId id, double now_s, std::vector<TryId>& started);
    void forget_waiting(std::map<TryId, Waiting>::iterator found);
    [[nodiscard]] TryId head() const;
    [[nodiscard]] std::pair<double, Load> room_for_head(const Need& need, double now_s) const;
    void backfill(TryId head_id, double now_s, std::vector<TryId>& started);

    unsigned cores_;
    double limit_ = 0;
    std::uint64_t starts_ = 0;
    double waiting_seconds_ = 0;  // seconds × cores
    double waiting_area_ = 0;     // bytes × seconds
    Sizes waiting_sizes_;         // without those that must run alone
    std::map<TryId, Waiting> waiting_;
    std::set<Rank> order_;
    std::set<std::pair<double, TryId>> by_time_;  // (−seconds, id), without those that must run alone
    std::set<std::pair<std::uint64_t, TryId>> deadlines_;
    std::set<std::pair<double, TryId>> smallest_;  // (typical bytes, id) of the waiting
    std::map<TryId, Running> running_;
    Load load_;
};

}  // namespace wheelyard::governor
