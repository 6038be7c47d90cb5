// `[pages]`: name, text, contact, colours, logo.

#include <doctest/doctest.h>

#include <filesystem>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "registry/config/config.hpp"

using namespace wheelyard;

namespace {

const std::string around = "config_version = 1\n[[index]]\nname = \"main\"\n[pages]\n";

}  // namespace

TEST_CASE("a farm's look is read, and its files are served under names with their hash") {
    const auto scratch = base::TempDir::make("pages").value();
    REQUIRE(base::replace_file(scratch.path() / "ours.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>"));
    const auto config = registry::parse_config(
        around +
            "name = \"Bede\"\ntext = \"Wheels\"\ncontact = \"a@example.org\"\ncolour = \"#7a0019\"\n"
            "colour_dark = \"#ffcc33\"\nlogo = \"ours.svg\"\n",
        scratch.path() / "registry.toml");
    REQUIRE_MESSAGE(config.has_value(), config.error().text());
    const registry::PagesConfig& look = config->look;
    CHECK(look.text == "Wheels");
    CHECK(look.contact == "a@example.org");
    CHECK(config->server.farm.name == "Bede");
    CHECK(look.style.find("--accent: light-dark(#7a0019, #ffcc33)") != std::string::npos);
    REQUIRE(config->server.farm_files.size() == 2);
    for (const auto& [name, bytes] : config->server.farm_files)
        CHECK(page::is_farm_file_name(name));
    CHECK(config->server.farm_files[1].first == config->server.farm.logo);
    CHECK(config->server.farm_files[1].second == look.logo);
}

TEST_CASE("without [pages] a farm looks like ours, and one colour alone is enough") {
    const auto plain = registry::parse_config(around, "/etc/wheelyard/registry.toml").value();
    CHECK(plain.server.farm.name.empty());
    CHECK(plain.server.farm_files.empty());
    const auto light =
        registry::parse_config(around + "colour = \"#7a0019\"\n", "/etc/wheelyard/registry.toml").value();
    CHECK(light.server.farm_files.size() == 1);
    CHECK(light.look.style.find("--accent: light-dark(#7a0019, #8fc0f8)") != std::string::npos);
}

TEST_CASE("what is wrong with a look is said with its key") {
    const auto scratch = base::TempDir::make("pages").value();
    const std::vector<std::pair<const char*, std::string>> files{
        {"text.svg", "no picture"},
        {"renamed.png", "<svg/>"},
        {"big.svg", "<svg>" + std::string(65'536, ' ')}};
    for (const auto& [name, bytes] : files)
        REQUIRE(base::replace_file(scratch.path() / name, bytes));
    struct Row {
        std::string line;
        const char* says;
    };
    const Row rows[] = {
        {"colour = \"red\"", "#rrggbb"},
        {"colour = \"#ffcc33\"", "choose a darker one"},
        {"colour_dark = \"#7a0019\"", "choose a lighter one"},
        {"logo = \"gone.svg\"", "cannot be read"},
        {"logo = \"logo.gif\"", ".svg or .png"},
        {"logo = \"text.svg\"", "not a picture of its type"},
        {"logo = \"renamed.png\"", "not a picture of its type"},
        {"logo = \"big.svg\"", "cannot be read"},
        {"text = \"" + std::string(2001, 'x') + "\"", "at most 2000 bytes"},
        {"color = \"#7a0019\"", "colour"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.line);
        const auto config =
            registry::parse_config(around + row.line + "\n", scratch.path() / "registry.toml");
        REQUIRE(!config);
        CHECK_MESSAGE(config.error().text().find(row.says) != std::string::npos, config.error().text());
        CHECK(config.error().text().find(":5:") != std::string::npos);
    }
}
