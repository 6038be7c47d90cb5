// Provenance: which lines of a job's record are kept, and that secrets are hidden.
#include "builder/steps/provenance.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <ctime>
#include <filesystem>

#include "builder/attempt/limits.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

TEST_CASE("built_by is parsed; malformed and excess lines are omitted") {
    const auto found = parse_built_by(
        "host\tnid001\nsystem\tLinux 6.1 x86_64\nmodules\tgcc/12.2:cuda/12.3.2:\n"
        "tool\tc++\tc++ (GCC) 12.2.0\ntool\tninja\t1.11.1\ntool\tnvcc\t\ntool\todd\nwhat\tis this\n\n\t\n"
        "requirement\ta-1.0-py3-none-any.whl\tsha256:ab\nrequirement\todd\n");
    CHECK(found.host == "nid001");
    CHECK(found.system == "Linux 6.1 x86_64");
    CHECK(found.modules == std::vector<std::string>{"gcc/12.2", "cuda/12.3.2"});
    CHECK(found.tools == wire::NamedTexts{{"c++", "c++ (GCC) 12.2.0"}, {"ninja", "1.11.1"}});
    CHECK(found.requirements == wire::NamedTexts{{"a-1.0-py3-none-any.whl", "sha256:ab"}});
    CHECK(parse_built_by("").tools.empty());
    CHECK(parse_built_by("host\t\x1b[31mred\n").host == " [31mred");
    CHECK(parse_built_by("host\t" + std::string(10'000, 'x')).host.size() == max_error_line_bytes);
    std::string many;
    for (int i = 0; i < 1000; ++i)
        many += "tool\tt\t1.0\n";
    CHECK(parse_built_by(many).tools.size() == max_provenance_lines);
}

TEST_CASE("values are hidden if the name or the value looks secret") {
    const EnvironmentMap environment = {{"CC", "gcc"},
                                        {"API_TOKEN", "hunter2"},
                                        {"DB_PASSWORD", "hunter2"},
                                        {"AWS_SECRET_ACCESS_KEY", "hunter2"},
                                        {"MYSQL_PASS", "hunter2"},
                                        {"NPM_AUTH", "hunter2"},
                                        {"https_proxy", "http://me:hunter2@proxy:3128"},
                                        {"no_proxy", "localhost"}};
    const auto shown = without_secrets(environment);
    REQUIRE(shown.size() == environment.size());
    for (const auto& [name, value] : shown) {
        CAPTURE(name);
        CHECK(value.find("hunter2") == std::string::npos);
        CHECK((value == "(hidden)") == (name != "CC" && name != "no_proxy"));
    }
}

TEST_CASE("a build's outcome contains its machine and tools") {
    testing::Farm farm;
    farm.site.environment = {{"CC", "gcc"}, {"SITE_TOKEN", "hunter2"}};
    farm.site.compilers.cxx = "CC";
    Recipe recipe = farm.recipes.of("demo");
    recipe.build_environment = {{"DEMO_VERSION", "{version}"}};
    farm.recipes.add(recipe);
    farm.settle();
    const std::string text = testing::read(farm.journal->outcome_file(farm.attempts().back().id));
    const auto outcome = wire::parse_outcome(text);
    REQUIRE(outcome.has_value());
    CHECK(outcome->provenance.host == base::host_name());
    CHECK(outcome->provenance.system.starts_with("Linux "));
    CHECK(outcome->provenance.script_sha256.size() == 64);
    CHECK(text.find("hunter2") == std::string::npos);
    for (const char* expected : {"\"CC\": \"gcc\"", "\"CXX\": \"CC\"", "\"DEMO_VERSION\": \"1.0\""}) {
        CAPTURE(expected);
        CHECK(text.find(expected) != std::string::npos);
    }
}

TEST_CASE("an upload carries what made the wheel, without host and without variables beyond the list") {
    testing::Farm farm;
    farm.site.environment = {{"CC", "gcc"},
                             {"SITE_TOKEN", "hunter2"},
                             {"CFLAGS", "-I https://me:hunter2@host/"},
                             {"PROJECT_ACCOUNT", "secret-account"}};
    farm.settle();
    const Attempt attempt = farm.attempts().back();
    const std::string& text = farm.registry.provenance;
    const auto provenance = wire::parse_wheel_provenance(text);
    REQUIRE_MESSAGE(provenance.has_value(), provenance.error().text());
    CHECK(provenance->wheel.filename == attempt.wheel.filename);
    CHECK(provenance->wheel.sha256 == attempt.wheel.sha256);
    CHECK(provenance->site == farm.site.name);
    CHECK(provenance->attempt == attempt.id);
    CHECK(provenance->began == attempt.created);
    CHECK(provenance->source.sha256 == attempt.source.sha256);
    CHECK(provenance->build.script_sha256.size() == 64);
    CHECK(provenance->build.system.starts_with("Linux "));
    CHECK(provenance->log == "wheelyard-builder logs " + attempt.id);
    CHECK(provenance->recipe == "demo.toml");
    CHECK(provenance->recipe_sha256.empty());  // there is no such file
    CHECK(provenance->build.environment.front() == std::pair<std::string, std::string>("CC", "gcc"));
    // A host's name can be so short that an attempt's id holds it by chance: it is looked for as a value.
    CHECK(provenance->build.host.empty());
    for (const std::string& secret :
         {std::string("hunter2"), std::string("secret-account"), std::string("SITE_TOKEN"),
          std::string("HOME"), '"' + base::host_name() + '"'}) {
        CAPTURE(secret);
        CHECK(text.find(secret) == std::string::npos);
    }
}

TEST_CASE("a wheel's provenance has the digest of its recipe's file unless that was changed meanwhile") {
    const auto said = [](std::time_t changed) {
        testing::Farm farm;
        const fs::path file = farm.folder.path() / "demo.toml";
        testing::write(file, "package = \"demo\"\n");
        const std::array times{timespec{changed, 0}, timespec{changed, 0}};
        REQUIRE(::utimensat(AT_FDCWD, file.c_str(), times.data(), 0) == 0);
        NodeType node;
        node.name = "gh";
        farm.site.nodes = {node};
        farm.site.build_node = "gh";
        farm.settle();
        const auto provenance = wire::parse_wheel_provenance(farm.registry.provenance);
        REQUIRE_MESSAGE(provenance.has_value(), provenance.error().text());
        CHECK(provenance->recipe == "demo.toml");
        CHECK(provenance->node_type == "gh");
        return provenance->recipe_sha256;
    };
    CHECK(said(1'000'000'000) == base::sha256_hex("package = \"demo\"\n"));
    CHECK(said(4'000'000'000) == "");
}

}  // namespace
}  // namespace wheelyard::builder
