// Converts the wheels of an answer to the rows of a table.
#include "indexer/avail_wheels/table/table.hpp"

#include <doctest/doctest.h>

#include "tests/indexer/avail_wheels/sample_wheels.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

namespace {

Answer output_of(const std::vector<std::string>& filenames, const std::vector<std::string>& wanted = {"*"}) {
    Query query;
    query.wanted = make_wanted(wanted);
    query.all_versions = true;
    return select(query, make_candidates(filenames));
}

RowOptions options_for(std::vector<std::string> columns) {
    RowOptions options;
    options.columns = std::move(columns);
    return options;
}

}  // namespace

TEST_CASE("every column shows its part of the file name") {
    const auto candidate = make_candidate(
        "Flash_Attn-2.5.0+cu126-1b-py3.cp311-abi3.none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl");
    struct Case {
        const char* column;
        const char* text;
    };
    for (const auto& [column, text] :
         {Case{"name", "Flash_Attn"}, Case{"version", "2.5.0"}, Case{"localversion", "cu126"},
          Case{"build", "1b"}, Case{"python", "cp311,py3"}, Case{"abi", "abi3,none"},
          Case{"platform", "manylinux2014_x86_64,manylinux_2_17_x86_64"}, Case{"arch", "x86_64"}}) {
        CHECK(cell(candidate, column) == text);
    }
    const auto plain = make_candidate("six-1.16.0-py2.py3-none-any.whl");
    for (const char* column : {"localversion", "build"})
        CHECK(cell(plain, column) == "");
    CHECK(all_columns.size() == 12);
}

TEST_CASE("wheels that differ only in hidden columns are one row") {
    const auto answer = output_of(
        {"torch-2.4.0+cu124-cp312-cp312-linux_x86_64.whl", "torch-2.4.0+cu126-cp312-cp312-linux_x86_64.whl"});
    CHECK(make_rows(answer, options_for({"name", "version"})) == std::vector<Row>{{"torch", "2.4.0"}});
    CHECK(make_rows(answer, options_for({"name", "localversion"})) ==
          std::vector<Row>{{"torch", "cu126"}, {"torch", "cu124"}});
}

TEST_CASE("condensed rows join the distinct values of a column, greatest first") {
    auto options = options_for({"name", "version", "python", "arch"});
    options.condense = true;
    const auto answer =
        output_of({"numpy-1.9.0-cp39-cp39-linux_x86_64.whl", "numpy-1.10.0-cp310-cp310-linux_x86_64.whl",
                   "numpy-1.10.0-cp39-cp39-linux_aarch64.whl", "six-1.16.0-py2.py3-none-any.whl"});
    CHECK(make_rows(answer, options) ==
          std::vector<Row>{{"numpy", "1.10.0, 1.9.0", "cp310, cp39", "x86_64, aarch64"},
                           {"six", "1.16.0", "py2,py3", "generic"}});
}

TEST_CASE("a name without a wheel has a row with only the name, in sorted position") {
    auto options = options_for({"name", "version"});
    const std::vector<std::string> names{"packaging-21.3-py3-none-any.whl",
                                         "tabulate-0.8.10-py3-none-any.whl"};
    const auto answer = output_of(names, {"tabulate", "Pip", "packaging"});
    CHECK(make_rows(answer, options) == std::vector<Row>{{"packaging", "21.3"}, {"tabulate", "0.8.10"}});
    options.not_available = true;
    CHECK(make_rows(answer, options) ==
          std::vector<Row>{{"packaging", "21.3"}, {"Pip", ""}, {"tabulate", "0.8.10"}});
    options.not_available_only = true;
    CHECK(make_rows(answer, options) == std::vector<Row>{{"Pip", ""}});
}
