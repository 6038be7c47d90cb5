// Starts the namespace of a build of an uploaded source, and reports whether it holds.
#include "builder/site_check/site_check.hpp"

#include "builder/plan/plan.hpp"
#include "builder/script/separate_script.hpp"
#include "builder/site/python.hpp"
#include "builder/site/script_setup.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/simple/pip_config.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::string_view what = "uploaded sources";

SiteLine refused(const base::Error& error) {
    return {std::string(what), false, error.text(), error.advice};
}

base::Status check_settings(const Site& site, const EnvironmentMap& environment, uid_t user) {
    Pythons pythons;
    std::filesystem::path prefix;
    for (const auto& choice : site.pythons) {
        auto python = probe_python(choice, render_setup(site, &choice, nullptr, ""));
        if (python && prefix.empty()) prefix = python->prefix;
        pythons.emplace(choice.version, std::move(python));
    }
    WHEELYARD_ASSIGN(const auto pip, simple::read_pip_config(environment, prefix));
    return check_separation(site, pythons, simple::render_pip_conf(pip, environment), environment, user);
}

}  // namespace

std::optional<SiteLine> check_uploaded_sources(const Site& site, const EnvironmentMap& environment,
                                               uid_t user) {
    if (!site.uploaded_sources) return std::nullopt;
    if (const auto checked = check_settings(site, environment, user); !checked)
        return refused(checked.error());
    const auto folder = base::TempDir::make("wheelyard-check");
    if (!folder) return refused(folder.error());
    const auto written = base::make_directories(folder->path() / "separate");
    if (!written) return refused(written.error());
    if (const auto script =
            base::replace_file(folder->path() / "separate" / "probe.sh", "test -d /proc/self\n");
        !script)
        return refused(script.error());
    const MachineAnswer answer =
        query_machine("set -eu\nfolder=" + base::quote_shell(folder->path().string()) + "\n" +
                          render_namespaces(site) + "separately probe.sh",
                      environment);
    return SiteLine{std::string(what), answer.good,
                    answer.good ? "built in a namespace of " + site.uploaded_sources->bubblewrap.string() +
                                      ", " + describe_namespace_bounds(site)
                                : answer.last_line,
                    "ask the administrators for user namespaces (sysctl user.max_user_namespaces), or remove "
                    "[uploaded_sources] from site.toml"};
}

}  // namespace wheelyard::builder
