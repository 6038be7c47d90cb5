#include "indexer/avail_wheels/cli.hpp"

#include <doctest/doctest.h>

#include "indexer/avail_wheels/table/table.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/version.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

namespace {

using Arguments = std::vector<std::string>;

const EnvironmentMap with_house{{"WHEELHOUSE", "/wheels"}};

Options options_of(const Arguments& arguments, const EnvironmentMap& environment = with_house) {
    auto parsed = parse_command_line(arguments, environment);
    if (const auto* leave = std::get_if<Leave>(&parsed)) FAIL(leave->text);
    return std::get<Options>(std::move(parsed));
}

Leave leave_of(const Arguments& arguments, const EnvironmentMap& environment = with_house) {
    auto parsed = parse_command_line(arguments, environment);
    REQUIRE(std::holds_alternative<Leave>(parsed));
    return std::get<Leave>(std::move(parsed));
}

std::vector<std::string> wanted_of(const Options& options) {
    std::vector<std::string> texts;
    for (const auto& one : options.query.wanted)
        texts.push_back(one.name + one.specifiers.text());
    return texts;
}

}  // namespace

TEST_CASE("without arguments, all projects are listed for the shell's Python if it has one") {
    CHECK(wanted_of(options_of({})) == Arguments{"*"});
    CHECK(options_of({}).query.pythons.empty());
    auto environment = with_house;
    environment["EBVERSIONPYTHON"] = "3.11.5";
    REQUIRE(options_of({}, environment).query.pythons.size() == 1);
    CHECK(options_of({}, environment).query.pythons[0].full == "3.11.5");
    CHECK(options_of({"--all-pythons"}, environment).query.pythons.empty());
    CHECK(options_of({"-p", "3.12", "3.13"}, environment).query.pythons.size() == 2);
}

TEST_CASE("--version alone prints the program's version; with a value it is the Alliance's option") {
    for (const char* word : {"--version", "-V"}) {
        CHECK(leave_of({word}).status == 0);
        CHECK(leave_of({word}).text.starts_with("avail_wheels "));
    }
    CHECK(wanted_of(options_of({"numpy", "--version", "1.21.3"})) == Arguments{"numpy==1.21.3"});
    CHECK(leave_of({"numpy", "--version"}).status == 2);
}

TEST_CASE("the help fits 100 columns") {
    const std::string help = leave_of({"--help"}).text;
    for (const auto line : base::split_lines(help))
        CHECK_MESSAGE(line.size() <= 100, line);
}

TEST_CASE("the Alliance's spellings and ours are the same options") {
    for (const char* spelling : {"--all_versions", "--all-versions"})
        CHECK(options_of({spelling}).query.all_versions);
    for (const char* spelling : {"--all_pythons", "--all-pythons", "--all_archs", "--all-archs"})
        CHECK(!options_of({spelling}).query.all_versions);
    CHECK(options_of({"--mediawiki"}).display.format == "mediawiki");
    CHECK(options_of({"--json"}).display.format == "json");
    CHECK(options_of({}).display.format == "simple");
    CHECK(options_of({"--column", "name", "abi", "--raw"}).display.rows.columns == Arguments{"name", "abi"});
    CHECK(options_of({}).display.rows.columns == Arguments{"name", "version", "python", "arch"});
    CHECK(wanted_of(options_of({"numpy", "-n", "scipy", "six"})) == Arguments{"numpy", "scipy", "six"});
}

TEST_CASE("an option may be abbreviated as in argparse, first among the Alliance's options") {
    CHECK(options_of({"--all-version"}).query.all_versions);
    CHECK(options_of({"--all_ver"}).query.all_versions);
    CHECK(options_of({"--forma", "github"}).display.format == "github");
    CHECK(options_of({"--form=github"}).display.format == "github");
    CHECK(options_of({"--col", "name"}).display.rows.columns == Arguments{"name"});  // not --color
    CHECK(wanted_of(options_of({"--vers", "1.0", "six"})) == Arguments{"six==1.0"});
    CHECK(options_of({"--med"}).display.format == "mediawiki");
    CHECK(options_of({"--wheelh", "/other"}).source.wheelhouse == "/other");
    CHECK(wanted_of(options_of({"--", "six"})) == Arguments{"six"});
    for (const char* ambiguous : {"--not", "--all-", "--co", "--"}) {
        CAPTURE(ambiguous);
        if (std::string(ambiguous) != "--") CHECK(leave_of({ambiguous}).status == 2);
    }
    // Exact options and values stay what they are.
    CHECK(options_of({"--all"}).query.everything);
    CHECK(options_of({"--not-available"}).display.rows.not_available);
}

