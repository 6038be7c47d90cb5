// SHA-256 over the settings, each terminated by a null byte, which none of them contains.
#include "builder/script/build_key.hpp"

#include <string_view>
#include <system_error>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::size_t max_build_key_bytes = 128;

}  // namespace

std::string build_key(const Site& site, const Recipe& recipe, const std::filesystem::path& python,
                      const std::vector<std::string>& constraints) {
    std::string text;
    const auto add = [&text](std::string_view part) { text.append(part).append(1, '\0'); };
    const auto add_all = [&add](std::string_view name, const std::vector<std::string>& list) {
        add(name);
        for (const std::string& item : list)
            add(item);
    };
    const auto add_environment = [&add](const Environment& environment) {
        add("environment");
        for (const auto& [name, value] : environment) {
            add(name);
            add(value);
        }
    };
    add(python.native());
    add_environment(site.environment);
    add_environment(recipe.build_environment);
    add_all("requires", recipe.build_requires);
    add_all("constraints", constraints);
    add_all("before", recipe.before);
    add_all("configure", recipe.configure);
    add_all("front end", {recipe.front_end});
    for (const auto& beside : recipe.beside)
        add_all("beside", {beside.name, beside.url, beside.tag, beside.sha256});
    for (const auto& patches : recipe.patches) {
        if (!patches.series.empty()) add_all("series", {patches.series});
    }
    add_all("home", {home_of(site, recipe) == BuildHome::own ? "own" : "user"});
    add_all("modules", site.modules.load);
    add_all("module command", {site.modules.init, site.modules.purge ? "purge" : ""});
    add_all("folders of modules", site.modules.use);
    add_environment(site.modules.environment);
    for (const auto& choice : site.pythons)
        add_all(choice.version, choice.modules);
    for (const auto& accelerator : site.accelerators) {
        add_all(accelerator.name, accelerator.modules);
        add_environment(accelerator.environment);
    }
    add_all("compilers",
            {site.compilers.c, site.compilers.cxx, site.compilers.fortran, site.compilers.mpi_c});
    return base::sha256_hex(text);
}

bool is_built_by(const AttemptFolder& folder, const std::string& key) {
    const auto there = base::read_untrusted_file(folder.build_key(), max_build_key_bytes);
    return there && base::trim(*there) == key;
}

bool is_tree_ready(const AttemptFolder& folder) {
    std::error_code error;
    return std::filesystem::exists(std::filesystem::symlink_status(folder.build() / tree_ready_file, error));
}

}  // namespace wheelyard::builder
