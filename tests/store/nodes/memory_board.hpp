// A board, a writer's lock and two clocks in memory, which tests move by hand.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/store/nodes/node_board.hpp"
#include "lib/store/nodes/node_clock.hpp"

namespace wheelyard::nodes {

// The machine of a node: its clocks run with the database's unless a test stops or sets them.
class ManualNodeClock final : public NodeClock {
  public:
    explicit ManualNodeClock(const base::Clock& time) : time_(time) {}
    [[nodiscard]] std::int64_t boot_us() const override { return time_.now() - start_ + behind_us; }
    [[nodiscard]] std::int64_t wall_us() const override { return time_.now() + wall_off_us; }
    std::int64_t behind_us = 0;    // of CLOCK_BOOTTIME: negative after a freeze that it did not count
    std::int64_t wall_off_us = 0;  // of the wall clock

  private:
    const base::Clock& time_;
    const base::UnixMicros start_ = time_.now() - 1'000'000;
};

// What a database keeps for all nodes.
struct MemoryTable {
    explicit MemoryTable(const base::Clock& database_time) : time(database_time) {}
    struct Row {
        NodeRow said;
        base::UnixMicros until = 0;
    };
    const base::Clock& time;
    std::map<std::string, Row> rows;
    std::string timeline = "7/00000001";
    std::string writer_timeline = "7/00000001";  // in which the last writer wrote
    std::optional<std::string> lock_holder;
    bool is_down = false;

    [[nodiscard]] base::Status reach() const {
        if (!is_down) return {};
        return base::fail_as(base::ErrorKind::unreachable, base::Recovery::retry,
                             {"store.unreachable", "The database does not answer"});
    }
};

class MemoryBoard final : public NodeBoard {
  public:
    explicit MemoryBoard(MemoryTable& table) : table_(table) {}
    [[nodiscard]] base::Result<Renewed> renew(const NodeRow& row, std::int64_t lease_ms) override {
        WHEELYARD_TRY(table_.reach());
        const base::UnixMicros now = table_.time.now();
        const auto known = table_.rows.find(row.id);
        Renewed renewed{.was_live = known != table_.rows.end() && known->second.until > now,
                        .timeline = table_.timeline,
                        .time = now};
        MemoryTable::Row& kept = table_.rows[row.id];
        kept = {row, now + lease_ms * 1'000};
        if (row.timeline != table_.timeline) kept.said.visible = 0;
        for (const auto& [id, other] : table_.rows) {
            if (id != row.id && other.until > now) {
                renewed.most_visible = std::max(renewed.most_visible.value_or(0), other.said.visible);
                renewed.least_lost = std::min(renewed.least_lost.value_or(other.said.lost), other.said.lost);
            }
            if (other.said.is_writer && other.until > now)
                renewed.writer = WritingNode{id, other.said.name, other.said.address};
        }
        return renewed;
    }
    [[nodiscard]] base::Status leave(const std::string& id) override {
        WHEELYARD_TRY(table_.reach());
        table_.rows.erase(id);
        return {};
    }
    [[nodiscard]] base::Result<Serial> lowest_visible(const std::string& timeline) override {
        WHEELYARD_TRY(table_.reach());
        if (!timeline.empty() && timeline != table_.timeline) return 0;
        Serial lowest = none_is_live;
        for (const auto& [id, row] : table_.rows) {
            if (row.until > table_.time.now()) lowest = std::min(lowest, row.said.visible);
        }
        return lowest;
    }
    [[nodiscard]] base::Result<std::vector<SeenNode>> nodes() override {
        WHEELYARD_TRY(table_.reach());
        std::vector<SeenNode> seen;
        for (const auto& [id, row] : table_.rows) {
            if (row.until > table_.time.now())
                seen.push_back({row.said, (row.until - table_.time.now()) / 1'000});
        }
        return seen;
    }

  private:
    MemoryTable& table_;
};

class MemoryLock final : public WriterLock {
  public:
    MemoryLock(MemoryTable& table, std::string holder) : table_(table), holder_(std::move(holder)) {}
    [[nodiscard]] base::Result<Kept> take_or_keep() override {
        WHEELYARD_TRY(table_.reach());
        if (!table_.lock_holder) table_.lock_holder = holder_;
        return Kept{.is_held = *table_.lock_holder == holder_,
                    .is_after_failover = table_.writer_timeline != table_.timeline};
    }
    [[nodiscard]] base::Status note_waited() override {
        table_.writer_timeline = table_.timeline;
        return table_.reach();
    }
    [[nodiscard]] base::Status release() override {
        if (table_.lock_holder == holder_) table_.lock_holder.reset();
        return {};
    }

  private:
    MemoryTable& table_;
    const std::string holder_;
};

}  // namespace wheelyard::nodes
