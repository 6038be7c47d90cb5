// Which answers of an upstream quarantine fetched files, and which release them.
#include "registry/upstream/removed.hpp"

#include <doctest/doctest.h>

#include "registry/upstream/limits.hpp"

using namespace wheelyard;
using catalog::FileState;

namespace {

const std::string name = "six-1.0-py3-none-any.whl";
const std::string hash(64, 'a');
constexpr base::UnixMicros noon = 1'700'000'000'000'000;
constexpr base::UnixMicros long_ago = noon - registry::absent_fresh_s * base::second_us;

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

// What the answer at `noon` does to `row`; `since`: the first full answer without the file, 0: none was.
std::string found(registry::CachedPage page, const catalog::FileRow& row, base::UnixMicros since = long_ago,
                  bool is_full = true) {
    page.checked = noon;
    std::vector<registry::MissingFile> before;
    if (since != 0) before.push_back({name, since});
    const auto all = registry::find_removed(before, {&row, 1}, is_full, page);
    return all.empty() ? "nothing" : all.front().reason.empty() ? "released" : all.front().reason;
}

}  // namespace

TEST_CASE("a fetched file that its upstream removed is quarantined, by the second answer that says so") {
    const catalog::FileRow held = row_of(FileState::active);
    const registry::CachedPage others = page_with("six-2.0-py3-none-any.whl");
    registry::CachedPage lost = page_with(name);
    lost.absent_since = 1;
    registry::CachedPage unreadable{.is_absent = true, .absent_since = 1};  // or restored from a backup
    registry::CachedPage hidden = page_with(name);
    hidden.status = "quarantined";
    const registry::CachedPage never_there{.is_absent = true};
    const std::string no_file = "removed upstream: its page no longer lists the file";
    const std::string no_project = "removed upstream: it no longer has the project";
    const std::string is_hidden = "removed upstream: it keeps the project in quarantine";
    const struct {
        const registry::CachedPage& page;
        base::UnixMicros since;
        bool is_full;
        std::string found;
    } table[] = {
        {page_with(name), long_ago, true, "nothing"},
        {others, long_ago, true, no_file},
        {others, long_ago + 1, true, "nothing"},
        {others, 0, true, "nothing"},
        {others, long_ago, false, "nothing"},  // 304, or HTML without its end
        {lost, long_ago, true, no_project},
        {lost, long_ago + 1, true, "nothing"},
        {lost, 0, true, "nothing"},
        {unreadable, 0, true, "nothing"},
        {unreadable, long_ago, false, "nothing"},  // 403
        {unreadable, long_ago, true, no_project},
        {hidden, 0, true, is_hidden},
        {never_there, long_ago, true, "nothing"},
    };
    for (const auto& row : table) {
        CAPTURE(&row - table);
        CHECK(found(row.page, held, row.since, row.is_full) == row.found);
    }
    catalog::FileRow pinned = held;
    pinned.pinned = true;
    CHECK(found(lost, pinned) == "nothing");
}

TEST_CASE("the first full answer without a file is kept until a page lists the file") {
    const catalog::FileRow held = row_of(FileState::active);
    const auto since = [&](registry::CachedPage page, base::UnixMicros before, bool is_full) {
        page.checked = noon;
        std::vector<registry::MissingFile> missing;
        if (before != 0) missing.push_back({name, before});
        (void)registry::find_removed(missing, {&held, 1}, is_full, page);
        return page.missing.empty() ? 0 : page.missing.front().since;
    };
    const registry::CachedPage others = page_with("six-2.0-py3-none-any.whl");
    CHECK(since(others, 0, true) == noon);
    CHECK(since(others, 0, false) == 0);
    CHECK(since(others, noon - 1, true) == noon - 1);
    CHECK(since(others, noon - 1, false) == noon - 1);
    CHECK(since(page_with(name), noon - 1, true) == 0);
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