TEST_CASE("values may follow = behind a short option, commas in lists, and python in the name of a Python") {
    CHECK(options_of({"-p=3.11"}).query.pythons.size() == 1);
    CHECK(options_of({"-p", "3.11,3.12"}).query.pythons.size() == 2);
    CHECK(options_of({"-p", "python3.11"}).query.pythons.at(0).minor == 11);
    CHECK(options_of({"-p", "py311"}).query.pythons.at(0).minor == 11);
    CHECK(options_of({"-a", "avx2,generic"}).query.archs == Arguments{"avx2", "generic"});
    CHECK(options_of({"--column", "name,abi"}).display.rows.columns == Arguments{"name", "abi"});
    CHECK(wanted_of(options_of({"-n=six"})) == Arguments{"six"});
    CHECK(wanted_of(options_of({"numpy>=1,<2"})) == Arguments{"numpy>=1,<2"});
}

TEST_CASE("an index may be a folder, as pip takes it, and spaces around an address do not count") {
    for (const char* place : {"file:///farm/simple", "/farm/simple", " file:///farm/simple"}) {
        CAPTURE(place);
        for (const auto& options :
             {options_of({"--index-url", place}), options_of({}, {{"PIP_INDEX_URL", place}})}) {
            CHECK(options.source.index_url == "");
            CHECK(options.source.wheelhouse == "/farm/simple");
        }
    }
    CHECK(options_of({"--index-url", "https://u/simple/ "}).source.index_url == "https://u/simple/");
}

TEST_CASE("a call without names lists the newest versions, also pre-releases") {
    CHECK(options_of({}).query.prereleases);
    CHECK_FALSE(options_of({"*"}).query.prereleases);
    CHECK_FALSE(options_of({"-n", "six"}).query.prereleases);
}

TEST_CASE("find-links of the Alliance's pip configuration come before the wheelhouse") {
    const auto folder = *base::TempDir::make("wheelyard-cli-test");
    const auto file = (folder.path() / "pip.conf").native();
    auto environment = with_house;
    environment["PIP_CONFIG_FILE"] = file;
    using Folders = std::vector<std::filesystem::path>;
    REQUIRE(base::replace_file(file,
                               "[wheel]\nfind-links = /house/gentoo/avx2 /house/gentoo/generic\n"
                               "[install]\nprefer-binary = true\n"));
    CHECK(options_of({}, environment).source.find_links ==
          Folders{"/house/gentoo/avx2", "/house/gentoo/generic"});
    CHECK(options_of({}, environment).source.wheelhouse == "");
    REQUIRE(base::replace_file(file, "[wheel]\nfind-links =\n  /a/generic\n  https://host/links\n"));
    CHECK(options_of({}, environment).source.find_links == Folders{"/a/generic"});
    CHECK(options_of({"--wheelhouse", "/other"}, environment).source.find_links.empty());
    for (const char* other :
         {"", "[install]\nfind-links = /a\n", "not an ini", "[wheel]\nno-index = true\n"}) {
        CAPTURE(other);
        REQUIRE(base::replace_file(file, other));
        CHECK(options_of({}, environment).source.wheelhouse == "/wheels");
    }
    environment["PIP_CONFIG_FILE"] = "/dev/null";
    CHECK(options_of({}, environment).source.wheelhouse == "/wheels");
}

TEST_CASE("-v is an exact version or a prefix, replaces a specifier, and lists every match") {
    CHECK(wanted_of(options_of({"numpy", "-v", "1.21.*"})) == Arguments{"numpy==1.21.*"});
    CHECK(wanted_of(options_of({"numpy<2", "--version", "1.21.3"})) == Arguments{"numpy==1.21.3"});
    CHECK(wanted_of(options_of({"-v", "1.21.3"})) == Arguments{"*==1.21.3"});
    CHECK(options_of({"numpy<2", "-v", "1.2*"}).query.wanted.at(0).version_glob == "1.2*");
    CHECK(wanted_of(options_of({"numpy<2", "-v", "*"})) == Arguments{"numpy"});
    CHECK(options_of({"numpy", "-v", "*"}).query.all_versions);
    CHECK(options_of({"numpy", "-v", "1.21.3"}).query.all_versions);
}

