#include "indexer/avail_wheels/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "indexer/avail_wheels/farm.hpp"
#include "indexer/avail_wheels/source/wheel_list_cache.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/wheel_list.hpp"
#include "tests/support/golden.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

namespace {

// An index with pages but no wheel list on host `farm`; other hosts are not reachable. One on host `mirror` has packaging in
// its wheel list, and torch on its pages alone.
// Host `registry` has front pages: as JSON for who asks for that, else as HTML, as the registry's own.
base::Result<io::HttpAnswer> answer_of_index(const std::string& url, const io::HttpHeaders& headers,
                                             const io::BodyLimit& limit) {
    io::HttpAnswer answer;
    if (url.find(' ') != std::string::npos) return base::fail("url.invalid", "this is not an HTTP URL", url);
    if (url.starts_with("https://registry/")) {
        answer.status = url == "https://registry/main/simple/" ? 200 : 404;
        answer.headers = {{"content-type", "text/html"}};
        if (url == "https://registry/" || url == "https://registry/main/") {
            answer.status = 200;
            answer.headers = {{"content-type", "application/json"}};
            answer.body = R"({"format":"wheelyard.indexes/1","indexes":[{"name":"main","url":)"
                          R"("https://registry/main/simple/"}]})";
            if (!headers.front().second.starts_with("application/json")) {
                answer.headers = {{"content-type", "text/html"}};
                answer.body = R"(<a href="main/project/">main</a><a href="b/">1 being built now</a>)";
            }
        }
        if (url.find("/closed/") != std::string::npos || url.find("//simple/") != std::string::npos) {
            answer.status = url.find("/closed/") != std::string::npos ? 404 : 400;
            answer.body = R"({"code":"x","detail":"The registry says why.","advice":"do this"})";
        }
        return answer;
    }
    if (url == std::string("https://mirror/simple/").append(simple::wheel_list_name)) {
        answer.status = 200;
        answer.final_url = url;
        simple::WheelListProject kept{"packaging", 1, {}, "\n"};
        kept.lines = simple::render_wheel_list_line(
            {"packaging-24.1-py3-none-any.whl", false, {}, {}, 0, 12, std::string(64, 'a')});
        WHEELYARD_TRY((*limit.sink)(simple::render_wheel_list({.serial = 3, .index = "mirror"}, {kept})));
        return answer;
    }
    if (!url.starts_with("https://farm/") && !url.starts_with("http://farm/") &&
        !url.starts_with("https://mirror/") && !url.starts_with("https://anna:secret@farm/"))
        return base::fail("http.connect", "Nobody answers");
    const bool is_packaging = url == "https://mirror/simple/packaging/";
    const bool is_torch = url.ends_with("farm/simple/torch/") || url == "https://mirror/simple/torch/";
    answer.status = is_packaging || is_torch ? 200 : url == "https://mirror/simple/failing/" ? 503 : 404;
    answer.headers = {{"content-type", "text/html"}};
    answer.final_url = url;
    answer.body = R"(<a href="torch-2.4.0-cp312-cp312-linux_aarch64.whl">x</a>)"
                  R"(<a href="torch-2.3.0-cp312-cp312-linux_aarch64.whl">x</a>)";
    if (is_packaging)
        answer.body = R"(<a href="packaging-24.1-py3-none-any.whl">x</a>)"
                      R"(<a href="packaging-24.2-py3-none-any.whl">x</a>)";
    return answer;
}

// A wheelhouse in the Alliance's layout.
struct Wheelhouse {
    base::TempDir folder = *base::TempDir::make("wheelyard-run-test");
    EnvironmentMap environment{{"WHEELHOUSE", folder.path().native()}};
    bool err_is_terminal = false;
    PostDocument post = {};
    ReadWheelFile read_wheel = {};
    std::size_t out_columns = 0;

    Wheelhouse() {
        for (const char* path :
             {"generic/h5netcdf-0.7.4-py2.py3-none-any.whl", "avx2/netCDF4-1.5.8-cp39-cp39-linux_x86_64.whl",
              "avx2/netCDF4-1.5.7-cp39-cp39-linux_x86_64.whl", "generic/packaging-21.3-py3-none-any.whl",
              "generic/tabulate-0.8.10-py3-none-any.whl",
              "generic/numpy-1.22.2+computecanada-cp310-cp310-linux_x86_64.whl",
              "generic/numpy-1.22.2+computecanada-cp39-cp39-linux_x86_64.whl",
              "avx2/numpy-1.21.0+computecanada-1-cp39-cp39-linux_x86_64.whl",
              "torch-2.4.0+cu126-cp312-cp312-linux_aarch64.whl"}) {
            std::filesystem::create_directories((folder.path() / path).parent_path());
            REQUIRE(base::replace_file(folder.path() / path, "wheel"));
        }
    }
    struct Ran {
        int status;
        std::string out;
        std::string err;
    };
    Ran run(const std::vector<std::string>& arguments) const {
        World world;
        world.environment = environment;
        world.probe = {folder.path() / "root", environment, "login1", "x86_64", base::run_command};
        world.clock = &clock;
        world.get = answer_of_index;
        world.post = post;
        world.read_wheel = read_wheel;
        world.user = "anna";
        world.err_is_terminal = err_is_terminal;
        world.out_columns = out_columns;
        std::ostringstream out;
        std::ostringstream err;
        bool wants_pager = false;
        const int status = avail_wheels::run(arguments, world, out, err, wants_pager);
        return {status, out.str(), err.str()};
    }
    mutable base::ManualClock clock{1'000'000'000};
};

}  // namespace

TEST_CASE("the default output is the Alliance's, byte for byte") {
    const Wheelhouse house;
    const auto ran = house.run({"*cdf*"});
    CHECK(ran.status == 0);
    CHECK(ran.err == "");
    CHECK(ran.out ==
          "name      version    python    arch\n"
          "--------  ---------  --------  -------\n"
          "h5netcdf  0.7.4      py2,py3   generic\n"
          "netCDF4   1.5.8      cp39      avx2\n");
}

TEST_CASE("of several names, those without a wheel are named on standard error") {
    Wheelhouse house;
    const auto file = house.folder.path() / "requirements.txt";
    REQUIRE(base::replace_file(file, "tabulate\npip\npackaging\n"));
    CHECK(house.run({"-r", file.native()}).err == "avail_wheels: 1 of 3 has no wheel: pip\n");
    CHECK(house.run({"tabulate", "sklearn", "scipy"}).err ==
          "avail_wheels: 2 of 3 have no wheel: scipy, sklearn\n");
    CHECK(house.run({"tabulate", "packaging"}).err == "");
    CHECK(house.run({"scipy"}).err == "");
    CHECK(house.run({"-r", file.native(), "--not-available"}).err == "");
    CHECK(house.run({"-r", file.native(), "--not-available-only"}).err == "");
    house.err_is_terminal = true;
    const std::string steps = house.run({"tabulate", "packagin"}).err;
    CHECK(steps.find("1 of 2 has no wheel: packagin\n") != std::string::npos);
    CHECK(steps.find("There is no packagin here.") != std::string::npos);
    CHECK(steps.find("tabulate") == std::string::npos);
}

TEST_CASE("a module's name lists the wheels of its project") {
    const Wheelhouse house;
    REQUIRE(
        base::replace_file(house.folder.path() / "generic/PyYAML-6.0-cp39-cp39-linux_x86_64.whl", "wheel"));
    const auto ran = house.run({"yaml", "tabulate"});
    CHECK(ran.out.find("PyYAML") != std::string::npos);
    CHECK(ran.err == "");
}

TEST_CASE("a requirement without a wheel has its own row") {
    const Wheelhouse house;
    const auto file = house.folder.path() / "requirements.txt";
    REQUIRE(base::replace_file(file, "tabulate\npip\npackaging\n"));
    CHECK(house.run({"-r", file.native(), "--not-available"}).out ==
          "name       version    python    arch\n"
          "---------  ---------  --------  -------\n"
          "packaging  21.3       py3       generic\n"
          "pip\n"
          "tabulate   0.8.10     py3       generic\n");
}

TEST_CASE("a requirement counts if its marker holds for a Python and the machine") {
    const Wheelhouse house;
    const auto file = house.folder.path() / "requirements.txt";
    REQUIRE(base::replace_file(
        file,
        "tabulate; platform_machine == 'x86_64'\npackaging; platform_machine == 'aarch64'\n"
        "h5netcdf; python_version < '3.11'\n"));
    const auto lists = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), {"-r", file.native(), "--not-available"});
        std::string names;
        for (const char* name : {"h5netcdf", "packaging", "tabulate"})
            if (house.run(arguments).out.find(name) != std::string::npos) names += std::string(name) + " ";
        return names;
    };
    CHECK(lists({}) == "h5netcdf tabulate ");  // of every Python, on this machine
    CHECK(lists({"-p", "3.9"}) == "h5netcdf tabulate ");
    CHECK(lists({"-p", "3.12"}) == "tabulate ");
    CHECK(lists({"-p", "3.12", "--all-arch"}) == "packaging tabulate ");
    REQUIRE(base::replace_file(file, "tabulate; python_version < '3.11'\n"));
    CHECK(lists({"-p", "3.12"}).empty());  // does not fall back to all projects
}

