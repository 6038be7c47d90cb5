// SHA-256 over the settings, each terminated by a null byte, which none of them contains.
#include "builder/script/build_key.hpp"

#include <string_view>

#include "builder/script/limits.hpp"
#include "lib/base/digest.hpp"
#include "lib/base/file.hpp"
#include "lib/base/text.hpp"
#include "lib/base/untrusted_file.hpp"

namespace wheelyard::builder {

std::string build_key(const Site& site, const Recipe& recipe, const std::filesystem::path& python) {
    std::string text;
    const auto add = [&text](std::string_view part) { text.append(part).append(1, '\0'); };
    add(python.native());
    for (const auto* environment : {&site.environment, &recipe.build_environment}) {
        add("environment");
        for (const auto& [name, value] : *environment) {
            add(name);
            add(value);
        }
    }
    for (const auto& [name, list] :
         {std::pair{"requires", &recipe.build_requires}, std::pair{"before", &recipe.before},
          std::pair{"configure", &recipe.configure}, std::pair{"modules", &site.modules.load}}) {
        add(name);
        for (const std::string& item : *list)
            add(item);
    }
    for (const auto& accelerator : site.accelerators) {
        add(accelerator.name);
        for (const auto& module : accelerator.modules)
            add(module);
    }
    add(site.compilers.c);
    add(site.compilers.cxx);
    add(site.compilers.fortran);
    return base::sha256_hex(text);
}

bool is_built_by(const AttemptFolder& folder, const std::string& key) {
    const auto there = base::read_untrusted_file(folder.build_key(), max_build_key_bytes);
    return there && base::trim(*there) == key;
}

}  // namespace wheelyard::builder
