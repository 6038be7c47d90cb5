// The hash, over texts that end with a byte that none of them holds.
#include "builder/build_key.hpp"

#include <string_view>

#include "builder/limits.hpp"
#include "lib/base/digest.hpp"
#include "lib/base/file.hpp"
#include "lib/base/text.hpp"

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
    add("requires");
    for (const std::string& requirement : recipe.build_requires)
        add(requirement);
    return base::sha256_hex(text);
}

bool is_built_by(const AttemptFolder& folder, const std::string& key) {
    const auto there = base::read_file(folder.build_key(), longest_build_key_bytes);
    return there && base::trim(*there) == key;
}

}  // namespace wheelyard::builder
