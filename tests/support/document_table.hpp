// A table of docs/ that is generated from the code, between two marks. WHEELYARD_UPDATE_GOLDEN=1 writes it.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "lib/base/file.hpp"
#include "lib/base/limits.hpp"

namespace wheelyard::test_support {

// `program` is the test program that the marks name.
inline void check_document_table(const std::string& page_in_docs, const std::string& name,
                                 const std::string& table, const std::string& program) {
    const std::string first_mark =
        "<!-- " + name + ": WHEELYARD_UPDATE_GOLDEN=1 " + program + " writes them -->\n";
    const auto page = std::filesystem::path(WHEELYARD_TEST_DATA) / "../docs" / page_in_docs;
    auto text = base::read_file(page, base::mib);
    REQUIRE(text.has_value());
    const auto first = text->find(first_mark);
    const auto last = text->find("<!-- end of " + name + " -->\n");
    REQUIRE(first != std::string::npos);
    REQUIRE(last != std::string::npos);
    const auto begin = first + first_mark.size();
    const char* update = std::getenv("WHEELYARD_UPDATE_GOLDEN");
    if (update != nullptr && update[0] == '1') {
        text->replace(begin, last - begin, table);
        REQUIRE(base::replace_file(page, *text).has_value());
        return;
    }
    CHECK(text->substr(begin, last - begin) == table);
}

}  // namespace wheelyard::test_support
