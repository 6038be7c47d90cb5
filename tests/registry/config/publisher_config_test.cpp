// [[publisher]]: defaults and every complaint.
#include "registry/config/publisher_config.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"
#include "registry/config/config.hpp"

using namespace wheelyard;

namespace {

const std::string public_index =
    "config_version = 1\n[server]\npublic_url = \"https://wheels.example.org:8443/farm\"\n[[index]]\nname = "
    "\"main\"\n";
const std::string solver =
    "[[publisher]]\nname = \"solver\"\nissuer = \"https://gitlab.example.org\"\nindex = \"main\"\nprojects = "
    "[\"Solver_X\"]\n";
const std::string group = "claims = { project_path = \"hpc/solver\" }\n";

base::Result<registry::RegistryConfig> read_publishers_of(const std::string& text) {
    return registry::parse_config(text, "/etc/wheelyard/registry.toml");
}

std::string fault_of(const std::string& text) {
    const auto config = read_publishers_of(text);
    return config ? std::string() : config.error().text();
}

bool complains(const std::string& text, const std::string& part) {
    CAPTURE(fault_of(text));
    return fault_of(text).find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a publisher needs a name, an issuer, an index, projects and claims; the rest has its default") {
    const auto config = read_publishers_of(public_index + solver + group);
    REQUIRE_MESSAGE(config.has_value(), config.error().text());
    REQUIRE(config->publishers.size() == 1);
    const registry::PublisherConfig& publisher = config->publishers.front();
    CHECK(publisher.provider.client_id == "wheels.example.org");
    CHECK(publisher.projects == std::vector<std::string>{"solver-x"});
    CHECK(publisher.claims ==
          std::vector<std::pair<std::string, std::string>>{{"project_path", "hpc/solver"}});
    CHECK_FALSE(publisher.pull_requests);
    CHECK(publisher.azp.empty());
    CHECK(read_publishers_of(public_index + solver + group + "azp = \"ci\"\n")->publishers.front().azp ==
          "ci");
    CHECK(complains(public_index + solver + group + "azp = \"\"\n", "the client of the service account"));
    CHECK_FALSE(publisher.provider.has_logins);
    CHECK(read_publishers_of(public_index)->publishers.empty());
    CHECK(complains(public_index + solver, "says what a token must claim"));
    CHECK(complains(
        public_index + "[[publisher]]\nname = \"a\"\nissuer = \"https://i\"\nindex = \"main\"\n" + group,
        "names the projects"));
    CHECK(complains("config_version = 1\n[[index]]\nname = \"main\"\n" + solver + group,
                    "needed without `public_url`"));
    CHECK(complains(public_index + solver + group + solver + group, "another [[publisher]] has this name"));
}

TEST_CASE("a claim is an exact text, of which only a ref may end in a star") {
    const auto with = [](const std::string& claims) {
        return public_index + solver + "claims = " + claims + "\n";
    };
    CHECK(fault_of(with("{ project_path = \"a/b\", ref_path = \"refs/tags/v*\" }")) == "");
    CHECK(fault_of(with("{ job_workflow_ref = \"o/r/.github/workflows/f.yml@refs/tags/*\" }")) == "");
    for (const char* wrong : {"*", "hpc/*", "refs/*/x", "*refs/", ""}) {
        CAPTURE(wrong);
        CHECK(complains(with("{ project_path = \"" + std::string(wrong) + "\" }"), "only a ref may end in"));
    }
    CHECK_FALSE(fault_of(with("{ project_id = 7 }")).empty());
}

TEST_CASE("of an issuer that everybody has tokens of, a claim says whose they are") {
    const std::string open =
        "[[publisher]]\nname = \"o\"\nissuer = \"https://token.actions.githubusercontent.com\"\nindex = "
        "\"main\"\nprojects = [\"*\"]\nclaims = { ";
    CHECK(complains(public_index + open + "environment = \"release\" }\n", "everybody has tokens"));
    // A workflow that others may call does not say who called it.
    CHECK(complains(public_index + open + "job_workflow_ref = \"o/r/f.yml@refs/heads/main\" }\n",
                    "everybody has tokens"));
    CHECK(fault_of(public_index + open + "repository_id = \"7\" }\n") == "");
}

TEST_CASE("tables of one issuer say the same of it") {
    std::string second = solver;
    second.replace(second.find("solver"), 6, "second");
    CHECK(fault_of(public_index + solver + group + second + group) == "");
    CHECK(complains(public_index + solver + group + second + "audience = \"x\"\n" + group,
                    "another table has this issuer"));
    const std::string people =
        "[[identity]]\nname = \"lab\"\nissuer = \"https://gitlab.example.org\"\nclient_id = \"wheelyard\"\n";
    const std::string rule =
        "[[identity.allow]]\neveryone = true\nindexes = [\"main\"]\nactions = [\"read\"]\n";
    CHECK(fault_of(public_index + people + rule + solver + group) == "");
    CHECK(complains(public_index + people + "allow_private = true\n" + rule + solver + group,
                    "another table has this issuer"));
}

TEST_CASE("the tables of the how-to are good") {
    const std::string page =
        base::read_file(std::string(WHEELYARD_TEST_DATA) + "/../docs/how-to/publish-from-ci.md", 1u << 20)
            .value();
    const std::string start = "```toml\n";
    int tables = 0;
    for (std::size_t at = page.find(start); at != std::string::npos; at = page.find(start, at)) {
        at += start.size();
        const std::string table = page.substr(at, page.find("```", at) - at);
        CAPTURE(table);
        const bool has_server = table.find("[server]") != std::string::npos;
        CHECK(fault_of(has_server ? "config_version = 1\n" + table + "[[index]]\nname = \"main\"\n"
                                  : public_index + table) == "");
        ++tables;
    }
    CHECK(tables == 3);
}
