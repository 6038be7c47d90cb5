// Who supplies a project of several upstreams, and when the next one may be asked.
#include "registry/upstream/supplier.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;
using registry::CachedPage;
using registry::Candidate;
using registry::SharedPage;
using registry::Standing;
using registry::UpstreamConfig;

namespace {

UpstreamConfig upstream_at(const std::string& url) {
    UpstreamConfig upstream;
    upstream.url = url;
    return upstream;
}

}  // namespace

TEST_CASE("only an upstream that never had the project, or was released, passes it on") {
    const UpstreamConfig open = upstream_at("https://index.example.org/simple/");
    UpstreamConfig with_account = open;
    with_account.username = "anna";
    UpstreamConfig inside = open;
    inside.private_hosts = {"index.example.org"};
    const auto naming = [](UpstreamConfig upstream) {
        upstream.allow = {"our-*"};
        return upstream;
    };
    const CachedPage never{.is_absent = true};
    CachedPage lost = never;
    lost.gone.push_back({"six-1.0-py3-none-any.whl", std::string(64, 'a'), 1});
    CachedPage unreadable = never;
    unreadable.absent_since = 1;
    CachedPage released = lost;
    released.released = 5;
    CachedPage there;
    there.files.resize(1);
    CachedPage kept = there;
    kept.absent_since = 3;
    const struct {
        const char* what;
        UpstreamConfig upstream;
        const CachedPage* page;
        bool has_files;
        Standing standing;
    } table[] = {
        {"not asked", open, nullptr, false, Standing::unknown},
        {"not asked, files fetched", open, nullptr, true, Standing::unknown},
        {"there", open, &there, false, Standing::supplies},
        {"lost, and kept", open, &kept, false, Standing::supplies},
        {"never there", open, &never, false, Standing::passes},
        {"lost in an earlier version", open, &lost, false, Standing::keeps},
        {"its page is gone, its files are not", open, &never, true, Standing::keeps},
        {"its page is damaged", open, &unreadable, false, Standing::keeps},
        {"released", open, &released, false, Standing::passes},
        {"released, with fetched files", open, &released, true, Standing::passes},
        {"named by allow, anybody's", naming(open), &never, false, Standing::passes},
        {"an account", with_account, &never, false, Standing::passes},
        {"named by allow, with an account", naming(with_account), &never, false, Standing::binds},
        {"named by allow, in our network", naming(inside), &never, false, Standing::binds},
        {"released, and named by allow", naming(inside), &released, false, Standing::passes},
    };
    for (const auto& row : table) {
        CAPTURE(row.what);
        const Candidate candidate{.upstream = &row.upstream, .has_files = row.has_files};
        CHECK(registry::standing_of(candidate, row.page) == row.standing);
    }
}

TEST_CASE("who supplied a project keeps it: by its note, else by the page or the files that are there") {
    const UpstreamConfig upstream = upstream_at("https://a.example.org/");
    registry::IndexConfig base;
    base.name = "base";
    const auto page = [](CachedPage from) { return std::make_shared<const CachedPage>(std::move(from)); };
    const SharedPage never = page({.is_absent = true});
    const SharedPage noting = page({.supplies = {"base"}});
    const SharedPage unnoted = page({});
    const SharedPage unreadable = page({.is_absent = true, .absent_since = 1});
    const SharedPage released = page({.is_absent = true, .released = 5});
    const struct {
        const char* what;
        SharedPage pages[2];
        bool has_files[2];
        int supplier;  // -1: none
    } table[] = {
        {"nobody was asked", {nullptr, nullptr}, {false, false}, -1},
        {"neither had it", {never, never}, {false, false}, -1},
        {"noted", {nullptr, noting}, {false, false}, 1},
        {"noted, files of a former one", {never, noting}, {true, false}, 1},
        {"both noted", {noting, noting}, {false, false}, 0},
        {"the only upstream, then another before it", {nullptr, unnoted}, {false, false}, 1},
        {"restored without pages", {nullptr, nullptr}, {false, true}, 1},
        {"restored, and the first was asked before", {never, nullptr}, {false, true}, 1},
        {"its page is damaged", {never, unreadable}, {false, false}, 1},
        {"released, with fetched files", {never, released}, {false, true}, -1},
        {"released, and the other one has it", {unnoted, released}, {false, true}, 0},
    };
    for (const auto& row : table) {
        CAPTURE(row.what);
        std::vector<Candidate> candidates;
        for (const bool has_files : row.has_files)
            candidates.push_back(
                {.upstream = &upstream, .index = &base, .has_files = has_files, .shown_by = {"base"}});
        const Candidate* const supplier = registry::supplier_of(candidates, row.pages, "base");
        CHECK(supplier == (row.supplier < 0 ? nullptr : &candidates[static_cast<std::size_t>(row.supplier)]));
        for (const Candidate& candidate : candidates)
            CHECK(registry::may_supply(candidate, candidates, row.pages, "base") ==
                  (supplier == nullptr || supplier == &candidate));
    }
}

TEST_CASE("an index has a project from the upstream that supplied it to the index that it inherits") {
    const UpstreamConfig upstream = upstream_at("https://a.example.org/");
    registry::IndexConfig base;
    base.name = "base";
    registry::IndexConfig gpu;  // inherits base and has an upstream of its own
    gpu.name = "gpu";
    const std::vector<Candidate> of_gpu{{.upstream = &upstream, .index = &gpu, .shown_by = {"gpu"}},
                                        {.upstream = &upstream, .index = &base, .shown_by = {"gpu", "base"}},
                                        {.upstream = &upstream, .index = &base, .shown_by = {"gpu", "base"}}};
    const auto allowed = [&](const std::string& second, const std::string& third) {
        std::vector<SharedPage> pages{nullptr};
        for (const std::string& index : {second, third})
            pages.push_back(index.empty()
                                ? nullptr
                                : std::make_shared<const CachedPage>(CachedPage{.supplies = {index}}));
        std::vector<bool> may;
        for (const Candidate& candidate : of_gpu)
            may.push_back(registry::may_supply(candidate, of_gpu, pages, "gpu"));
        return may;
    };
    CHECK(allowed("", "") == std::vector<bool>{true, true, true});
    // gpu was never asked: neither its own upstream nor the first one of base may take the name.
    CHECK(allowed("", "base") == std::vector<bool>{false, false, true});
    CHECK(allowed("", "gpu") == std::vector<bool>{false, false, true});
    // It got the name from another one before base did.
    CHECK(allowed("gpu", "base") == std::vector<bool>{false, true, false});
    // What another index got that has nothing to do with gpu.
    CHECK(allowed("", "lab")[0]);
}
