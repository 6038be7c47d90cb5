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

TEST_CASE("who supplied a project to an index is found in any place of the order, for this index only") {
    const UpstreamConfig first = upstream_at("https://a.example.org/");
    const UpstreamConfig second = upstream_at("https://b.example.org/");
    const std::vector<Candidate> candidates{{.upstream = &first}, {.upstream = &second}};
    CachedPage page;
    page.supplies = {"main"};
    const SharedPage supplying = std::make_shared<const CachedPage>(page);
    const std::vector<SharedPage> pages{nullptr, supplying};
    CHECK(registry::supplier_of(candidates, pages, "main") == &candidates[1]);
    CHECK(registry::supplier_of(candidates, pages, "gpu") == nullptr);
    CHECK(registry::supplier_of(candidates, std::vector<SharedPage>{supplying, supplying}, "main") ==
          &candidates[0]);
}
