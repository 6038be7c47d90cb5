// A key that signs trees, and what its signed documents have to say about a tree.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>

#include "indexer/publish/publish.hpp"
#include "indexer/tree/event_log.hpp"
#include "indexer/tree/paths.hpp"
#include "lib/attest/index_state.hpp"
#include "lib/attest/page_list.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "tests/indexer/store_fixture.hpp"

namespace wheelyard::indexer {

inline constexpr base::UnixMicros one_day = 24LL * 3600 * 1'000'000;

struct TestSigner {
    attest::SigningKey key = attest::SigningKey::generate();
    attest::SigningKey root_key = attest::SigningKey::generate();
    attest::Root root = make_root();

    attest::Root make_root() const {
        attest::Root made{.expires = noon + 400 * one_day};
        for (const auto* one : {&root_key.public_key(), &key.public_key()})
            made.keys.emplace(one->id(), *one);
        made.roots = {root_key.public_key().id()};
        made.provenance = {key.public_key().id()};
        return made;
    }
    [[nodiscard]] IndexSigner signer() const { return {.key = &key, .history = root.history}; }
    [[nodiscard]] std::string root_text() const { return attest::sign_root(root, {&root_key}); }
};

inline std::string signed_text_of(const std::filesystem::path& file) {
    return base::read_file(file, 1 << 25).value_or(std::string());
}

// The verified state of a tree's index; "main" has to be signed by this key, and valid now.
inline attest::IndexState signed_state(const std::filesystem::path& tree, const TestSigner& by,
                                       base::UnixMicros now, const std::string& index = "main") {
    const auto verified = attest::verify_index_state(signed_text_of(tree / index / attest::index_state_path),
                                                     by.root, index, {}, now);
    REQUIRE_MESSAGE(verified, verified.error().text());
    return verified->state;
}

// Every page of the index has its line, with its hash, and there is no line for another; the serial is that of the log.
inline void check_signed(const std::filesystem::path& tree, const TestSigner& by, base::UnixMicros now,
                         const std::string& index = "main") {
    const attest::IndexState state = signed_state(tree, by, now, index);
    const std::string log = signed_text_of(tree / index / event_folder / event_tail);
    CHECK(state.serial == (log.empty() ? 0 : parse_event_segment(log)->serial));
    auto pages = attest::SignedPages::open(
        state.pages,
        [&](const std::string& path, const std::string&) -> base::Result<std::optional<std::string>> {
            return std::optional(signed_text_of(tree / index / path));
        });
    REQUIRE(pages);
    attest::PageHashes listed;
    for (const auto& [path, sha256] : pages->first()) {
        if (!attest::is_page_list(path)) listed.emplace(path, sha256);
        const auto lines = attest::is_page_list(path) ? pages->list(path) : nullptr;
        REQUIRE(lines);
        if (*lines == nullptr) continue;
        CHECK_FALSE((*lines)->empty());
        listed.insert((*lines)->begin(), (*lines)->end());
    }
    attest::PageHashes there;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tree / index / "simple")) {
        const std::string name = entry.path().filename().native();
        if (name == html_page || name == json_page)
            there.emplace(entry.path().lexically_relative(tree / index).native(),
                          base::sha256_hex(signed_text_of(entry.path())));
    }
    CHECK(listed == there);
}

}  // namespace wheelyard::indexer
