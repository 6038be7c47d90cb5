#include "indexer/avail_wheels/run.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "lib/base/file.hpp"
#include "lib/base/temp_dir.hpp"
#include "tests/support/golden.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

namespace {

// A wheelhouse as the Alliance lays it out.
struct Wheelhouse {
    base::TempDir folder = *base::TempDir::make("wheelyard-run-test");
    EnvironmentMap environment{{"WHEELHOUSE", folder.path().native()}};

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
        std::ostringstream out;
        std::ostringstream err;
        const int status = avail_wheels::run(arguments, environment, out, err);
        return {status, out.str(), err.str()};
    }
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

TEST_CASE("what a requirements file asks for and is not there has a row of its own") {
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

TEST_CASE("each way to ask prints what is agreed") {
    const Wheelhouse house;
    struct Case {
        const char* golden;
        std::vector<std::string> arguments;
    };
    for (const auto& [golden, arguments] : {
             Case{"everything", {}},
             Case{"no_match", {"nothing"}},
             Case{"all_versions", {"numpy", "--all-versions"}},
             Case{"specifier", {"numpy<1.22"}},
             Case{"version", {"netcdf4", "-v", "1.5.*"}},
             Case{"python", {"numpy", "-p", "3.9"}},
             Case{"arch", {"-a", "avx2"}},
             Case{"columns",
                  {"numpy", "--all-versions", "--column", "name", "version", "localversion", "build",
                   "python", "abi", "platform", "arch"}},
             Case{"condense", {"--all-versions", "--condense"}},
             Case{"raw", {"numpy", "--all-versions", "--raw"}},
             Case{"not_available_only", {"numpy", "pip", "--not-available-only"}},
             Case{"raw_not_available", {"numpy", "pip", "--raw", "--not-available"}},
             Case{"csv", {"--format", "csv"}},
             Case{"mediawiki", {"torch", "--mediawiki"}},
         }) {
        CAPTURE(golden);
        const auto ran = house.run(arguments);
        CHECK(ran.status == 0);
        CHECK(ran.err == "");
        CHECK(test_support::golden_difference(std::string("avail_wheels/run_") + golden + ".txt", ran.out) ==
              "");
    }
}

TEST_CASE("a source that cannot be read is status 1 with a reason and no table") {
    Wheelhouse house;
    house.environment["WHEELHOUSE"] = "/nowhere/wheels";
    const auto ran = house.run({});
    CHECK(ran.status == 1);
    CHECK(ran.out == "");
    CHECK(ran.err.find("avail_wheels: ") == 0);
    CHECK(ran.err.find("/nowhere/wheels") != std::string::npos);
}

TEST_CASE("complaints go to standard error, help to standard output") {
    const Wheelhouse house;
    CHECK(house.run({"--nonsense"}).out == "");
    CHECK(house.run({"--nonsense"}).status == 2);
    CHECK(house.run({"--help"}).err == "");
    CHECK(house.run({"--all", "-p", "3.9"}).err ==
          "Ignoring --arch, --version and --python since --all is set.\n");
}