TEST_CASE("names on the command line replace the same names in files") {
    const auto folder = *base::TempDir::make("wheelyard-cli-test");
    const auto file = (folder.path() / "requirements.txt").native();
    REQUIRE(base::replace_file(file, "Flash-Attn==2.5\nnumpy<2\ntomli; python_version < '3.11'\n"));
    CHECK(wanted_of(options_of({"-r", file})) == Arguments{"Flash-Attn==2.5", "numpy<2", "tomli"});
    CHECK(wanted_of(options_of({"flash_attn", "-r", file})) == Arguments{"flash_attn", "numpy<2", "tomli"});
}

TEST_CASE("--all hides nothing and warns about the options that it overrides") {
    const auto options = options_of({"--all", "-a", "x86_64", "-v", "1.0", "-p", "3.11", "numpy<2"});
    CHECK(options.warning == "Ignoring --arch, --version and --python since --all is set.");
    CHECK(options.query.everything);
    CHECK(options.query.all_versions);
    CHECK(options.query.archs.empty());
    CHECK(options.query.pythons.empty());
}

TEST_CASE("after -p, names need a preceding --") {
    CHECK(wanted_of(options_of({"-p", "3.11", "--", "numpy"})) == Arguments{"numpy"});
    CHECK(options_of({"--all"}).warning == "");
    CHECK(options_of({"--all", "--here"}).warning ==
          "Ignoring the node since --all is set; --why says what runs there.");
    CHECK(options_of({"--all", "--here", "--why"}).warning == "");
}

TEST_CASE("command-line options take precedence over our variables, and those over pip's") {
    EnvironmentMap environment{{"PIP_INDEX_URL", "https://pip/simple"}};
    environment["PIP_EXTRA_INDEX_URL"] = "https://anna:secret@more/simple https://third/simple";
    CHECK(options_of({}, environment).warning ==
          "pip also looks in https://****@more/simple, https://third/simple, and this does not: name it with "
          "--index-url or --wheelhouse");
    CHECK(options_of({"--index-url", "https://other/simple"}, environment).warning == "");
    environment.erase("PIP_EXTRA_INDEX_URL");
    CHECK(options_of({}, environment).source.index_url == "https://pip/simple");
    environment["WHEELHOUSE"] = "/wheels";
    CHECK(options_of({}, environment).source.wheelhouse == "/wheels");
    CHECK(options_of({}, environment).source.index_url == "");
    environment["WHEELYARD_INDEX_URL"] = "https://farm/simple";
    CHECK(options_of({}, environment).source.index_url == "https://farm/simple");
    CHECK(options_of({}, environment).source.wheelhouse == "");
    CHECK(options_of({"--wheelhouse", "/other"}, environment).source.wheelhouse == "/other");
    CHECK(options_of({"--index-url", "https://u/simple"}, environment).source.index_url ==
          "https://u/simple");
    CHECK(leave_of({}, {}).status == 2);
    CHECK(leave_of({}, {}).text.find("--index-url") != std::string::npos);
}

