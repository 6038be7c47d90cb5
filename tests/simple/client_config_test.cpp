// The rendered texts, rejected input, and that our reader of pip's files parses them.
#include "lib/simple/client_config.hpp"

#include <doctest/doctest.h>

#include "lib/simple/pip_config.hpp"

namespace wheelyard::simple {
namespace {

const ClientSource farm{"bede-gh200", "https://wheels.test/bede-gh200/simple/"};
const ClientSource folder{"shared", "/shared/wheels/find-links"};
const ClientSource pages{"shared", "file:///shared/wheels/main/simple/"};

TEST_CASE("each client is configured for the index only") {
    CHECK(render_client_config(ClientKind::pip, farm) ==
          "[global]\nindex-url = https://wheels.test/bede-gh200/simple/\n");
    CHECK(render_client_config(ClientKind::uv, farm) ==
          "[[index]]\nname = \"bede-gh200\"\nurl = \"https://wheels.test/bede-gh200/simple/\"\ndefault = "
          "true\n");
    CHECK(render_client_config(ClientKind::poetry, farm) ==
          "[[tool.poetry.source]]\nname = \"bede-gh200\"\nurl = \"https://wheels.test/bede-gh200/simple/\"\n"
          "priority = \"primary\"\n");
    CHECK(render_client_config(ClientKind::pdm, farm) ==
          "[[tool.pdm.source]]\nname = \"pypi\"\nurl = \"https://wheels.test/bede-gh200/simple/\"\n");
}

TEST_CASE("our reader of pip's configuration parses the rendered pip.conf") {
    const auto read = [](const ClientSource& source) {
        const auto ini = parse_ini(render_client_config(ClientKind::pip, source), "pip.conf");
        REQUIRE(ini.has_value());
        return resolve_pip_config({}, {{PipFile{"env", "pip.conf"}, *ini}});
    };
    CHECK(read(farm).index_url() == farm.place);
    CHECK(read(folder).no_index());
    CHECK(read(pages).index_url() == pages.place);
    CHECK_FALSE(read(pages).no_index());
    CHECK(read(pages).trusted_hosts().empty());
    CHECK(read({"a", "http://10.0.0.1:8080/a/simple/"}).trusted_hosts() ==
          std::vector<std::string>{"10.0.0.1"});
    CHECK(read({"a", "http://127.0.0.1:8080/a/simple/"}).trusted_hosts().empty());
    CHECK(read({"a", "http://[::1]:8080/a/simple/"}).trusted_hosts().empty());
    CHECK(read({"a", "http://127.example.org/a/simple/"}).trusted_hosts() ==
          std::vector<std::string>{"127.example.org"});
}

TEST_CASE("a command line of pip trusts a plain HTTP index by name, and no other") {
    CHECK(pip_trust_option("http://wheels.example:8080/a/simple/") == " --trusted-host wheels.example");
    for (const char* place : {"https://wheels.example/a/simple/", "http://127.0.0.1:8080/a/simple/",
                              "http://localhost/a/simple/", "file:///shared/simple/", "/shared/wheels"})
        CHECK_MESSAGE(pip_trust_option(place).empty(), place);
}

TEST_CASE("of a private index every configuration says where the token goes, and has no secret in its URL") {
    const ClientSource lab{"lab", "https://wheels.example.org:8443/lab/simple/", true};
    for (const auto& file : client_files()) {
        const std::string text = render_client_config(file.kind, lab);
        CHECK(text.starts_with("# Only tokens may read this index."));
        CHECK(text.find("\n#     machine wheels.example.org login __token__ password TOKEN\n") !=
              std::string::npos);
        CHECK(text.find("https://wheels.example.org:8443/lab/simple/") != std::string::npos);
        CHECK(render_client_config(file.kind, {"lab", "/shared/wheels", true}).find("netrc") ==
              std::string::npos);
    }
}

TEST_CASE("a folder of wheels replaces an index where there is no server") {
    CHECK(render_client_config(ClientKind::uv, folder) ==
          "no-index = true\nfind-links = [\"/shared/wheels/find-links\"]\n");
    CHECK(render_client_config(ClientKind::pdm, folder).find("type = \"find_links\"") != std::string::npos);
    CHECK(render_client_config(ClientKind::pdm, {"a", "/wheels/für"}).find("\"file:///wheels/f%C3%BCr\"") !=
          std::string::npos);
}

TEST_CASE(
    "pages in a folder are an index for clients that can read them; for others the file explains why not") {
    CHECK(render_client_config(ClientKind::uv, pages) ==
          "[[index]]\nname = \"shared\"\nurl = \"file:///shared/wheels/main/simple/\"\ndefault = true\n");
    CHECK(render_client_config(ClientKind::pdm, pages) ==
          "[[tool.pdm.source]]\nname = \"pypi\"\nurl = \"file:///shared/wheels/main/simple/\"\n");
    for (const auto& source : {pages, folder})
        CHECK(render_client_config(ClientKind::poetry, source).starts_with("# poetry cannot read a folder"));
}

TEST_CASE("names and places that could break out of a file are rejected") {
    for (const auto& source :
         {ClientSource{"", farm.place}, ClientSource{"a b", farm.place}, ClientSource{"..", farm.place},
          ClientSource{"a\"b", farm.place}, ClientSource{"a", "ftp://h/"}, ClientSource{"a", "relative/path"},
          ClientSource{"a", "/new\nline"}, ClientSource{"a", "/my wheels"},
          ClientSource{"a", "https://me:secret@h/simple/"}, ClientSource{"a", ""},
          ClientSource{"a", "file://host/simple/"}, ClientSource{"a", "file:///my wheels/simple/"}})
        CHECK_MESSAGE(!check_client_source(source).has_value(), source.name << " " << source.place);
    CHECK(check_client_source(farm).has_value());
    CHECK(check_client_source(folder).has_value());
    CHECK(check_client_source(pages).has_value());
    CHECK(check_client_source({"a", "https://me:secret@h/simple/"}).error().text().find("secret") ==
          std::string::npos);
}

TEST_CASE("a modulefile for one node type has no conditions; one for several checks the node") {
    const std::vector<NodeType> one{{farm, "", ""}};
    const std::string plain = render_modulefile(ModuleKind::tcl, "Bede", "/opt/wheels", one);
    CHECK(plain.find("if ") == std::string::npos);
    CHECK(plain.find("setenv PIP_CONFIG_FILE [file join \"/opt/wheels\" $kind pip.conf]") !=
          std::string::npos);
    const std::vector<NodeType> two{{{"gh", farm.place}, "aarch64", "gh*.bede"},
                                    {{"x86", farm.place}, "", ""}};
    const std::string chosen = render_modulefile(ModuleKind::lmod, "Bede", "/opt/wheels", two);
    CHECK(chosen.find("if machine == \"aarch64\" and host:match(\"^gh.*%.bede$\") then\n    kind = \"gh\"") !=
          std::string::npos);
    CHECK(chosen.find("else\n    kind = \"x86\"\nend\n") != std::string::npos);
    CHECK(chosen.find("LmodError") == std::string::npos);
    const std::vector<NodeType> closed{{{"gh", farm.place}, "aarch64", ""}};
    CHECK(render_modulefile(ModuleKind::lmod, "Bede", "/opt/wheels", closed).find("LmodError") !=
          std::string::npos);
}

TEST_CASE("ambiguous node types are rejected") {
    const NodeType gh{{"gh", farm.place}, "aarch64", ""};
    const NodeType any{{"any", farm.place}, "", ""};
    CHECK(check_node_types({gh, any}).has_value());
    CHECK(check_node_types({any}).has_value());
    CHECK(!check_node_types({}).has_value());
    CHECK(!check_node_types({any, gh}).has_value());
    CHECK(!check_node_types({gh, gh}).has_value());
}

}  // namespace
}  // namespace wheelyard::simple
