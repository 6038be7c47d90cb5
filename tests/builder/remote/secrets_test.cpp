#include "builder/remote/secrets.hpp"

#include <doctest/doctest.h>

#include <utility>

namespace wheelyard::builder {
namespace {

TEST_CASE("secrets and the users of URLs are hidden, wherever they are") {
    const std::vector<std::string> secrets = {"wy_abc123", ""};
    const std::pair<const char*, const char*> rows[] = {
        {"token wy_abc123, again wy_abc123", "token (hidden), again (hidden)"},
        {"http://me:pass@proxy:3128/ answers", "http://(hidden)@proxy:3128/ answers"},
        {"a http://u:p@h b https://v:q@i/x@y", "a http://(hidden)@h b https://(hidden)@i/x@y"},
        {"http://u:p@ss@host", "http://(hidden)@host"},
        {"https://host/a@b", "https://host/a@b"},
        {"mail me@host, see https://host", "mail me@host, see https://host"},
        {"me@host http://", "me@host http://"},
        {"http://@host", "http://(hidden)@host"},
        {"curl -u __token__:wy_5f0c9a31d2be_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef "
         "x",
         "curl -u __token__:(hidden) x"},
        {"the token wy_5f0c9a31d2be is public", "the token wy_5f0c9a31d2be is public"},
        {"", ""},
    };
    for (const auto& [text, expected] : rows) {
        CHECK(hide_secrets(text, secrets) == expected);
        const std::string masked = mask_secrets(text, secrets);
        CHECK(masked.size() == std::string(text).size());
        CHECK((masked == text) == (std::string(text) == expected || std::string(text) == "http://@host"));
    }
}

TEST_CASE("a masked text keeps its offsets") {
    CHECK(mask_secrets("a wy_abc123 b http://u:p@h/ c", {"wy_abc123"}) == "a ********* b http://***@h/ c");
}

}  // namespace
}  // namespace wheelyard::builder