TEST_CASE("an invalid choice exits with status 2 and lists the choices") {
    struct Case {
        Arguments arguments;
        const char* says;
    };
    for (const auto& [arguments, says] : {
             Case{{"--format", "excel"},
                  "invalid choice: `excel` (choose from simple, plain, github, tsv, mediawiki, html, csv, "
                  "json)"},
             Case{{"--column", "name", "size"}, "invalid choice: `size` (choose from name, version"},
             Case{{"-a", "avx3"}, "invalid choice: `avx3` (did you mean avx"},
             Case{{"-a", "amd64"}, "invalid choice: `amd64` (did you mean x86_64?"},
             Case{{"-a", "x86_64,arm64"}, "invalid choice: `arm64` (did you mean aarch64?"},
             Case{{"--assume", "machine=amd64"}, "wheels call this machine x86_64"},
             Case{{"-p", "2.7"}, "-p/--python: invalid choice: `2.7`"},
             Case{{"-p", "3.11", "numpy"}, "invalid choice: `numpy`"},
             Case{{"-v", "new"}, "-v/--version: not a version: `new`"},
             Case{{"numpy", "-v", "==1.26.4"}, "not a version: `==1.26.4`"},
             Case{{"numpy", "-v", ">=1.26"}, "other conditions follow a name"},
             Case{{"-all"}, "did you mean --all?"},
             Case{{"numpy", "-why"}, "did you mean --why?"},
             Case{{"-version"}, "did you mean --version?"},
             Case{{"-json=1"}, "did you mean --json=1?"},
             Case{{"--all-versions", "-v", "1.0"}, "--all-versions: cannot be used with -v/--version"},
             Case{{"--all-pythons", "-p", "3.11"}, "--all-pythons: cannot be used with -p/--python"},
             Case{{"--all_archs", "-a", "avx2"}, "--all-archs: cannot be used with -a/--arch"},
             Case{{"--lock", "pylock.toml", "numpy"}, "--lock: cannot be used with NAME"},
             Case{{"--lock", "pylock.toml", "-r", "requirements.txt"}, "--lock: cannot be used with NAME"},
             Case{{"--lock", "pylock.toml", "--all"}, "--lock: cannot be used with --all"},
             Case{{"--lock", "pylock.toml", "-v", "1.0"}, "--lock: cannot be used with -v/--version"},
             Case{{"--lock", "pylock.toml", "--raw"}, "--lock: cannot be used with --raw"},
             Case{{"--lock", "pylock.toml", "--request", "six"}, "--lock: cannot be used with --status"},
             Case{{"--lock-extra", "gpu"}, "--lock-extra: needs --lock"},
             Case{{"--lock-group", "dev", "-r", "pylock.toml"}, "--lock-group: needs --lock"},
             Case{{"--request-missing"}, "--request-missing: needs --lock"},
             Case{{"-r", "pylock.toml", "--request-missing"}, "--request-missing: needs --lock"},
             Case{{"--index-url", "http://x/", "--wheelhouse", "y"},
                  "--wheelhouse: cannot be used with --index-url"},
             Case{{"numpy=1.0"}, "numpy=1.0"},
             Case{{"--nonsense"}, "--nonsense"},
             Case{{"--formt", "github"}, "--formt; did you mean --format?"},
             Case{{"--not-avail"}, "did you mean --not-available or --not-available-only?"},
             Case{{"-f", "/wheels", "numpy"}, "-f; did you mean --wheelhouse?"},
             Case{{"-i", "https://farm/simple/"}, "did you mean --index-url?"},
             Case{{"--find-links=/wheels"}, "did you mean --wheelhouse?"},
             Case{{"--format", "githbu"}, "did you mean github? choose from simple"},
             Case{{"--format", "markdown"}, "did you mean github? choose from simple"},
             Case{{"torch", "--gpu", "a100"}, "--assume gpu=a100"},
             Case{{"torch", "--cuda=12.3"}, "--assume modules=cuda/12.2"},
             Case{{"torch", "--latest"}, "the newest version is what it lists"},
             Case{{"torch", "-U"}, "the newest version is what it lists"},
             Case{{"torch", "--csv"}, "a format is --format csv"},
             Case{{"torch", "--no-color"}, "--color never"},
             Case{{"torch", "--extra-index-url", "https://farm/simple/"}, "did you mean --index-url?"},
             Case{{"torch", "--on", "a100"}, "without one a GPU is --assume gpu=a100"},
             Case{{"--color", "sometimes"}, "--color: invalid choice: `sometimes`"},
             Case{{"-p", "3.11", "numpy"}, "put wheel names before -p"},
             Case{{"-a", "avx2", "numpy"}, "put wheel names before -a"},
             Case{{"--column", "name", "numpy"}, "put wheel names before --column"},
             Case{{"--assume", "gpu=a100", "numpy"}, "Put wheel names before --assume"},
             Case{{"-r", "/nowhere/requirements.txt"}, "/nowhere/requirements.txt"},
             Case{{"-p"}, "--python"},
         }) {
        const auto leave = leave_of(arguments);
        CHECK(leave.status == 2);
        CHECK_MESSAGE(leave.text.find(says) != std::string::npos, leave.text);
    }
}

TEST_CASE("help shows every option and examples; -V shows the version") {
    const auto help = leave_of({"-h"});
    CHECK(help.status == 0);
    for (const char* word : {"--all-versions", "--python", "--arch", "--requirement", "--not-available-only",
                             "--index-url", "--wheelhouse", "Examples:", "avail_wheels \"*cdf*\""}) {
        CHECK_MESSAGE(help.text.find(word) != std::string::npos, word);
    }
    for (const auto& format : table_formats())
        CHECK(help.text.find(format) != std::string::npos);
    CHECK(leave_of({"-V"}).text == base::version_text("avail_wheels") + "\n");
    CHECK(leave_of({"-V"}).status == 0);
}
