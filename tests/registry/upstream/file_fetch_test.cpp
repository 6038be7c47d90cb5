// What an upstream sent for a file against what its page promises.
#include "registry/upstream/file_fetch.hpp"

#include <doctest/doctest.h>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "registry/blobs/folder/folder_blobs.hpp"

using namespace wheelyard;

TEST_CASE("bytes with another hash or size than the page promises are refused") {
    const base::TempDir dir = base::TempDir::make("fetch").value();
    const auto blobs = blobs::FolderBlobs::open(dir.path()).value();
    const std::string promised = "the bytes of a wheel";
    const auto code_of = [&](const std::string& sent, std::optional<std::uint64_t> size) {
        simple::FileLink link;
        link.sha256 = base::sha256_hex(promised);
        link.size = size;
        blobs::StagedBlob staged = blobs.stage().value();
        REQUIRE(staged.write(sent));
        const base::Status checked = registry::check_bytes(staged, link);
        if (!checked) CHECK(checked.error().kind == base::ErrorKind::conflict);  // an alarm
        return checked ? std::string() : checked.error().code;
    };
    CHECK(code_of(promised, promised.size()).empty());
    CHECK(code_of(promised, std::nullopt).empty());
    CHECK(code_of("the bytes of another", std::nullopt) == "upstream.hash");
    CHECK(code_of("THE bytes of a wheel", promised.size()) == "upstream.hash");
    CHECK(code_of("", std::nullopt) == "upstream.hash");
    CHECK(code_of(promised, promised.size() + 1) == "upstream.size");
    CHECK(code_of(promised + "!", promised.size()) == "upstream.size");
}
