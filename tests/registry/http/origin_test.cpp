#include "registry/http/origin.hpp"

#include <doctest/doctest.h>

namespace wheelyard::http {

TEST_CASE("a change that a page of another site made a browser send is recognised") {
    struct Row {
        const char* method;
        const char* fetch_site;
        const char* origin;
        bool is_other;
    };
    for (const Row& row : {
             Row{"POST", "", "", false},  // a program
             Row{"POST", "same-origin", "https://wheels.example.org", false},
             Row{"POST", "none", "", false},
             Row{"POST", "same-site", "https://www.example.org", true},
             Row{"POST", "cross-site", "https://evil.example", true},
             Row{"DELETE", "cross-site", "", true},
             Row{"GET", "cross-site", "https://evil.example", false},
             Row{"HEAD", "cross-site", "", false},
             Row{"POST", "", "https://wheels.example.org", false},
             Row{"POST", "", "https://WHEELS.example.org:8443", false},
             Row{"POST", "", "http://evil.example", true},
             Row{"POST", "", "https://wheels.example.org.evil.example", true},
             Row{"PATCH", "", "null", true},
             Row{"PUT", "", "https://wheels.example.org, https://evil.example", true},
         }) {
        CAPTURE(row.method);
        CAPTURE(row.fetch_site);
        CAPTURE(row.origin);
        RequestHead head;
        head.method = row.method;
        head.fetch_site = row.fetch_site;
        head.origin = row.origin;
        CHECK(is_from_other_site(head, "https://wheels.example.org") == row.is_other);
    }
}

}  // namespace wheelyard::http
