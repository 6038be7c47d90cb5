#include "lib/page/html.hpp"

#include <doctest/doctest.h>

namespace wheelyard::page {

namespace {

std::string text_of(std::string_view value) {
    return Html().text(value).bytes();
}
std::string url_of(std::string_view value) {
    return Html().url(value).bytes();
}

}  // namespace

TEST_CASE("text cannot leave its element or its attribute") {
    const std::string hostile = "</p><script>alert(1)</script>\" onload='x' & <!--";
    const std::string escaped = text_of(hostile);
    for (const char c : {'<', '>', '"', '\''})
        CHECK(escaped.find(c) == std::string::npos);
    CHECK(text_of("R&D") == "R&amp;D");
}

TEST_CASE("text cannot change the direction of what follows it, nor hide characters") {
    CHECK(text_of("ab\xE2\x80\xAE"
                  "cd") == "ab?cd");  // U+202E, right-to-left override
    CHECK(text_of("ab\xE2\x81\xA6"
                  "cd") == "ab?cd");  // U+2066, isolate
    CHECK(text_of(std::string_view("a\0b\x1B[1m", 7)) == "a?b?[1m");
    CHECK(text_of("caf\xE9") == "caf?");  // Latin-1
    CHECK(text_of("caf\xC3\xA9\n") == "caf\xC3\xA9\n");
}

TEST_CASE("what lies between two backticks of a sentence is code, and everything is escaped") {
    CHECK(Html().prose("use `a <b>`, or `c`").bytes() == "use <code>a &lt;b&gt;</code>, or <code>c</code>");
    for (const char* plain : {"", "none", "one ` alone"})
        CHECK(Html().prose(plain).bytes() == plain);
    CHECK(Html().prose("``<").bytes() == "<code></code>&lt;");
}

TEST_CASE("a link has no scheme, or http, https or mailto; anything else leads nowhere") {
    for (const char* safe : {"https://example.org/a?b=c&d", "http://example.org", "mailto:a@example.org",
                             "../../files/a", "#wheel-1", "a/b:c", "?q=a:b", ""})
        CHECK_MESSAGE(is_safe_url(safe), safe);
    for (const char* unsafe :
         {"javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "java\tscript:alert(1)",
          "java\nscript:alert(1)", "\x01javascript:alert(1)", "data:text/html,<script>", "vbscript:x",
          "file:///etc/passwd", "blob:x", "\\\\host\\share", "https://a\\b", "\t//example.org/a", "a\x7F"}) {
        CHECK_MESSAGE(!is_safe_url(unsafe), unsafe);
        CHECK(url_of(unsafe) == "#");
    }
    CHECK(url_of("https://example.org/\"><script>") == "https://example.org/&quot;&gt;&lt;script&gt;");
}

}  // namespace wheelyard::page
