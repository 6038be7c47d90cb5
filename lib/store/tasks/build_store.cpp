#include "lib/store/tasks/build_store.hpp"

#include "lib/io/log.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::tasks {
namespace {

using base::Result;
using base::Status;

constexpr base::UnixMicros sweep_every = sweep_every_s * base::second_us;

// A document that this program wrote; one that it cannot read is as good as none.
std::optional<KeptBuild> kept_of(const BuildRow& row) {
    auto report = status::parse_build(row.document);
    if (!report) {
        io::log_warn("builds.unreadable", {{"build", row.key.id}, {"error", report.error().text()}});
        return std::nullopt;
    }
    return KeptBuild{*std::move(report), row.log_bytes};
}

}  // namespace

template <typename T>
Result<T> BuildStore::look(const std::function<Result<T>()>& work) {
    const std::lock_guard lock(mutex_);
    std::optional<Result<T>> seen;
    WHEELYARD_TRY(rows_->in_one_snapshot([&]() -> Status {
        seen = work();
        return {};
    }));
    return *std::move(seen);
}

Status BuildStore::note(const status::SiteReport& report) {
    const std::lock_guard lock(mutex_);
    sweep();
    return rows_->in_transaction([&]() -> Status {
        status::KnownBuilds known;
        std::map<std::string, BuildRow, std::less<>> rows;
        const auto remember = [&](BuildRow row) {
            if (auto kept = kept_of(row)) known.insert_or_assign(row.key.id, std::move(kept->report));
            std::string id = row.key.id;
            rows.insert_or_assign(std::move(id), std::move(row));
        };
        WHEELYARD_ASSIGN(auto open, rows_->open_of(report.index, report.site));
        for (BuildRow& row : open)
            remember(std::move(row));
        for (const std::string& id : status::builds_named(report)) {
            if (rows.contains(id)) continue;
            WHEELYARD_ASSIGN(auto row, rows_->find({report.index, report.site, id}));
            if (row) remember(*std::move(row));
        }
        for (const status::BuildReport& build : status::changed_builds(report, known)) {
            BuildRow& row = rows[build.id];
            row.key = {build.index, build.site, build.id};
            row.package = build.package;
            row.is_over = status::is_over(build);
            row.changed = clock_.now();
            row.document = status::build_json(build).render();
            WHEELYARD_TRY(rows_->put(row));
        }
        return {};
    });
}

Result<std::optional<KeptBuild>> BuildStore::find(const BuildKey& key) {
    return look<std::optional<KeptBuild>>([&]() -> Result<std::optional<KeptBuild>> {
        WHEELYARD_ASSIGN(const auto row, rows_->find(key));
        if (!row) return std::nullopt;
        return kept_of(*row);
    });
}

Result<std::vector<KeptBuild>> BuildStore::list(const std::string& index, const std::string& package) {
    return look<std::vector<KeptBuild>>([&]() -> Result<std::vector<KeptBuild>> {
        WHEELYARD_ASSIGN(const auto rows, rows_->list(index, package, max_builds_returned));
        std::vector<KeptBuild> builds;
        for (const BuildRow& row : rows) {
            if (auto kept = kept_of(row)) builds.push_back(*std::move(kept));
        }
        return builds;
    });
}

Result<std::int64_t> BuildStore::append_log(const BuildKey& key, std::int64_t offset,
                                            std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    sweep();
    std::int64_t size = 0;
    WHEELYARD_TRY(rows_->in_transaction([&]() -> Status {
        WHEELYARD_ASSIGN(auto row, rows_->find(key));
        if (!row)
            return wire::fail("build.unknown", "No report of this site names this build", key.id,
                              "send the report of the site first");
        size = row->log_bytes;
        if (offset < 0 || offset > size)
            return wire::fail("build.log_gap", "The offset is not the end of the log",
                              "the log has " + std::to_string(size) + " bytes",
                              "send the bytes from there on");
        const auto known = static_cast<std::size_t>(size - offset);
        if (known >= bytes.size()) return {};
        const std::string_view fresh = bytes.substr(known);
        if (size + static_cast<std::int64_t>(fresh.size()) > max_log_bytes ||
            row->log_pieces >= max_log_pieces)
            return wire::fail("build.log_full", "The log has reached its maximum size",
                              std::to_string(max_log_bytes) + " bytes", "keep the rest on the agent");
        WHEELYARD_TRY(rows_->append_log(key, size, fresh));
        size += static_cast<std::int64_t>(fresh.size());
        row->log_bytes = size;
        ++row->log_pieces;
        return rows_->put(*row);
    }));
    return size;
}

Result<std::string> BuildStore::read_log(const BuildKey& key, std::int64_t offset) {
    return look<std::string>([&] { return rows_->read_log(key, offset, log_piece_bytes); });
}

// Removal is housekeeping: its failure refuses no change.
void BuildStore::sweep() {
    const base::UnixMicros now = clock_.now();
    if (now >= swept_ && now - swept_ < sweep_every) return;
    const auto is_all = remove_old(now);
    if (!is_all || *is_all) swept_ = now;
    if (!is_all) io::log_error("builds.sweep_failed", {{"error", is_all.error().text()}});
}

Result<bool> BuildStore::remove_old(base::UnixMicros now) {
    bool is_all = false;
    WHEELYARD_TRY(rows_->in_transaction([&]() -> Status {
        constexpr auto at_once = static_cast<std::size_t>(max_removed_at_once);
        WHEELYARD_ASSIGN(const BuildCounts counts, rows_->counts());
        const bool too_many = counts.builds > limits_.max_builds;
        const base::UnixMicros old = now - limits_.kept_days * base::day_us;
        // Also what a site that fell silent left open.
        WHEELYARD_ASSIGN(const auto found, too_many ? rows_->changed_before(now, WhichBuilds::over, at_once)
                                                    : rows_->changed_before(old, WhichBuilds::all, at_once));
        std::int64_t left = counts.builds;
        std::int64_t bytes = counts.log_bytes;
        const auto is_enough = [&] { return counts.log_bytes - bytes >= limits_.max_bytes_at_once; };
        for (const BuildRow& row : found) {
            if (is_enough() || (row.changed >= old && left <= limits_.max_builds)) break;
            WHEELYARD_TRY(rows_->remove(row.key));
            bytes -= row.log_bytes;
            --left;
        }
        is_all = counts.builds - left < max_removed_at_once && !is_enough();
        if (bytes <= limits_.max_log_bytes) return {};
        WHEELYARD_ASSIGN(auto with_log, rows_->changed_before(now, WhichBuilds::over_with_log, at_once));
        for (BuildRow& row : with_log) {
            if (is_enough() || bytes <= limits_.max_log_bytes) break;
            bytes -= row.log_bytes;
            WHEELYARD_TRY(rows_->remove_log(row.key));
            row.log_bytes = row.log_pieces = 0;
            WHEELYARD_TRY(rows_->put(row));
        }
        is_all = is_all && (bytes <= limits_.max_log_bytes || with_log.size() < at_once);
        return {};
    }));
    return is_all;
}

}  // namespace wheelyard::tasks
