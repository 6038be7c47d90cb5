// The lines for crontab and scrontab: complete, quoted, and without secrets.
#include "builder/commands/commands.hpp"

#include <doctest/doctest.h>

#include "lib/base/process/process.hpp"

namespace wheelyard::builder {
namespace {

const CronInput input = {"/opt/wy/bin/wheelyard-builder",
                         "/home/a b/100%/site.toml",
                         "/home/state/tick.log",
                         {{"PATH", "/opt/slurm/bin:/usr/bin"},
                          {"SLURM_CONF", "/etc/slurm.conf"},
                          {"PBS_DEFAULT", "pbs1"},
                          {"HOME", "/home/a"},
                          {"SHELL", "/bin/zsh"},
                          {"AWS_SECRET", "hunter2"},
                          {"PIP_INDEX_URL", "https://me:hunter2@index/simple"}}};

TEST_CASE("a crontab line contains its environment and escapes percent signs") {
    CHECK(render_cron_line(input) ==
          "# Set in this shell, but not copied because they may contain secrets: PIP_INDEX_URL.\n"
          "# Every tick reads pip's configuration files (see `pip config list`).\n"
          "*/5 * * * * env PATH=/opt/slurm/bin:/usr/bin PBS_DEFAULT=pbs1 SLURM_CONF=/etc/slurm.conf "
          "/opt/wy/bin/wheelyard-builder "
          "tick --site '/home/a b/100\\%/site.toml' >> /home/state/tick.log 2>&1\n");
}

TEST_CASE(
    "the paths of certificates and of pip's configuration are copied: without them a tick reaches no index") {
    CronInput site = input;
    for (const char* name : {"SSL_CERT_FILE", "PIP_CERT", "PIP_CONFIG_FILE", "REQUESTS_CA_BUNDLE"}) {
        site.environment[name] = "/etc/our ca.pem";
        for (const auto& lines : {render_cron_line(site), render_scrontab_line(site)})
            CHECK_MESSAGE(lines.find(std::string(" ") + name + "='/etc/our ca.pem' ") != std::string::npos,
                          lines);
    }
    CHECK(render_cron_line(site).starts_with(
        "# Set in this shell, but not copied because they may contain secrets: PIP_INDEX_URL.\n"));
}

TEST_CASE("the lines have the site's interval of ticks") {
    CronInput often = input;
    often.tick_minutes = 2;
    CHECK(render_cron_line(often).find("\n*/2 * * * * env ") != std::string::npos);
    CHECK(render_scrontab_line(often).find("\n*/2 * * * * env ") != std::string::npos);
}

TEST_CASE("a scrontab line has the options of the tick's job") {
    const std::string lines = render_scrontab_line(input);
    CHECK(lines.find("#SCRON --job-name=wheelyard-tick --time=10 --ntasks=1\n") != std::string::npos);
    CHECK(lines.find("--account") == std::string::npos);
    CHECK(lines.find("#SCRON --output=/home/state/tick.log --open-mode=append\n") != std::string::npos);
    CHECK(lines.find("hunter2") == std::string::npos);
    CHECK(lines.find(">>") == std::string::npos);
}

TEST_CASE("a tick of scrontab stays for its steps, within its time limit, on the site's account") {
    CronInput site = input;
    site.account = "z19";
    site.max_step_minutes = 120;
    const std::string lines = render_scrontab_line(site);
    CHECK(lines.find(" --time=130 ") != std::string::npos);
    CHECK(lines.find("#SCRON --account=z19\n") != std::string::npos);
    CHECK(lines.ends_with("site.toml' --stay\n"));
    CHECK(render_cron_line(site).find("--stay") ==
          std::string::npos);  // under cron, the steps continue without it
}

TEST_CASE("a shell parses the command back to its words") {
    CronInput plain = input;
    plain.program = "/bin/echo";
    plain.log = "/dev/stdout";
    const std::string lines = render_cron_line(plain);
    const auto begin = lines.find("env ");
    const auto escape = lines.find("\\%", begin);
    REQUIRE(escape != std::string::npos);
    const std::string command =
        lines.substr(begin, escape - begin).append(lines, escape + 1);  // as cron passes it on
    const auto finished = base::run_command({{"/bin/sh", "-c", command}});
    REQUIRE(finished.has_value());
    CHECK(finished->out == "tick --site /home/a b/100%/site.toml\n");
}

}  // namespace
}  // namespace wheelyard::builder
