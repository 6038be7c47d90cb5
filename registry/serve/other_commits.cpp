// One look at the catalog after each change, by whichever process.
#include "registry/serve/other_commits.hpp"

#include <utility>

#include "lib/io/log.hpp"

namespace wheelyard::registry {
namespace {

// A look that finds nothing costs some microseconds (change_count()).
constexpr std::int64_t between_looks_ms = 200;

}  // namespace

base::Result<std::unique_ptr<OtherCommits>> OtherCommits::follow(const database::Store& store,
                                                                 PublishQueue& pages) {
    WHEELYARD_ASSIGN(auto reader, store.reader());
    return std::unique_ptr<OtherCommits>(new OtherCommits(std::move(reader), pages));
}

OtherCommits::OtherCommits(std::unique_ptr<const catalog::Catalog> reader, PublishQueue& pages)
    : reader_(std::move(reader)),
      pages_(pages),
      task_(0, between_looks_ms, [this](base::Clock&) { look(); }) {}

void OtherCommits::look() {
    const auto requested = request();
    if (!requested && !has_failed_)
        io::log_warn("serve.changes_not_read", {{"error", requested.error().text()}});
    has_failed_ = !requested;
}

base::Status OtherCommits::request() {
    WHEELYARD_ASSIGN(const std::int64_t count, reader_->change_count());
    if (count == seen_) return {};
    WHEELYARD_ASSIGN(const catalog::Serial serial, reader_->last_serial());
    seen_ = count;
    if (serial > pages_.lag().wanted) pages_.want(serial);
    return {};
}

}  // namespace wheelyard::registry
