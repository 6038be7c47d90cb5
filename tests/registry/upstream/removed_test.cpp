// Which answers of an upstream quarantine fetched files, and which release them.
#include "registry/upstream/removed.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;
using catalog::FileState;

namespace {

const std::string name = "six-1.0-py3-none-any.whl";
const std::string hash(64, 'a');

registry::CachedPage page_with(const std::string& filename, const std::string& sha256 = hash) {
    registry::CachedPage page;
    page.files.emplace_back();
    page.files.back().link.filename = filename;
    page.files.back().link.sha256 = sha256;
    return page;
}

catalog::FileRow row_of(FileState state, const std::string& reason = {}) {
    catalog::FileRow row;
    row.filename = name;
    row.sha256 = hash;
    row.state = state;
    row.state_reason = reason;
    return row;
}

std::string found(const registry::CachedPage& page, const catalog::FileRow& row, bool is_confirmed = true) {
    const auto all = registry::find_removed(page, {&row, 1}, is_confirmed);
    return all.empty() ? "nothing" : all.front().reason.empty() ? "released" : all.front().reason;
}

}  // namespace

TEST_CASE(
    "a fetched file that its upstream removed is quarantined, and nothing is by an answer that is unsure") {
    const catalog::FileRow held = row_of(FileState::active);
    registry::CachedPage lost = page_with(name);
    lost.absent_since = 1;
    registry::CachedPage hidden = page_with(name);
    hidden.status = "quarantined";
    const registry::CachedPage never_there{.is_absent = true};
    CHECK(found(page_with(name), held) == "nothing");
    CHECK(found(page_with("six-2.0-py3-none-any.whl"), held) ==
          "removed upstream: its page no longer lists the file");
    CHECK(found(hidden, held) == "removed upstream: it keeps the project in quarantine");
    CHECK(found(lost, held) == "removed upstream: it no longer has the project");
    CHECK(found(lost, held, false) == "nothing");
    CHECK(found(never_there, held) == "nothing");
    catalog::FileRow pinned = held;
    pinned.pinned = true;
    CHECK(found(lost, pinned) == "nothing");
}

TEST_CASE("only this rule's quarantine ends when the upstream lists the same bytes again") {
    const catalog::FileRow removed = row_of(FileState::quarantined, "removed upstream: x");
    CHECK(found(page_with(name), removed) == "released");
    CHECK(found(page_with(name), row_of(FileState::quarantined, "malware")) == "nothing");
    CHECK(found(page_with(name, std::string(64, 'b')), removed) == "nothing");
    registry::CachedPage changed = page_with(name);  // with the pinned hash; the page gives another one
    changed.files.front().is_changed = true;
    CHECK(found(changed, removed) == "nothing");
    registry::CachedPage lost = page_with(name);
    lost.absent_since = 1;
    CHECK(found(lost, removed) == "nothing");
}
