// The files of variants: a damaged one is written again.
#include "indexer/tree/variants_folders.hpp"

#include <doctest/doctest.h>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

TEST_CASE("a variants file with other bytes of the same size is written again") {
    const base::TempDir dir = base::TempDir::make("variants").value();
    const std::string folder = (dir.path() / "six").native();
    const std::string bytes = R"({"variants":{}})";
    const std::vector<catalog::VariantsFile> files{
        {{.filename = "six-1.0-variants.json", .sha256 = base::sha256_hex(bytes)}, bytes}};
    const std::filesystem::path file = folder + "/" + files[0].sha256 + "/six-1.0-variants.json";
    LocalDisk disk;
    REQUIRE(place_variants(disk, folder, files));
    CHECK(base::read_file(file, 1024) == bytes);
    REQUIRE(base::replace_file(file, std::string(bytes.size(), '?')));
    REQUIRE(place_variants(disk, folder, files));
    CHECK(base::read_file(file, 1024) == bytes);
}
