#include "lib/status/index_status.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace wheelyard;
using namespace wheelyard::status;

namespace {

SiteReport site_with(const std::string& claims, const std::vector<std::string>& pythons,
                     const std::vector<std::string>& accelerators = {}) {
    SiteReport site;
    site.site = "bede";
    site.index = "main";
    site.time = 1;
    site.claims = claims;
    site.pythons = pythons;
    for (const std::string& accelerator : accelerators) {
        NodeReport node;
        node.name = "gpu";
        node.accelerator = accelerator;
        site.nodes.push_back(node);
    }
    return site;
}
RequestReport request_for(const std::string& python, const std::string& accelerator = {}) {
    RequestReport request;
    request.python = python;
    request.accelerator = accelerator;
    return request;
}

}  // namespace

TEST_CASE("the requests of an index are read as they were written, and none is no member") {
    IndexStatus status{.index = "main", .sites = {}, .requests = {}};
    CHECK(render_index_status(status).find("requests") == std::string::npos);
    status.requests = {{"t1", "torch", "2.4.0", "3.12", "", "queued", "a\nb", 1'000'000}};
    const auto read = parse_index_status(render_index_status(status));
    REQUIRE(read.has_value());
    REQUIRE(read->requests.size() == 1);
    CHECK(read->requests[0].package == "torch");
    CHECK(read->requests[0].accelerator == "");
    CHECK(read->requests[0].reason == "a b");
    CHECK(read->requests[0].asked == 1'000'000);
    CHECK(read->requests[0].ended == 0);
    status.requests[0].ended = 2'000'000;
    CHECK(parse_index_status(render_index_status(status))->requests.at(0).ended == 2'000'000);
    status.requests.resize(max_requests_per_index + 5, status.requests[0]);
    CHECK(parse_index_status(render_index_status(status))->requests.size() == max_requests_per_index);
}

TEST_CASE(
    "the status of an index names the code that runs on the GPUs of a node, whatever the site says of that") {
    IndexStatus status{.index = "main", .sites = {site_with("any", {"3.12"}, {"gh200"})}, .requests = {}};
    status.sites[0].nodes[0].architectures = {"sm_90"};
    status.sites[0].nodes[0].gpu_code = {"sm_100"};
    const auto read = parse_index_status(render_index_status(status));
    REQUIRE(read.has_value());
    CHECK(read->sites[0].nodes[0].gpu_code == std::vector<std::string>{"sm_90", "sm_90f", "sm_90a"});
}

TEST_CASE(
    "a request that no agent will take says why of each site, and one that an agent may take says nothing") {
    const auto named = [](const std::string& name, SiteReport site) {
        site.site = name;
        return site;
    };
    SiteReport with_recipes = site_with("recipes", {"3.12"});
    with_recipes.recipes = {"numpy", "torch"};
    CHECK(why_nobody_takes(request_for("3.12"), {}).find("no agent reports") != std::string::npos);
    CHECK(why_nobody_takes(request_for("3.12"), {site_with("no", {"3.12"})}) ==
          "no agent takes it: bede takes no requests (claim_tasks in its site file)");
    CHECK(why_nobody_takes(request_for("3.7"), {site_with("any", {"3.11", "3.12"})}) ==
          "no agent takes it: bede builds for Python 3.11, 3.12 only");
    CHECK(why_nobody_takes(request_for("3.12", "h200"),
                           {site_with("any", {"3.12"}, {"gh200", "v100", "gh200"})}) ==
          "no agent takes it: bede has only the accelerator gh200, v100");
    CHECK(why_nobody_takes(request_for("3.12", "h200"), {site_with("any", {"3.12"}, {""})}) ==
          "no agent takes it: bede has no accelerator");
    RequestReport six = request_for("3.12");
    six.package = "six";
    CHECK(why_nobody_takes(six, {with_recipes, named("archer2", site_with("any", {"3.11"}))}) ==
          "no agent takes it: archer2 builds for Python 3.11 only; bede takes only packages that it has a "
          "recipe for (claim_tasks in its site file)");
    six.package = "torch";
    CHECK(why_nobody_takes(six, {with_recipes}).empty());
    for (const auto& sites : {std::vector{site_with("any", {"3.12"}, {"gh200"})},
                              std::vector{site_with("", {"3.12"}, {"gh200"})},  // an older agent
                              std::vector{site_with("recipes", {}, {})}})
        CHECK(why_nobody_takes(request_for("3.12", "gh200"), sites).empty());
    CHECK(why_nobody_takes(request_for("3.12"), {site_with("any", {"3.12"}, {"gh200"}), site_with("no", {})})
              .empty());
}
