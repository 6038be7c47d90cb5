// The parts of site.toml with sources of their own: the rows of their keys, and the checks that rows share.
#pragma once

#include <string>
#include <string_view>

#include "builder/site/site.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/toml_rows.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/specifier.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

// What describes the machine: Pythons, modules, compilers, network, MPI, accelerators and node types.
[[nodiscard]] io::TomlRows<Site> machine_rows();

// [users]; builder/users/user_files.hpp renders the files for users from it.
[[nodiscard]] io::TomlRows<UserSettings> user_rows();
// Fills in the defaults that the site gives, and checks the names of its parts, which have been read.
void check_users(io::TomlTable table, Site& site);

// Notes where each key of a table was set, under `section` and its name.
void note_places(const io::TomlTable& table, const std::string& section, KeyPlaces& places);

inline bool is_version(const std::string& text) {
    return wheel::Version::parse(text).has_value();
}

inline bool is_one_line(const std::string& text) {
    return text.find_first_of("\r\n") == std::string::npos;
}

// One directive line of a batch system.
inline bool is_option(const std::string& text) {
    return text.starts_with('-') && is_one_line(text);
}
inline constexpr std::string_view option_form = "one option such as `--qos=standard` or `-l place=excl`";

// A URL, which may have {version} in it.
inline base::Result<base::Url> parse_template(const std::string& text) {
    return base::parse_url(base::replace_all(text, "{version}", "1"));
}

inline bool has_password(const std::string& text) {
    const auto url = parse_template(text);
    return url && !url->userinfo.empty();
}
inline constexpr const char* password_fault =
    "the URL contains a password, which job logs would show; remove it";

[[nodiscard]] inline io::TomlFacts project_facts(bool is_required) {
    return {.is_required = is_required,
            .check = io::must(wheel::is_valid_name, "a project name (PEP 508)"),
            .normal = wheel::normalize_name};
}

[[nodiscard]] inline io::TomlFacts environment_facts() {
    return {.name_check = io::must(is_environment_name, "the name of an environment variable")};
}

template <typename Owner>
[[nodiscard]] io::TomlRow<Owner> versions_key(wheel::SpecifierSet Owner::*of) {
    return io::parsed<wheel::SpecifierSet::parse>("versions", of, "a specifier such as `>=2.3,<2.6`",
                                                  {.type = "specifier", .fallback = "all"});
}

}  // namespace wheelyard::builder
