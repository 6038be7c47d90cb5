// One look at the catalog after each change, by whichever process.
#include "registry/serve/other_commits.hpp"

#include <utility>

#include "lib/io/log.hpp"

namespace wheelyard::registry {
namespace {

// A look that finds nothing costs some microseconds (change_count()).
constexpr std::int64_t between_looks_ms = 200;
constexpr std::int64_t longest_hint_wait_ms = 500;

}  // namespace

base::Result<std::unique_ptr<OtherCommits>> OtherCommits::follow(const database::Store& store,
                                                                 PublishQueue& pages, bool is_alone) {
    WHEELYARD_ASSIGN(auto reader, store.reader());
    return std::unique_ptr<OtherCommits>(new OtherCommits(std::move(reader), pages, is_alone));
}

OtherCommits::OtherCommits(std::unique_ptr<const catalog::Catalog> reader, PublishQueue& pages, bool is_alone)
    : reader_(std::move(reader)),
      pages_(pages),
      wait_ms_(is_alone ? 0 : longest_hint_wait_ms),
      task_(0, is_alone ? between_looks_ms : 0, [this](base::Clock& clock) { look(clock); }) {}

void OtherCommits::look(base::Clock& clock) {
    const auto requested = request();
    if (!requested && !has_failed_)
        io::log_warn("serve.changes_not_read", {{"error", requested.error().text()}});
    // What failed in between may have been a change to another database: its history is compared.
    if (requested && has_failed_) pages_.call_after_next_run([] {});
    has_failed_ = !requested;
    if (!requested) clock.sleep_ms(between_looks_ms);
}

base::Status OtherCommits::request() {
    WHEELYARD_ASSIGN(const std::int64_t count, reader_->wait_change(seen_, wait_ms_));
    if (count == seen_) return {};
    const catalog::Serial wanted = pages_.lag().wanted;  // read first: it was committed before
    WHEELYARD_ASSIGN(const catalog::Serial serial, reader_->last_serial());
    seen_ = count;
    if (serial > wanted) pages_.want(serial);
    if (serial < wanted) pages_.call_after_next_run([] {});  // another history
    return {};
}

}  // namespace wheelyard::registry
