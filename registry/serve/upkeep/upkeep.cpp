#include "registry/serve/upkeep/upkeep.hpp"

#include <algorithm>
#include <utility>

#include "lib/io/log.hpp"
#include "lib/store/lifecycle/backup.hpp"
#include "lib/store/lifecycle/verify.hpp"
#include "registry/intake/quota.hpp"

namespace wheelyard::registry {
namespace {

IndexUsage summarize(const std::string& index, const std::vector<catalog::Usage>& usage) {
    IndexUsage sum{.index = index, .all = usage_of(usage, {})};
    const auto top =
        std::max_element(usage.begin(), usage.end(),
                         [](const catalog::Usage& a, const catalog::Usage& b) { return a.bytes < b.bytes; });
    if (top != usage.end()) sum.top_token = *top;
    return sum;
}

}  // namespace

Upkeep::Upkeep(ConfigView config, Writer& writer, tasks::TaskStore& tasks, std::int64_t interval_ms)
    : config_(config),
      writer_(writer),
      tasks_(tasks),
      task_(interval_ms, interval_ms, [this](base::Clock&) { look(); }) {
    look();
}

Upkeep::Seen Upkeep::seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
}

void Upkeep::look() {
    Seen seen;
    const ConfigView config = config_.held();
    const auto written = writer_.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_TRY(catalog.try_write());
        for (const IndexConfig& index : config->indexes) {
            if (!index.quota.is_set() && !index.token_quota.is_set()) continue;
            WHEELYARD_ASSIGN(const auto usage, catalog.usage(index.name));
            seen.usage.push_back(summarize(index.name, usage));
        }
        return {};
    });
    const auto task_written = tasks_.try_write();
    if (!written)
        seen.write_failure = "the catalog cannot be written: " + written.error().sentence;
    else if (!task_written)
        seen.write_failure = "the tasks cannot be written: " + task_written.error().sentence;
    if (const auto kept = config->room().keep_reserve(); !kept)
        io::log_warn("upkeep.no_reserve", {{"error", kept.error().text()}});
    seen.has_reserve = config->room().has_reserve();
    seen.last_scrub = std::max(lifecycle::last_finished(config->store / "scrub.json"),
                               lifecycle::last_finished(config->store / "verify.json"));
    seen.last_backup = lifecycle::last_finished(config->store / lifecycle::last_backup_file);
    const std::lock_guard lock(mutex_);
    if (seen.write_failure != seen_.write_failure)
        io::log_warn("upkeep.write", {{"failure", !written        ? written.error().text()
                                                  : !task_written ? task_written.error().text()
                                                                  : "none"}});
    seen_ = std::move(seen);
}

}  // namespace wheelyard::registry