TEST_CASE("an unreadable source gives status 1 with a reason and no table") {
    Wheelhouse house;
    house.environment["WHEELHOUSE"] = "/nowhere/wheels";
    const auto ran = house.run({});
    CHECK(ran.status == 1);
    CHECK(ran.out == "");
    CHECK(ran.err.find("avail_wheels: ") == 0);
    CHECK(ran.err.find("/nowhere/wheels") != std::string::npos);
}

TEST_CASE("errors go to standard error, help to standard output") {
    const Wheelhouse house;
    CHECK(house.run({"--nonsense"}).out == "");
    CHECK(house.run({"--nonsense"}).status == 2);
    CHECK(house.run({"--help"}).err == "");
    CHECK(house.run({"--all", "-p", "3.9"}).err ==
          "Ignoring --arch, --version and --python since --all is set.\n");
}

namespace {

// A published index with the needs of its wheels, at a site with two node types.
struct Farm : Wheelhouse {
    Farm() {
        struct Wheel {
            const char* filename;
            const char* facts;
        };
        const auto project = [](const std::string& key, const std::vector<Wheel>& wheels) {
            simple::WheelListProject made{key, wheels.size(), {}, {}};
            for (const auto& wheel : wheels) {
                made.lines +=
                    simple::render_wheel_list_line({wheel.filename,
                                                    false,
                                                    {},
                                                    ">=3.9",
                                                    base::parse_rfc3339("2026-11-20T12:00:00Z").value(),
                                                    12,
                                                    std::string(64, 'a')});
                made.facts += std::string(wheel.facts) + "\n";
            }
            return made;
        };
        constexpr const char* for_a100 =
            R"({"symbol_floors":{"GLIBC":"2.28"},"cuda_sm":["sm_80"],"modules":["cuda/12.2","openmpi/4.1.6"],)"
            R"("needed":{"cuda":["libcudart.so.12"],"mpi":["libmpi.so.40"]}})";
        const std::string text = simple::render_wheel_list(
            {.serial = 3, .written = "2026-11-20T12:00:00.000000Z", .index = "main"},
            {project("packaging", {{"packaging-24.1-py3-none-any.whl", ""}}),
             project("torch",
                     {{"torch-2.4.0+cu126-cp312-cp312-linux_aarch64.whl", R"({"cuda_sm":["sm_90"]})"},
                      {"torch-2.4.0+cu126-cp311-cp311-linux_x86_64.whl", for_a100},
                      {"torch-2.3.0-cp312-cp312-linux_aarch64.whl", R"({"cuda_sm":["sm_80"]})"},
                      {"torch-1.10.0-cp312-cp312-linux_aarch64.whl", ""}})});
        const auto index = folder.path() / "tree" / "main" / "simple";
        std::filesystem::create_directories(index);
        REQUIRE(base::replace_file(index / simple::wheel_list_name, text));
        std::filesystem::create_directories(folder.path() / "requests");
        REQUIRE(base::replace_file(folder.path() / "status.json",
                                   R"({"format":"wheelyard.index-status/1","index":"main","sites":[)"
                                   R"({"format":"wheelyard.site/1","site":"bede","index":"main",)"
                                   R"("time":"1970-01-01T00:10:00Z","next_tick":"1970-01-01T00:15:00Z",)"
                                   R"("nodes":[{"name":"gh200","accelerator":"h100","machine":"aarch64"}],)"
                                   R"("cells":[)"
                                   R"({"package":"torch","version":"2.6.0","python":"3.12",)"
                                   R"("accelerator":"h100","state":"given up","reason":"out of memory"},)"
                                   R"({"package":"six","version":"1.17","python":"3.12",)"
                                   R"("state":"active","reason":"building","attempt":"w1"},)"
                                   R"({"package":"numpy","version":"2.1","python":"3.12",)"
                                   R"("state":"active","attempt":"w2"}],"attempts":[)"
                                   R"({"id":"w2","package":"numpy","version":"2.1","python":"3.12",)"
                                   R"("state":"running","phase":"build","done":3,"total":9}]}]})"));
        REQUIRE(base::replace_file(folder.path() / "site.toml", R"(config_version = 1
wheelhouse = "tree/main"
python_module = "python/{version}"
status = ")" + (folder.path() / "status.json").native() + R"("
requests = "requests"
[node.gh200]
machine = "aarch64"
glibc = "2.34"
gpus = ["sm_90"]
driver = "550.54.15"
pythons = ["3.12"]
modules = []
[node.a100]
machine = "x86_64"
glibc = "2.28"
cpu = "x86-64-v3"
gpus = ["8.0"]
driver = "550.54.15"
pythons = ["3.11"]
modules = ["openmpi/4.1.5"]
[[known_bad]]
package = "torch"
versions = "==1.10.*"
reason = "c10::Error at import"
advice = "use 1.9.1"
)"));
        environment = {{"WHEELYARD_SITE", (folder.path() / "site.toml").native()}};
    }
};

}  // namespace

TEST_CASE("a node type lists what runs on it, and --why explains the rest") {
    const Farm farm;
    CHECK(farm.run({"torch", "--on", "gh200", "--raw"}).out ==
          "torch-2.4.0+cu126-cp312-cp312-linux_aarch64.whl\n");
    CHECK(farm.run({"torch", "--on", "a100", "--raw"}).out ==
          "torch-2.4.0+cu126-cp311-cp311-linux_x86_64.whl\n");
}

namespace {

enum class Place { house, farm };
struct Agreed {
    const char* golden;
    Place place;
    std::vector<std::string> arguments;  // "FOLDER": the folder of the wheelhouse or the farm
};

const std::vector<Agreed>& agreed() {
    using enum Place;
    static const std::vector<Agreed> cases{
        {"run_everything", house, {}},
        {"run_no_match", house, {"nothing"}},
        {"run_name", house, {"numpy", "-n", "Tabulate", "*cdf*"}},
        {"run_requirement", house, {"-r", "FOLDER/requirements.txt", "--not-available"}},
        {"run_all", house, {"--all", "-p", "3.9"}},
        {"run_all_versions", house, {"numpy", "--all-versions"}},
        {"run_all_pythons", house, {"numpy", "--all-pythons"}},
        {"run_all_archs", house, {"netcdf4", "--all_archs"}},
        {"run_specifier", house, {"numpy<1.22"}},
        {"run_version", house, {"netcdf4", "-v", "1.5.*"}},
        {"run_python", house, {"numpy", "-p", "3.9"}},
        {"run_arch", house, {"-a", "avx2"}},
        {"run_columns",
         house,
         {"numpy", "--all-versions", "--column", "name", "version", "localversion", "build", "python", "abi",
          "platform", "arch"}},
        {"run_condense", house, {"--all-versions", "--condense"}},
        {"run_raw", house, {"numpy", "--all-versions", "--raw"}},
        {"run_not_available", house, {"zlib", "numpy", "a-b.c", "packaging", "--not-available"}},
        {"run_not_available_only", house, {"numpy", "pip", "--not-available-only"}},
        {"run_raw_not_available", house, {"numpy", "pip", "--raw", "--not-available"}},
        {"run_csv", house, {"--format", "csv"}},
        {"run_mediawiki", house, {"torch", "--mediawiki", "--all-archs"}},
        {"run_json", house, {"numpy", "pip", "--json"}},
        {"run_wheelhouse", farm, {"--wheelhouse", "FOLDER/avx2", "--no-pager"}},
        {"run_index_url",
         house,
         {"--index-url", "https://farm/simple/", "torch", "numpy", "--not-available", "--all-archs"}},
        {"run_refresh",
         house,
         {"--index-url", "https://farm/simple/", "torch", "--raw", "--refresh", "--all-archs"}},
        {"run_on", farm, {"--on", "a100"}},
        {"run_here", farm, {"--here", "--json", "-p", "3.11"}},
        {"run_assume", farm, {"torch", "--assume", "machine=aarch64", "gpu=sm_80", "--why"}},
        {"run_why_gh200", farm, {"torch", "--why", "--on", "gh200", "--all-versions"}},
        {"run_why_a100", farm, {"torch", "--why", "--on", "a100"}},
        {"run_why_module", farm, {"torch", "--why", "--on", "a100", "--assume", "modules=gcc/12.3"}},
        {"run_why_driver", farm, {"torch", "--why", "--on", "gh200", "--assume", "driver=520.61.05"}},
        {"run_why_unknown", farm, {"torch", "--why", "--on", "a100", "--column", "name", "runs", "why"}},
        {"run_modules", farm, {"torch", "--modules"}},
        {"run_modules_raw", farm, {"torch", "--modules", "--raw"}},
        {"run_install_line", farm, {"torch", "packaging", "--on", "gh200", "--install-line"}},
        {"run_status", farm, {"--site", "FOLDER/site.toml", "--status"}},
        {"run_status_json", farm, {"--status", "six", "--json"}},
        {"run_request", farm, {"--request", "torch==2.6", "six", "-p", "3.12"}},
        {"run_lock", farm, {"--lock", "FOLDER/pylock.toml", "--on", "gh200"}},
        {"run_lock_json", farm, {"--lock", "FOLDER/pylock.toml", "--on", "gh200", "--json"}},
        {"run_lock_missing",
         farm,
         {"--lock", "FOLDER/pylock.toml", "--on", "a100", "--not-available-only", "--request-missing"}},
        {"run_lock_extra",
         farm,
         {"--lock", "FOLDER/pylock.toml", "--on", "gh200", "--lock-extra", "colours", "--lock-group", "dev"}},
        {"run_web", farm, {"torch", "--web", "--on", "gh200", "--index-url", "https://farm/main/simple/"}},
        {"run_web_json",
         farm,
         {"--web", "--on", "gh200", "--json", "--index-url", "https://farm/main/simple/"}},
        {"run_color", farm, {"torch", "--color", "always"}},
        {"completion_bash", house, {"--completion", "bash"}},
        {"completion_zsh", house, {"--completion", "zsh"}},
        {"completion_fish", house, {"--completion", "fish"}},
        {"manual", house, {"--man"}},
        {"help", house, {"--help"}},
        {"run_program_version", house, {"-V"}},
    };
    return cases;
}

// The lock names packages of Farm: one with the index's bytes, one with others, and what an index does not have.
std::string sample_lock() {
    const auto wheel = [](const std::string& name, char digit) {
        return "wheels = [{ name = \"" + name + "\", hashes = { sha256 = \"" + std::string(64, digit) +
               "\" } }]\n";
    };
    return "lock-version = \"1.0\"\ncreated-by = \"tests\"\nrequires-python = \">=3.12\"\n"
           "extras = [\"colours\"]\ndependency-groups = [\"dev\"]\n"
           "[[packages]]\nname = \"mine\"\ndirectory = { path = \".\" }\n"
           "[[packages]]\nname = \"numpy\"\nversion = \"2.1.0\"\n" +
           wheel("numpy-2.1.0-cp312-cp312-linux_aarch64.whl", 'c') +
           "[[packages]]\nname = \"packaging\"\nversion = \"24.1\"\n" +
           wheel("packaging-24.1-py3-none-any.whl", 'a') +
           "[[packages]]\nname = \"six\"\nversion = \"1.17.0\"\n"
           "sdist = { name = \"six-1.17.0.tar.gz\", hashes = { sha256 = \"" +
           std::string(64, 'd') +
           "\" } }\n"
           "[[packages]]\nname = \"torch\"\nversion = \"2.4.0\"\n" +
           wheel("torch-2.4.0-cp312-cp312-manylinux_2_28_aarch64.whl", 'b') +
           "[[packages]]\nname = \"colorama\"\nversion = \"0.4.6\"\nmarker = \"'colours' in extras and "
           "'dev' in dependency_groups\"\n";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

}  // namespace

TEST_CASE("every kind of call prints its golden output") {
    for (const auto& [golden, place, arguments] : agreed()) {
        CAPTURE(golden);
        const Wheelhouse house;
        const Farm farm;
        const Wheelhouse& where = place == Place::farm ? farm : house;
        const std::string folder = where.folder.path().native();
        REQUIRE(base::replace_file(where.folder.path() / "requirements.txt", "tabulate\npip\npackaging\n"));
        REQUIRE(base::replace_file(where.folder.path() / "pylock.toml", sample_lock()));
        std::vector<std::string> given;
        for (const auto& argument : arguments)
            given.push_back(replaced(argument, "FOLDER", folder));
        auto ran = where.run(given);
        CHECK(ran.status == 0);
        // The lines after the first depend on the build: commit, compiler.
        if (golden == std::string("run_program_version")) ran.out.resize(ran.out.find('\n') + 1);
        if (std::string(golden).starts_with("run_lock")) ran.err.clear();  // the next test has it
        CHECK(ran.err == (std::string(golden) == "run_all"
                              ? "Ignoring --arch, --version and --python since --all is set.\n"
                              : ""));
        CHECK(test_support::golden_difference(std::string("avail_wheels/") + golden + ".txt",
                                              replaced(ran.out, folder, "FOLDER")) == "");
    }
}

TEST_CASE(
    "a name of which --why finds no wheel ends with 1, and says so also where nobody reads a terminal") {
    const Farm farm;
    const auto unknown = farm.run({"--why", "nosuch"});
    CHECK(unknown.status == 1);
    CHECK(unknown.err.find("There is no nosuch here.") != std::string::npos);
    CHECK(farm.run({"--why", "nosuch", "torch"}).status == 0);
    CHECK(farm.run({"--why", "nosuch*"}).status == 0);
    CHECK(farm.run({"nosuch"}).status == 0);  // as the Alliance's
}

TEST_CASE("of a lock standard error has the counts, what installers refuse, and the requests") {
    const Farm farm;
    const std::string folder = farm.folder.path().native();
    REQUIRE(base::replace_file(farm.folder.path() / "pylock.toml", sample_lock()));
    const auto lock = folder + "/pylock.toml";
    CHECK(replaced(farm.run({"--lock", lock, "--on", "gh200"}).err, folder, "FOLDER") ==
          "avail_wheels: 5 packages of FOLDER/pylock.toml are for this node: 1 here, 1 other bytes, "
          "2 missing, 1 not of an index; 1 is not, by markers, extras or groups\n"
          "avail_wheels: pip and uv take the lock's own bytes, from the addresses in it, and refuse others: "
          "to install "
          "the wheels that are here, lock again with this index as the only one\n");
    const auto asked = farm.run({"--lock", lock, "--on", "gh200", "--request-missing"});
    CHECK(asked.status == 0);
    CHECK(asked.err.find("Requested numpy (==2.1.0)") != std::string::npos);
    CHECK(asked.err.find("Requested six (==1.17.0)") != std::string::npos);
    CHECK(asked.err.find("Requested torch") == std::string::npos);
    CHECK(asked.err.find("Requested mine") == std::string::npos);
    CHECK(asked.out == farm.run({"--lock", lock, "--on", "gh200"}).out);
    std::set<std::string> requests;
    for (const auto& file : std::filesystem::directory_iterator(farm.folder.path() / "requests"))
        requests.insert(*base::read_file(file.path(), 10'000));
    REQUIRE(requests.size() == 2);
    for (const auto& request : requests)
        CHECK(request.find("pythons = [\"3.12\"]") != std::string::npos);
    CHECK(
        farm.run({"--lock", lock, "--on", "a100"})
            .err.find("warning: installers refuse this lock here: it is for Python >=3.12, here is 3.11\n") !=
        std::string::npos);
    REQUIRE(base::replace_file(lock, "lock-version = \"1.9\"\npackages = []\n"));
    const auto empty = farm.run({"--lock", lock, "--on", "gh200", "--request-missing"});
    CHECK(empty.err.find("warning: " + lock + " is a lock of version 1.9") != std::string::npos);
    CHECK(empty.err.find("nothing to request") != std::string::npos);
    REQUIRE(base::replace_file(lock, "lock-version = \"2.0\"\npackages = []\n"));
    CHECK(farm.run({"--lock", lock, "--on", "gh200"}).status == 2);
}

TEST_CASE("a lock is judged for a Python, and without one nothing is said of it") {
    const Wheelhouse house;
    const auto lock = house.folder.path() / "pylock.toml";
    REQUIRE(base::replace_file(
        lock,
        "lock-version = \"1.0\"\npackages = [{ name = \"tabulate\", version = \"0.9\" }, "
        "{ name = \"numpy\", version = \"1.22.2\", marker = \"python_version < '3.10'\" }]\n"));
    CHECK(house.run({"--lock", lock.native()}).status == 1);
    const auto newer = house.run({"--lock", lock.native(), "-p", "3.10"});
    CHECK(newer.status == 0);
    CHECK(newer.out.find("numpy") == std::string::npos);
    CHECK(newer.out.find("missing  the lock has no file of it; here is 0.8.10") != std::string::npos);
    CHECK(house.run({"--lock", lock.native(), "-p", "3.9"}).out.find("numpy") != std::string::npos);
}

TEST_CASE("neither the installed torch nor an older version of the folder counts for a lock") {
    Wheelhouse house;
    for (const char* name : {"torch-2.9.0", "torch-2.6.0", "vision-1.0", "numpy-1.26.0", "numpy-2.1.0"})
        REQUIRE(base::replace_file(house.folder.path() / (std::string(name) + "-py3-none-any.whl"), "wheel"));
    const auto installed = house.folder.path() / "root" / "sw" / "torch";
    std::filesystem::create_directories(installed);
    REQUIRE(base::replace_file(installed / "version.py", "__version__ = '2.6.0'\n"));
    house.environment["PYTHONPATH"] = "/sw";
    house.read_wheel = [](const std::filesystem::path& wheel) -> base::Result<ReadWheel> {
        const bool is_vision = wheel.filename().native().starts_with("vision");
        return ReadWheel{"", is_vision ? R"({"machines":[],"requires_dist":["torch==2.9.0","numpy>=2"]})"
                                       : R"({"machines":[],"requires_dist":[]})"};
    };
    CHECK(house.run({"vision", "-p", "3.11", "--why"}).out.find("and torch 2.6.0 is installed") !=
          std::string::npos);
    const auto file = house.folder.path() / "pylock.toml";
    const auto why_of_vision = [&](const std::string& numpy) {
        std::string lock = "lock-version = \"1.0\"\n";
        for (const auto& [name, version] :
             {std::pair{"torch", "2.9.0"}, {"vision", "1.0"}, {"numpy", numpy.c_str()}})
            lock += std::string("[[packages]]\nname = \"") + name + "\"\nversion = \"" + version +
                    "\"\nwheels = [{ path = \"" + name + "-" + version + "-py3-none-any.whl\" }]\n";
        REQUIRE(base::replace_file(file, lock));
        const auto ran = house.run({"--lock", file.native(), "-p", "3.11", "--json"});
        const auto json = io::parse_json(ran.out);
        REQUIRE_MESSAGE(json.has_value(), ran.err);
        const auto vision = json->find("lock")->items("packages").at(1);
        return vision.string_or("state", {}) + ": " + vision.string_or("why", {});
    };
    const std::string not_compared = "here: its bytes are not compared: no hash of them is known here";
    CHECK(why_of_vision("2.1.0") == not_compared);
    CHECK(why_of_vision("1.26.0") ==
          not_compared + "; whether it runs is unknown: requires numpy>=2, and the lock has numpy 1.26.0");
}

TEST_CASE("every option of --help has a golden output") {
    std::set<std::string> asked;
    for (const auto& one : agreed())
        asked.insert(one.arguments.begin(), one.arguments.end());
    const auto help = Wheelhouse().run({"--help"}).out;
    std::size_t options = 0;
    for (const auto line : base::split_lines(help)) {
        if (!line.starts_with("  -") || line.starts_with("  - ")) continue;
        ++options;
        const auto names = line.substr(2, line.find(' ', 2) - 2);
        bool is_asked = false;
        for (const auto name : base::split(names, ','))
            is_asked = is_asked || asked.contains(std::string(name));
        CHECK_MESSAGE(is_asked, names);
    }
    CHECK(options >= 35);
}

TEST_CASE("a site may make --here the default, and --all disables it") {
    const Farm farm;
    const auto site = farm.folder.path() / "site.toml";
    const auto text = *base::read_file(site, 100'000);
    REQUIRE(base::replace_file(site, "here = true\n" + text));
    // This host matches no node type, and no Python is found below the empty root.
    CHECK(farm.run({"torch", "--raw", "-p", "3.11"}).out ==
          "torch-2.4.0+cu126-cp311-cp311-linux_x86_64.whl\n");
    CHECK(farm.run({"torch", "--raw"}).out == "");
    CHECK(farm.run({"torch", "--raw", "--all"}).out.find("aarch64") != std::string::npos);
}

TEST_CASE("a request is written once, to a file that an administrator can use") {
    const Farm farm;
    const auto first = farm.run({"--request", "Torch==2.6", "-p", "3.12"});
    CHECK(first.err == "");
    CHECK(first.status == 0);
    const auto name =
        first.out.substr(first.out.find(": ") + 2, first.out.find('\n') - first.out.find(": ") - 2);
    const auto text = base::read_file(name, 10'000);
    REQUIRE(text.has_value());
    CHECK(*text ==
          "# requested by anna on login1, 1970-01-01T00:16:40.000000Z\n"
          "[[want]]\npackage = \"torch\"\nversions = [\"==2.6\"]\npythons = [\"3.12\"]\n");
    CHECK(farm.run({"--request", "torch==2.6", "-p", "3.12"}).out.find("Already requested") !=
          std::string::npos);
    CHECK(farm.run({"--request", "*"}).status == 1);
    CHECK(farm.run({"--request", "x; y\"\n[[evil]]"}).status == 1);
    for (int i = 0; i < 19; ++i)
        CHECK(farm.run({"--request", "six==1." + std::to_string(i)}).status == 0);
    CHECK(farm.run({"--request", "six==2"}).err.find("20 open requests") != std::string::npos);
}

TEST_CASE("a request goes to the registry if the site names one or the user has a token for its index") {
    Farm farm;
    std::vector<std::string> sent;
    io::HttpAnswer answer;
    answer.status = 200;
    answer.body = R"({"format":"wheelyard.task/1","id":"t5f0c","state":"queued"})";
    farm.post = [&](const std::string& url, const std::string& body, const io::HttpHeaders& headers) {
        sent = {url, body};
        for (const auto& [name, value] : headers)
            sent.push_back(name + ": " + value);
        return base::Result<io::HttpAnswer>(answer);
    };
    const auto ask = [&farm](std::vector<std::string> more) {
        more.insert(more.begin(), {"--index-url", "https://registry/main/simple/", "--request"});
        return farm.run(more);
    };
    const auto token = farm.folder.path() / "token";
    REQUIRE(base::replace_file(token, "wy_1_secret\n"));
    farm.environment["WHEELYARD_TOKEN_FILE"] = token.native();
    CHECK(ask({"torch==2.6", "-p", "3.12"}).out.find("requests/anna-torch") != std::string::npos);
    CHECK(sent.empty());  // the site's folder decides

    const auto site = farm.folder.path() / "site.toml";
    REQUIRE(base::replace_file(site, "config_version = 1\n"));
    CHECK(ask({"Torch==2.6", "-p", "3.12"}).out ==
          "Requested torch 2.6 for Python 3.12: task t5f0c is queued\n`avail_wheels --status` shows "
          "when an agent takes it, or why none does, and how it ends.\n");
    CHECK(sent == std::vector<std::string>{
                      "https://registry/api/v1/tasks",
                      R"({"format":"wheelyard.task/1","index":"main","package":"torch","version":"2.6",)"
                      R"("python":"3.12","accelerator":""})",
                      "Authorization: Bearer wy_1_secret", "Content-Type: application/json"});
    answer.body = R"({"id":"t5f0c","state":"queued","nobody_takes":"no agent takes it: bede builds"})";
    CHECK(ask({"torch==2.6", "-p", "3.7"}).out.find("is queued, but no agent takes it: bede builds\n") !=
          std::string::npos);
    CHECK(ask({"torch", "-p", "3.12"}).err.find("one exact version") != std::string::npos);
    CHECK(ask({"torch>=2", "-p", "3.12"}).err.find("--request 'torch==VERSION'") != std::string::npos);
    CHECK(ask({"torch==2.6"}).err.find("-p 3.12") != std::string::npos);
    farm.environment["PATH"] = "/usr/bin:/bin";  // now there is a Python here, the system's
    CHECK(ask({"torch==2.6"}).out.starts_with("Requested torch 2.6 for Python 3."));
    farm.environment.erase("PATH");
    CHECK(ask({"tor*"}).status == 1);
    answer.status = 403;
    answer.body = R"({"detail":"no right","advice":"ask anna"})";
    const auto refused = ask({"torch==2.6", "-p", "3.12"});
    CHECK(refused.status == 1);
    CHECK(refused.err.find("403: no right") != std::string::npos);

    farm.environment.erase("WHEELYARD_TOKEN_FILE");
    const auto tokenless = ask({"torch==2.6", "-p", "3.12"}).err;
    CHECK(tokenless.find("takes requests with a token, and there is none: `https://registry`") !=
          std::string::npos);
    CHECK(tokenless.find("avail_wheels login") != std::string::npos);
    REQUIRE(base::replace_file(site, "config_version = 1\nrequests = \"https://other.example/\"\n"));
    CHECK(ask({"torch==2.6", "-p", "3.12"}).err.find("token create --action task") != std::string::npos);
    farm.environment["WHEELYARD_TOKEN_FILE"] = token.native();
    CHECK(ask({"torch==2.6", "-p", "3.12"}).status == 1);
    CHECK(sent.front() == "https://other.example/api/v1/tasks");
}

TEST_CASE("an unavailable feature is reported with the site key that enables it") {
    Farm farm;
    REQUIRE(base::replace_file(farm.folder.path() / "site.toml", "config_version = 1\n"));
    CHECK(farm.run({"--status"}).err.find("`status`") != std::string::npos);
    REQUIRE(base::replace_file(farm.folder.path() / "tree" / "main" / "status.json", "{}"));
    CHECK(farm.run({"--status", "--wheelhouse", (farm.folder.path() / "tree" / "main").native()})
              .err.find("wheelyard.index-status/1") != std::string::npos);
    CHECK(farm.run({"--request", "six"}).err.find("`requests`") != std::string::npos);
    CHECK(farm.run({"torch", "--on", "gh200"}).status == 2);
}

TEST_CASE("--status reads the status beside the pages, and warns of a site that is late") {
    const Farm farm;
    const auto main = farm.folder.path() / "tree" / "main";
    std::string text = *base::read_file(farm.folder.path() / "status.json", 1u << 20);
    REQUIRE(base::replace_file(farm.folder.path() / "site.toml", "config_version = 1\n"));
    REQUIRE(base::replace_file(main / "status.json", text));
    const auto in_time = farm.run({"--status", "six", "--wheelhouse", main.native()});
    CHECK(in_time.out.find("bede") != std::string::npos);
    CHECK(in_time.err.empty());
    text = base::replace_all(text, "00:15:00Z", "00:05:00Z");
    REQUIRE(base::replace_file(main / "status.json", text));
    const auto late = farm.run({"--status", "six", "--wheelhouse", (main / "simple").native()});
    CHECK(late.status == 0);
    CHECK(late.err == "avail_wheels: warning: the agent of bede has not reported for 6 min 40 s\n");
}

TEST_CASE("on a terminal --status and --why fit its width, and cut no words") {
    Farm farm;
    const auto words_of = [](const std::string& text) {
        std::vector<std::string> words;
        for (const auto line : base::split_lines(text)) {
            for (const auto word : base::split(line, ' ')) {
                if (!word.empty() && word.find_first_not_of('-') != std::string_view::npos)
                    words.emplace_back(word);
            }
        }
        std::sort(words.begin(), words.end());
        return words;
    };
    constexpr std::size_t columns = 70;
    const auto site = (farm.folder.path() / "site.toml").native();
    for (const auto& arguments :
         {std::vector<std::string>{"--status", "--site", site},
          {"--why", "--wheelhouse", (farm.folder.path() / "tree" / "main" / "simple").native()}}) {
        farm.out_columns = 0;
        const std::string unlimited = farm.run(arguments).out;
        farm.out_columns = columns;
        const std::string wrapped = farm.run(arguments).out;
        std::size_t widest = 0;
        for (const auto line : base::split_lines(unlimited))
            widest = std::max(widest, line.size());
        CHECK(widest > columns);
        CHECK(words_of(wrapped) == words_of(unlimited));
        for (const auto line : base::split_lines(wrapped))
            CHECK_MESSAGE(line.size() <= columns, line);
    }
}

TEST_CASE("on a narrow terminal each column of a wheel has a line, and no word is cut") {
    Wheelhouse house;
    house.out_columns = 60;
    CHECK(house
              .run({"numpy==1.22.2", "--all-pythons", "--column", "name", "version", "localversion", "build",
                    "python", "abi", "platform", "arch"})
              .out ==
          "name          numpy\nversion       1.22.2\nlocalversion  computecanada\npython        cp310\n"
          "abi           cp310\nplatform      linux_x86_64\narch          generic\n\n"
          "name          numpy\nversion       1.22.2\nlocalversion  computecanada\npython        cp39\n"
          "abi           cp39\nplatform      linux_x86_64\narch          generic\n\n");
    const std::string listed = house.run({"*", "--all-pythons"}).out;  // it fits
    house.out_columns = 0;
    CHECK(house.run({"*", "--all-pythons"}).out == listed);
}

TEST_CASE("--status lists what users have asked for, and why nobody takes it") {
    const Farm farm;
    const auto file = farm.folder.path() / "status.json";
    std::string text = *base::read_file(file, 1u << 20);
    text.replace(
        text.rfind('}'), 1,
        R"(,"requests":[{"id":"t1","package":"Six","version":"9.9","python":"3.7","state":"awaits_approval",)"
        R"("reason":"no agent builds for it"}]})");
    REQUIRE(base::replace_file(file, text));
    const std::string out = farm.run({"--status", "six"}).out;
    CHECK(out.find("9.9") != std::string::npos);
    CHECK(out.find("request awaits approval  no agent builds for it\n") != std::string::npos);
}

TEST_CASE("--status lists how a request ended, with the reason and the address of its page") {
    Options options;
    options.source.index_url = "https://anna:secret@farm/main/simple/";
    options.query.wanted = {*parse_wanted("six")};
    const auto why_of = [&](const std::string& more) {
        const auto get = [&](const std::string& url, const io::HttpHeaders&, const io::BodyLimit&) {
            CHECK(url == "https://anna:secret@farm/main/status.json");
            io::HttpAnswer answer;
            answer.status = 200;
            answer.body = R"({"format":"wheelyard.index-status/1","index":"main","sites":[],"requests":[)"
                          R"({"id":"t1","package":"six","version":"1","python":"3.7","state":"failed")" +
                          more + "}]}";
            return base::Result<io::HttpAnswer>(answer);
        };
        const auto status = read_status(get, options, 0);
        REQUIRE(status.has_value());
        REQUIRE(status->rows.size() == 1);
        CHECK(status->rows[0][state_column] == "request failed");
        return status->rows[0][why_column];
    };
    CHECK(why_of(R"(,"reason":"no compiler")") == "no compiler; https://farm/main/builds/request.html?id=t1");
    CHECK(why_of("") == "https://farm/main/builds/request.html?id=t1");
}

TEST_CASE("--status shows how far a build is, and its phase alone while the number of its steps is unknown") {
    const Farm farm;
    const auto file = farm.folder.path() / "status.json";
    const std::string text = *base::read_file(file, 1u << 20);
    CHECK(farm.run({"--status", "numpy"}).out.find("  build 3/9\n") != std::string::npos);
    REQUIRE(base::replace_file(file, base::replace_all(text, R"(,"done":3,"total":9)", "")));
    CHECK(farm.run({"--status", "numpy"}).out.find("  build\n") != std::string::npos);
}

TEST_CASE("a yanked wheel looks yanked in --why, with its reason") {
    const Farm farm;
    const auto index = farm.folder.path() / "tree" / "main" / "simple";
    simple::WheelListProject six{"six", 2, {}, "\n\n"};
    six.lines = simple::render_wheel_list_line(
                    {"six-1.17-py3-none-any.whl", true, "breaks <torch>", {}, 0, 12, std::string(64, 'a')}) +
                simple::render_wheel_list_line(
                    {"six-1.16-py3-none-any.whl", false, {}, {}, 0, 12, std::string(64, 'b')});
    REQUIRE(base::replace_file(index / simple::wheel_list_name,
                               simple::render_wheel_list({.serial = 3, .index = "main"}, {six})));
    const auto why =
        farm.run({"six", "--why", "--on", "gh200", "--all-versions", "--column", "version", "why"});
    CHECK(why.out.find("1.17       yanked: breaks <torch>") != std::string::npos);
    CHECK(why.out.find("1.16") != std::string::npos);
    CHECK(farm.run({"six==1.17", "--why", "--on", "gh200"}).out.find("yanked: breaks <torch>") !=
          std::string::npos);
    CHECK(farm.run({"six", "--why", "--on", "gh200"}).out.find("1.17") == std::string::npos);
    CHECK(farm.run({"six", "--raw"}).out == "six-1.16-py3-none-any.whl\n");
}

TEST_CASE("what an index has from its upstreams alone is found on the pages of projects") {
    const Wheelhouse house;
    const auto found = [&](const std::vector<std::string>& names) {
        std::vector<std::string> words{"--index-url", "https://mirror/simple/", "--raw", "--all-archs"};
        words.insert(words.end(), names.begin(), names.end());
        return house.run(words);
    };
    CHECK(found({"torch"}).out == "torch-2.4.0-cp312-cp312-linux_aarch64.whl\n");
    CHECK(found({"torch<2.4", "packaging"}).out ==
          "packaging-24.1-py3-none-any.whl\ntorch-2.3.0-cp312-cp312-linux_aarch64.whl\n");
    CHECK(found({"tor*"}).out == "");
    // A version that nobody has asked the index for.
    CHECK(found({"packaging>24.1"}).out == "packaging-24.2-py3-none-any.whl\n");
    CHECK(found({"packaging"}).out == "packaging-24.1-py3-none-any.whl\n");
    CHECK(found({"packaging>24.2"}).out == "");
    const auto missing = found({"torch", "scipy"});
    CHECK(missing.err == "avail_wheels: 1 of 2 has no wheel: scipy\n");
    CHECK(missing.status == 0);
}

TEST_CASE("a misspelt name gets a suggestion on a terminal, but not in a script") {
    Farm farm;
    CHECK(farm.run({"torhc"}).err == "");
    farm.err_is_terminal = true;
    CHECK(farm.run({"torhc"}).err == "avail_wheels: There is no torhc here. Did you mean torch?\n");
    CHECK(farm.run({"torhc"}).status == 0);
    CHECK(farm.run({"*cdf*"}).err == "avail_wheels: No name here matches *cdf*.\n");
    CHECK(farm.run({"tor*", "torhc"}).err ==
          "avail_wheels: 1 of 2 has no wheel: torhc\n"
          "avail_wheels: There is no torhc here. Did you mean torch?\n");
}

TEST_CASE("an empty answer names the next step on a terminal") {
    Farm farm;
    farm.err_is_terminal = true;
    const auto step = [&](const std::vector<std::string>& arguments) {
        const auto ran = farm.run(arguments);
        CHECK(ran.status == 0);
        return ran.err;
    };
    CHECK(step({"torch>9"}) ==
          "avail_wheels: There are wheels of torch of version 2.4.0: --all-versions without a version lists "
          "them.\n");
    CHECK(step({"torch==2.3.0"}) ==
          "avail_wheels: There are wheels of torch for aarch64: --all-archs lists them.\n");
    CHECK(step({"torch", "-p", "3.9"}) ==
          "avail_wheels: There are wheels of torch for cp311: --all-pythons lists them.\n");
    CHECK(
        step({"torch==1.10.0", "--on", "gh200"}) ==
        "avail_wheels: There are wheels of torch that do not run here, of version 1.10.0: --why explains.\n");
    CHECK(step({"torch==2.3.0", "-p", "3.11"}) ==
          "avail_wheels: There are wheels of torch of version 2.4.0: --all-versions without a version lists "
          "them.\n");
    CHECK(
        step({"six"}) ==
        "avail_wheels: The farm has six 1.17 for Python 3.12 as \"active\": building. --status lists all.\n");
    CHECK(step({"unlike-any>=2"}) ==
          "avail_wheels: There is no unlike-any here. Ask for it: avail_wheels --request 'unlike-any>=2'\n");
    CHECK(step({"-p", "3.7", "--on", "gh200"}).find("avail_wheels: There are wheels ") == 0);
}

TEST_CASE("a word that is meant otherwise than as a name gets the right spelling on a terminal") {
    Farm farm;
    farm.err_is_terminal = true;
    for (const auto& [words, says] : std::vector<std::pair<std::vector<std::string>, const char*>>{
             {{"list"}, "There is no list here. There are no commands, only names and options"},
             {{"install", "torch"}, "There is no install here. There are no commands"},
             {{"requirements.txt"}, "A file of requirements follows -r: avail_wheels -r requirements.txt\n"},
             {{"torch", "2.4.0"}, "There is no 2.4.0 here. A version follows ==: 'torch==2.4.0'\n"},
             {{"torch-2.4.0"}, "There is no torch-2.4.0 here. Did you mean torch==2.4.0?\n"}}) {
        CAPTURE(says);
        const auto ran = farm.run(words);
        CHECK(ran.status == 0);
        CHECK_MESSAGE(ran.err.find(says) != std::string::npos, ran.err);
    }
    CHECK(farm.run({"unlike-2.4.0"}).err.find("Did you mean") == std::string::npos);
}

TEST_CASE("what an index itself says of its builds is a next step, without a site file") {
    Farm farm;
    farm.err_is_terminal = true;
    farm.environment.clear();
    const auto tree = farm.folder.path() / "tree" / "main";
    std::filesystem::rename(farm.folder.path() / "status.json", tree / "status.json");
    CHECK(
        farm.run({"six", "--wheelhouse", tree.native()}).err ==
        "avail_wheels: The farm has six 1.17 for Python 3.12 as \"active\": building. --status lists all.\n");
}

TEST_CASE(
    "an empty folder is not shown as an empty table only, and who cannot ask the farm learns whom to ask") {
    const auto empty = *base::TempDir::make("wheelyard-run-test");
    Wheelhouse house;
    house.err_is_terminal = true;
    CHECK(house.run({"--wheelhouse", empty.path().native()}).err ==
          "avail_wheels: There are no wheels here.\n");
    CHECK(house.run({"unlike-any"}).err ==
          "avail_wheels: There is no unlike-any here. Ask your site's staff for it.\n");
}

TEST_CASE("the install line works as it is for a plain HTTP index: it names the host to trust") {
    Wheelhouse house;
    const auto line = [&house](const std::string& url) {
        return house.run({"torch", "--all-archs", "--index-url", url, "--install-line", "-p", "3.12"}).out;
    };
    CHECK(line("http://farm/simple/") ==
          "pip install --index-url http://farm/simple/ --trusted-host farm torch==2.4.0\n");
    CHECK(line("https://farm/simple/") == "pip install --index-url https://farm/simple/ torch==2.4.0\n");
    CHECK(house
              .run({"torch[opt-einsum]>=2", "--all-archs", "--index-url", "https://farm/simple/",
                    "--install-line", "-p", "3.12"})
              .out == "pip install --index-url https://farm/simple/ 'torch[opt-einsum]==2.4.0'\n");
}

TEST_CASE("without a Python that answers, nothing is listed for this node, and the reason is said") {
    Farm farm;
    for (const char* option : {"--here", "--install-line"}) {
        CAPTURE(option);
        const auto ran = farm.run({"torch", "packaging", "--raw", option});
        CHECK(ran.status == 1);
        CHECK(ran.out == "");
        CHECK(ran.err ==
              "avail_wheels: there is no Python on PATH, so nothing is known to run here; load one, or name "
              "one "
              "with -p\n");
    }
    const auto bin = farm.folder.path() / "env" / "bin";
    std::filesystem::create_directories(bin);
    std::filesystem::create_symlink("/nowhere/python3.9", bin / "python3");
    farm.environment["PATH"] = bin.native() + ":/usr/bin";
    farm.environment["VIRTUAL_ENV"] = bin.parent_path().native();
    CHECK(farm.run({"packaging", "--here"}).err ==
          "avail_wheels: the Python " + bin.native() +
              "/python3 is not there: it is a link to /nowhere/python3.9, so nothing is known to run here; "
              "repair its "
              "environment, or leave it\n");
    const auto all = farm.run({"--all", "--column", "name", "runs", "--format", "csv"});
    CHECK(all.out.find(",unknown") != std::string::npos);
    CHECK(all.out.find(",yes") == std::string::npos);
}

TEST_CASE("an install line says which of its wheels may not run here") {
    const Farm farm;
    const auto ran = farm.run({"torch", "packaging", "-p", "3.11", "--install-line"});
    CHECK(ran.out.find("packaging==24.1 torch==2.4.0+cu126") != std::string::npos);
    CHECK(ran.err.find("avail_wheels: warning: torch 2.4.0+cu126: whether it runs here is unknown: ") == 0);
    CHECK(ran.err.find("packaging") == std::string::npos);
}

TEST_CASE("an install line without a wheel is a failure that scripts see") {
    const auto ran = Farm().run({"nonesuch", "-p", "3.11", "--install-line"});
    CHECK(ran.status == 1);
    CHECK(ran.out.empty());
    CHECK(ran.err ==
          "avail_wheels: nothing to install: no wheel of these names is for this node; --why says more\n");
}

TEST_CASE("what an index without upstreams lacks is told beside a yes, and with an install line") {
    const Farm farm;
    const auto index = farm.folder.path() / "tree" / "main" / "simple";
    simple::WheelListProject six{"six",
                                 1,
                                 {},
                                 R"({"requires_dist":["toolz>=1","numpy; extra == 'x'"]})"
                                 "\n"};
    six.lines = simple::render_wheel_list_line(
        {"six-1.17-py3-none-any.whl", false, {}, {}, 0, 12, std::string(64, 'a')});
    simple::WheelListProject toolz{"toolz", 2, {}, "\n"};
    toolz.lines = simple::render_wheel_list_line(
        {"toolz-1.1-py3-none-any.whl", true, {}, {}, 0, 12, std::string(64, 'b')});
    for (const bool is_whole : {true, false}) {
        CAPTURE(is_whole);
        const std::vector<simple::WheelListProject> projects =
            is_whole ? std::vector{six, toolz} : std::vector{six};  // a yanked one is for who pins it
        REQUIRE(base::replace_file(
            index / simple::wheel_list_name,
            simple::render_wheel_list({.serial = 3, .index = "main", .is_whole = is_whole}, projects)));
        const std::string lacks = "requires toolz>=1, of which this index has no wheel";
        CHECK((farm.run({"six", "--why", "--on", "gh200"}).out.find("yes     but " + lacks) !=
               std::string::npos) == is_whole);
        const auto line = farm.run({"six", "--install-line", "-p", "3.11"});
        CHECK(line.out.find("six==1.17") != std::string::npos);
        CHECK(line.err == (is_whole ? "avail_wheels: warning: six 1.17 " + lacks + "\n" : ""));
    }
    six.facts = R"({"requires_dist":["toolz==1.1"]})"
                "\n";
    REQUIRE(base::replace_file(
        index / simple::wheel_list_name,
        simple::render_wheel_list({.serial = 3, .index = "main", .is_whole = true}, {six, toolz})));
    CHECK(farm.run({"six", "--install-line", "-p", "3.11"}).err.empty());
}

TEST_CASE("what is missing is told of each of those that require one another") {
    const Farm farm;
    const auto index = farm.folder.path() / "tree" / "main" / "simple";
    std::vector<simple::WheelListProject> projects;
    for (const auto& [name, required] : {std::pair<std::string, std::string>("attrs", "toolz"),
                                         {"six", "attrs"},
                                         {"toolz", R"(attrs","numpy)"},
                                         {"zict", "toolz"}}) {
        projects.push_back({name, 1, {}, R"({"requires_dist":[")" + required + "\"]}\n"});
        projects.back().lines = simple::render_wheel_list_line(
            {name + "-1.0-py3-none-any.whl", false, {}, {}, 0, 12, std::string(64, 'a')});
    }
    REQUIRE(base::replace_file(
        index / simple::wheel_list_name,
        simple::render_wheel_list({.serial = 3, .index = "main", .is_whole = true}, projects)));
    const std::string end = "numpy, of which this index has no wheel\"\n";
    CHECK(farm.run({"*", "--why", "--on", "gh200", "--format", "csv", "--column", "why"}).out ==
          "why\n\"but requires toolz, which requires " + end +
              "\"but requires attrs, which requires toolz, which requires " + end + "\"but requires " + end +
              "\"but requires toolz, which requires " + end);
}

TEST_CASE("a wheel's own row is its row among all, also where wheels require each other in circles") {
    const Farm farm;
    const auto index = farm.folder.path() / "tree" / "main" / "simple";
    using Wheels = std::map<std::string, std::map<std::string, std::string>>;  // project → version → requires
    const auto serve = [&](const Wheels& wheels) {
        std::vector<simple::WheelListProject> projects;
        for (const auto& [name, versions] : wheels) {
            projects.push_back({name, versions.size(), {}, {}});
            for (const auto& [version, required] : versions) {
                const std::string quoted = base::replace_all(required, " ", R"(",")");
                projects.back().facts += R"({"built":{},"requires_dist":[)" +
                                         (required.empty() ? "" : '"' + quoted + '"') + "]}\n";
                projects.back().lines += simple::render_wheel_list_line(
                    {name + "-" + version + "-py3-none-any.whl", false, {}, {}, 0, 12, std::string(64, 'a')});
            }
        }
        REQUIRE(base::replace_file(
            index / simple::wheel_list_name,
            simple::render_wheel_list({.serial = 3, .index = "main", .is_whole = true}, projects)));
    };
    const auto rows = [&](const std::string& name) {
        return farm
            .run({name, "--why", "--on", "gh200", "--all-versions", "--format", "csv", "--column", "name",
                  "version", "runs", "why", "advice"})
            .out.substr(std::string("name,version,runs,why,advice\n").size());
    };
    const auto check = [&](const Wheels& wheels) {
        serve(wheels);
        std::string one_by_one;
        for (const auto& [name, versions] : wheels)
            one_by_one += rows(name);
        std::string together = rows("*");
        CHECK(together == one_by_one);
        return together;
    };
    const std::string told = check({{"aaa", {{"1", "aroot"}}},
                                    {"aroot", {{"1", "bee"}}},
                                    {"bee", {{"1.0", ""}, {"2.0", "cee numpy"}}},
                                    {"cee", {{"1", "bee==2.0"}}}});
    CHECK(told.find("aaa,1,yes,,\n") != std::string::npos);
    CHECK(told.find("cee,1,yes,\"but requires bee, which requires numpy, of which") != std::string::npos);
    // A chain is followed to its end.
    Wheels chain;
    constexpr int long_chain = 40;
    for (int i = 10; i < 10 + long_chain; ++i)
        chain["p" + std::to_string(i)] = {{"1", "p" + std::to_string(i + 1)}};
    CHECK(check(chain).find("p10,1,yes,\"but requires p11, which requires p12") != std::string::npos);
    std::uint32_t state = 1;
    const auto below = [&state](std::uint32_t end) {
        state = state * 1664525U + 1013904223U;
        return (state >> 16U) % end;
    };
    const std::vector<std::string> all{"aa", "bb", "cc", "dd", "ee", "ff"};
    constexpr int graphs = 40;
    for (int graph = 0; graph < graphs; ++graph) {
        CAPTURE(graph);
        Wheels wheels;
        for (const auto& name : all) {
            for (const char* version : {"1.0", "2.0"}) {
                if (*version == '1' && below(2) == 0) continue;
                std::vector<std::string> required;
                for (const auto& other : all)
                    if (other != name && below(3) == 0)
                        required.push_back(other + (below(3) == 0 ? "==2.0" : ""));
                if (below(6) == 0) required.insert(required.begin(), below(2) == 0 ? "numpy" : "aa>=3");
                wheels[name][version] = base::join(required, " ");
            }
        }
        check(wheels);
    }
}

TEST_CASE("what an extra requires counts where another project's requirement names it") {
    const Farm farm;
    const auto index = farm.folder.path() / "tree" / "main" / "simple";
    const auto project = [](const std::string& name, const std::string& facts) {
        simple::WheelListProject made{name, 1, {}, facts + "\n"};
        made.lines = simple::render_wheel_list_line(
            {name + "-1.0-py3-none-any.whl", false, {}, {}, 0, 12, std::string(64, 'a')});
        return made;
    };
    std::string built;
    bool is_whole = true;
    const auto why = [&](const std::string& required, const std::string& wanted = "six") {
        const std::string of_toolz = R"("requires_dist":["numpy; extra == 'x'","six>=2; extra == 'y'"]})";
        REQUIRE(base::replace_file(
            index / simple::wheel_list_name,
            simple::render_wheel_list(
                {.serial = 3, .index = "main", .is_whole = is_whole},
                {project("attrs", "{" + built + R"("requires_dist":["numpy"]})"),
                 project("six", "{" + built + R"("requires_dist":[")" + required + R"("]})"),
                 project("toolz", "{" + built + of_toolz)})));
        return farm.run({wanted, "--why", "--on", "gh200", "--column", "runs", "why", "--format", "csv"})
            .out.substr(9);
    };
    const auto has = [](const std::string& text, const char* part) { return text.find(part) == 0; };
    for (const char* facts : {"", R"("built":true,)"}) {
        CAPTURE(facts);
        built = facts;
        CHECK(why("toolz") == "yes,\n");
        CHECK(why("toolz[z]") == "yes,\n");
        CHECK(why("toolz[z]", "six[z]") == "yes,but requires nothing for the extra z\n");
        CHECK(has(why("toolz[x]"), "yes,\"but requires toolz[x], which requires numpy, of which this index"));
    }
    CHECK(has(why("toolz[y]"),
              "unknown,\"requires toolz[y], and toolz 1.0 does not run here: requires six>=2, and here are"));
    // What others have brought there may be elsewhere, too; and with upstreams nothing is known of it.
    built.clear();
    CHECK(has(why("toolz[x]>=2"), "yes,\"but requires toolz[x]>=2, of which this index has no wheel"));
    CHECK(has(why("toolz>=2"), "yes,\"but requires toolz>=2, of which this index has no wheel"));
    CHECK(has(why("attrs"),
              "yes,\"but requires attrs, which requires numpy, of which this index has no wheel"));
    is_whole = false;
    CHECK(why("toolz[x]") == "yes,\n");
    CHECK(why("toolz[x]>=2") == "yes,\n");
}

TEST_CASE("wheels of a folder are read once; what cannot be read, or not yet, is unknown") {
    Wheelhouse house;
    house.environment["XDG_CACHE_HOME"] = (house.folder.path() / "cache").native();
    int read = 0;
    house.read_wheel = [&](const std::filesystem::path& wheel) -> base::Result<ReadWheel> {
        ++read;
        if (wheel.filename().native().starts_with("tabulate"))
            return base::fail("wheel.unreadable", "it is broken");
        return ReadWheel{">=3.9", R"({"machines":[],"requires_dist":["tabulate>=2"]})"};
    };
    const auto answers = [&] {
        return house
            .run({"packaging", "tabulate", "numpy", "-p", "3.9", "--why", "--column", "name", "runs", "why",
                  "--format", "csv"})
            .out;
    };
    const auto first = answers();
    CHECK(first.find("packaging,no,\"requires tabulate>=2, and here are tabulate 0.8.10\"") !=
          std::string::npos);
    CHECK(first.find("tabulate,unknown,could not be read: it is broken") != std::string::npos);
    CHECK(read == 4);  // of numpy the newest version
    CHECK(answers() == first);
    CHECK(read == 5);  // the broken one again
    REQUIRE(
        base::replace_file(house.folder.path() / "generic/packaging-21.3-py3-none-any.whl", "another wheel"));
    CHECK(answers() == first);
    CHECK(read == 7);
    // What the newest says of itself may hide it: then the one before it is read and listed.
    house.read_wheel = [](const std::filesystem::path& wheel) -> base::Result<ReadWheel> {
        const bool is_new = wheel.filename().native().starts_with("netCDF4-1.5.8");
        return ReadWheel{is_new ? ">=3.10" : ">=3.9", R"({"machines":[]})"};
    };
    CHECK(house.run({"netcdf4", "-p", "3.9", "--install-line"}).out.find("netCDF4==1.5.7") !=
          std::string::npos);
    house.read_wheel = {};
    house.environment.erase("XDG_CACHE_HOME");
    CHECK(answers().find("numpy,unknown,only its name is known") != std::string::npos);
}

TEST_CASE("of a folder, a required wheel that needs a newer Python gives way to the one before it") {
    Wheelhouse house;
    house.read_wheel = [](const std::filesystem::path& wheel) -> base::Result<ReadWheel> {
        const std::string name = wheel.filename().native();
        return ReadWheel{name.starts_with("netCDF4-1.5.8") ? ">=3.10" : ">=3.9",
                         name.starts_with("packaging") ? R"({"machines":[],"requires_dist":["netCDF4"]})"
                                                       : R"({"machines":[],"requires_dist":[]})"};
    };
    CHECK(house.run({"packaging", "-p", "3.9", "--why", "--column", "name", "runs", "why", "--format", "csv"})
              .out.find("packaging,yes,") != std::string::npos);
}

TEST_CASE("what an extra requires counts where it is asked for") {
    Wheelhouse house;
    house.read_wheel = [](const std::filesystem::path&) -> base::Result<ReadWheel> {
        return ReadWheel{">=3.9", R"({"machines":[],"requires_dist":["tabulate>=2; extra == 'table'"]})"};
    };
    const auto runs = [&](const char* wanted) {
        return house.run({wanted, "-p", "3.9", "--why", "--column", "name", "runs", "why", "--format", "csv"})
            .out;
    };
    CHECK(runs("packaging").find("packaging,yes,") != std::string::npos);
    CHECK(runs("packaging[table]")
              .find("packaging,no,\"requires tabulate>=2, and here are tabulate 0.8.10\"") !=
          std::string::npos);
}

TEST_CASE("a URL that is no index gives status 1 and the indexes that exist") {
    Wheelhouse house;
    for (const char* url : {"https://registry/", "https://registry/mian/simple/",
                            "https://registry/mian/simple", "https://registry/main/"}) {
        CAPTURE(url);
        for (const char* name : {"torch", "tor*", "*"}) {
            const auto ran = house.run({name, "--index-url", url});
            CHECK(ran.status == 1);
            CHECK(ran.out == "");
            CHECK_MESSAGE(ran.err.find("There is no index at this URL") != std::string::npos, ran.err);
            CHECK(ran.err.find("https://registry/main/simple/") != std::string::npos);
        }
    }
    CHECK(house.run({"torch", "--index-url", "https://registry/main/simple/"}).status == 0);
    CHECK(house.run({"torch", "--index-url", "https://farm/other/"}).err.find("ends in /simple/") !=
          std::string::npos);
}

TEST_CASE("a page beside the wheel list that cannot be read is told") {
    Wheelhouse house;
    const auto ran = house.run({"failing", "absent", "--index-url", "https://mirror/simple/"});
    CHECK(ran.status == 0);
    CHECK_MESSAGE(
        ran.err.find("avail_wheels: warning: the page of failing cannot be read: The index responded "
                     "with status 503") != std::string::npos,
        ran.err);
    CHECK(house.run({"absent", "--index-url", "https://mirror/simple/"}).err.empty());
}

TEST_CASE("what the index says of a refusal is shown") {
    Wheelhouse house;
    for (const char* name : {"torch", "tor*"}) {
        const auto bad = house.run({name, "--index-url", "https://registry/main//simple/"});
        CHECK(bad.status == 1);
        CHECK_MESSAGE(bad.err.find("The registry says why") != std::string::npos, bad.err);
        CHECK(bad.err.find("(do this)") != std::string::npos);
        const auto closed = house.run({name, "--index-url", "https://registry/closed/simple/"});
        CHECK(closed.status == 1);
        CHECK_MESSAGE(closed.err.find("The registry says why") != std::string::npos, closed.err);
        CHECK(closed.err.find("https://registry/main/simple/") != std::string::npos);
    }
}

TEST_CASE("a cached wheel list of a later version is named, also where the index does not answer") {
    Wheelhouse house;
    const auto cache = house.folder.path() / "cache";
    house.environment = {{"XDG_CACHE_HOME", cache.native()}};
    const auto kept = index_folder(cache / "wheelyard", "https://gone/simple/");
    std::filesystem::create_directories(kept);
    REQUIRE(base::replace_file(kept / "state.json", R"({"format":"wheelyard.catalogue-cache/1","asked":1})"));
    REQUIRE(base::replace_file(kept / simple::wheel_list_name, "wheelyard.catalogue/2\t1\n"));
    const auto ran = house.run({"--index-url", "https://gone/simple/"});
    CHECK(ran.status == 1);
    CHECK(ran.err.find("warning: Unsupported version of the wheel list: `wheelyard.catalogue/2` (update "
                       "avail_wheels)\n") != std::string::npos);
    CHECK(ran.err.find("Nobody answers") != std::string::npos);
    REQUIRE(base::remove_file(kept / simple::wheel_list_name));
    CHECK(house.run({"--index-url", "https://gone/simple/"}).err.find("warning") == std::string::npos);
}

TEST_CASE("a request for what is there is refused, and for nobody's package it warns") {
    Farm farm;
    const auto there = farm.run({"--request", "packaging==24.1"});
    CHECK(there.status == 1);
    CHECK(there.err == "avail_wheels: packaging 24.1 is there already: avail_wheels 'packaging==24.1'\n");
    CHECK(farm.run({"--request", "packaging"}).err ==
          "avail_wheels: packaging 24.1 is there already: avail_wheels 'packaging'; another version: "
          "avail_wheels "
          "--request 'packaging==VERSION'\n");
    CHECK(farm.run({"--request", "packaging==24.2"}).status == 0);
    farm.environment["PIP_INDEX_URL"] = "https://anna:secret@farm/simple/";
    const auto nobody = farm.run({"--request", "torhc"});
    CHECK(nobody.status == 0);
    CHECK(nobody.err ==
          "avail_wheels: warning: there is no package torhc in https://****@farm/simple/; unless it is your "
          "site's own, check its spelling\n");
    CHECK(farm.run({"--request", "torch==9.0"}).err == "");
    farm.environment["PIP_INDEX_URL"] = "https://unreachable/simple/";
    CHECK(farm.run({"--request", "torhc==2"}).err == "");
}

TEST_CASE("what is there for another Python than the one that a request is for is not there") {
    Farm farm;
    const auto is_there = [&farm](std::vector<std::string> more) {
        more.insert(more.begin(), {"--request", "old==1.0"});
        return farm.run(more).err.find("old 1.0 is there already") != std::string::npos;
    };
    farm.environment["WHEELHOUSE"] = farm.folder.path().native();
    REQUIRE(base::replace_file(farm.folder.path() / "generic/old-1.0-cp36-cp36m-linux_x86_64.whl", "wheel"));
    const auto site = farm.folder.path() / "site.toml";
    REQUIRE(base::replace_file(site, "config_version = 1\nrequests = \"https://other.example/\"\n"));
    CHECK(is_there({"-p", "3.6"}));
    CHECK(!is_there({"-p", "3.12"}));
    CHECK(is_there({}));                         // no Python here
    farm.environment["PATH"] = "/usr/bin:/bin";  // the system's, which is newer
    CHECK(!is_there({}));
    REQUIRE(base::replace_file(site, "config_version = 1\nrequests = \"requests\"\n"));
    CHECK(is_there({}));  // a folder is asked for no Python
}

TEST_CASE("--web warns of a status that cannot be read, but not where no site reports") {
    const Wheelhouse house;
    const auto quiet = house.run({"torch", "--web", "--index-url", "https://registry/main/simple/"});
    CHECK(quiet.out.find("https://registry/main/project/torch/") == 0);
    CHECK(quiet.err == "");
    // At a wrong URL nobody says that no site reports.
    const auto wrong = house.run({"torch", "--web", "--index-url", "https://registry/nain/simple/"});
    CHECK(wrong.err.find("the indexes there are https://registry/main/simple/") != std::string::npos);
    const auto silent = house.run({"torch", "--web", "--index-url", "https://gone/main/simple/"});
    CHECK(silent.err.find("avail_wheels: warning: Nobody answers") == 0);
}

TEST_CASE("names are completed from the available wheel list") {
    const Farm farm;
    CHECK(farm.run({"--complete-name", "to"}).out == "torch\n");
    CHECK(farm.run({"--complete-name", ""}).out == "packaging\ntorch\n");
}

TEST_CASE("an unsupported shell for completion is an error") {
    const Wheelhouse house;
    CHECK(house.run({"--completion", "tcsh"}).status == 2);
}
TEST_CASE("a log-in needs a registry, and a home for its token") {
    Wheelhouse house;
    const auto unknown = house.run({"login"});
    CHECK(unknown.status == 2);
    CHECK(unknown.err.find("avail_wheels login https://") != std::string::npos);
    CHECK(house.run({"login", "--help"}).out.find("--identity") != std::string::npos);
    CHECK(house.run({"logout", "--identity", "campus"}).status == 2);
    house.environment.erase("HOME");
    CHECK(house.run({"login", "https://wheels.example.org"}).err.find("HOME") != std::string::npos);
    house.environment["HOME"] = house.folder.path().native();
    const auto none = house.run({"logout", "https://wheels.example.org"});
    CHECK(none.status == 0);
    CHECK(none.out.find("not logged in at wheels.example.org") != std::string::npos);
    CHECK(house.run({"--name", "login"}).status == 0);  // a wheel of this name
}
