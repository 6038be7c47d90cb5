// Reports of sites as requirements.
#include "registry/prefetch/site_wants.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;
using registry::SiteWant;

namespace {

status::CellReport cell(std::string package, std::string version, std::string python,
                        std::string accelerator = {}, std::string purpose = {}) {
    return {.package = std::move(package),
            .version = std::move(version),
            .python = std::move(python),
            .accelerator = std::move(accelerator),
            .purpose = std::move(purpose),
            .state = "have",
            .reason = {},
            .attempt = {}};
}

}  // namespace

TEST_CASE("each build that sites want is one requirement for its Python") {
    status::IndexStatus reported{.index = "gh200", .sites = {}};
    status::SiteReport bede;
    bede.cells = {cell("torch", "2.4.0+cu124", "3.12", "h100"), cell("torch", "2.4.0", "3.12", "gh200"),
                  cell("torch", "2.4.0", "3.11"), cell("Mpi4Py", "4.0.1", "3.12")};
    status::SiteReport other;
    other.cells = {cell("torch", "2.4.0", "3.12"), cell("torch", "2.4.0", "3.12", "h100", "gpu-test"),
                   cell("torch", ">=2.5", "3.12"), cell("-", "1.0", "3.12")};
    reported.sites = {bede, other};
    CHECK(registry::wants_of(reported) == std::vector<SiteWant>{{"mpi4py", "4.0.1", "3.12"},
                                                                {"torch", "2.4.0", "3.11"},
                                                                {"torch", "2.4.0", "3.12"}});
    CHECK(registry::wants_of(reported).front().requirement() == "mpi4py==4.0.1");
    CHECK(registry::wants_of({.index = "gh200", .sites = {}}).empty());
}
