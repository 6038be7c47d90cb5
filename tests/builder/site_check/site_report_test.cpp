// What staff send back: no secret is in it, and a command that fails is shown as failed.
#include "builder/site_check/site_report.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

struct Place {
    base::TempDir folder = *base::TempDir::make("report");
    Site site;
    Place() {
        site.name = "demo";
        site.scheduler = find_scheduler_kind("slurm");
        site.state_directory = folder.path() / "state";
        site.work_directory = folder.path() / "work";
        site.launcher = "launch -n {ranks}";
        site.registry = RegistrySettings{"http://127.0.0.1:1", "demo", folder.path() / "token"};
        site.registry->promote_token_file = folder.path() / "promote-token";
        testing::write(folder.path() / "token", "wy_upload\n");
        testing::write(folder.path() / "promote-token", "wy_promote\n");
        testing::write(folder.path() / "site.toml", "x");
        program("sbatch", "echo slurm 22.05.8");
        program("sinfo", "echo 'gh 2-00:00:00 5 72 480000 gpu:1 (null)'");
        program("scontrol", "echo 'slurm_load_ctl_conf: wy_upload http://u:wy@h' >&2; exit 1");
        program("launch", "echo wy_promote");
    }
    void program(const std::string& name, const std::string& text) const {
        testing::write(folder.path() / "bin" / name, "#!/bin/sh\n" + text + "\n", 0755);
    }
    [[nodiscard]] SiteReport report() const {
        const auto made = make_site_report(
            site, folder.path() / "site.toml",
            {{"PATH", (folder.path() / "bin").string() + ":/usr/bin:/bin"}},
            {{"registry", false, "http://me:wy_upload@h", "replace wy_promote"}}, base::ManualClock(0));
        REQUIRE_MESSAGE(made.has_value(), made.error().text());
        return *made;
    }
};

TEST_CASE_FIXTURE(Place, "a report has the machine's answers and no token, in text and in JSON") {
    const SiteReport made = report();
    const auto partitions = std::find_if(made.machine.begin(), made.machine.end(),
                                         [](const auto& one) { return one.what.starts_with("partitions"); });
    REQUIRE(partitions != made.machine.end());
    CHECK(partitions->good);
    CHECK(partitions->answer == "gh 2-00:00:00 5 72 480000 gpu:1 (null)");
    const auto accounting = std::find_if(made.machine.begin(), made.machine.end(),
                                         [](const auto& one) { return one.what == "accounting"; });
    REQUIRE(accounting != made.machine.end());
    CHECK(!accounting->good);
    for (const std::string& text : {render_site_report(made), render_site_report_json(made)}) {
        CHECK(text.find("1970-01-01T00:00:00") != std::string::npos);
        CHECK(text.find("slurm 22.05.8") != std::string::npos);
        CHECK(text.find("(hidden)") != std::string::npos);
        CHECK(text.find("wy_") == std::string::npos);
    }
}

TEST_CASE_FIXTURE(Place, "only questions about the site's scheduler and accelerators are asked") {
    const auto asks = [this](const std::string& what) {
        const auto answers =
            ask_machine(site, {{"PATH", (folder.path() / "bin").string() + ":/usr/bin:/bin"}});
        return std::any_of(answers.begin(), answers.end(), [&](const auto& one) { return one.what == what; });
    };
    CHECK(asks("Slurm"));
    CHECK(!asks("PBS"));
    CHECK(!asks("GPU driver"));
    CHECK(asks("MPI launcher"));
    site.launcher = "";
    site.accelerators.emplace_back().kind = "cuda";
    CHECK(asks("GPU driver"));
    CHECK(!asks("MPI launcher"));
    site.accelerators.back().kind = "xpu";
    CHECK(asks("GPU driver"));
}

}  // namespace
}  // namespace wheelyard::builder
