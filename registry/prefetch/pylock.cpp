#include "registry/prefetch/pylock.hpp"

#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/io/toml.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::registry {
namespace {

tl::unexpected<base::Error> bad_lock(const io::TomlTable& package, std::string sentence, std::string value) {
    return base::fail("prefetch.lock", package.place() + ": " + std::move(sentence), std::move(value),
                      "a lock for `prefetch` has packages of indexes only, each with its version");
}

base::Result<LockedPackage> package_of(io::TomlTable& table) {
    const std::string name = table.string_or("name", "");
    const std::string version_text = table.string_or("version", "");
    auto version = wheel::Version::parse(version_text);
    if (!wheel::is_valid_name(name) || !version)
        return bad_lock(table, "The package has no valid name and version", name + " " + version_text);
    LockedPackage package{.project = wheel::normalize_name(name), .version = *std::move(version)};
    if (const std::string marker = table.string_or("marker", ""); !marker.empty()) {
        auto parsed = wheel::Marker::parse(marker);
        if (!parsed) return bad_lock(table, "The marker is invalid", marker);
        package.marker = *std::move(parsed);
    }
    for (io::TomlTable& wheel : table.tables("wheels")) {
        const std::string sha256 = wheel.table_or_empty("hashes").string_or("sha256", "");
        if (!base::is_sha256_hex(sha256)) return bad_lock(table, "A wheel has no valid SHA-256", sha256);
        package.sha256s.insert(sha256);
    }
    return package;
}

}  // namespace

bool is_pylock(const std::filesystem::path& file) {
    const std::string name = file.filename().native();
    return name.starts_with("pylock.") && name.ends_with("toml");
}

base::Result<std::vector<LockedPackage>> parse_pylock(std::string_view text,
                                                      const std::filesystem::path& file) {
    WHEELYARD_ASSIGN(auto document, io::TomlDocument::parse(text, file));
    std::vector<LockedPackage> packages;
    for (io::TomlTable& table : document.root().tables("packages")) {
        WHEELYARD_ASSIGN(LockedPackage package, package_of(table));
        packages.push_back(std::move(package));
    }
    return packages;  // no finish(): other keys belong to installers
}

}  // namespace wheelyard::registry
