// libcurl's numbers as errors: which of them a caller tries again, and which it does not.
#include "lib/io/curl_library.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;

namespace {

base::Error error_of(CURLcode number) {
    return io::fail_curl(number, "detail", "https://user:secret@example.org/x").value();
}

struct Expected {
    CURLcode number;
    const char* code;
    base::ErrorKind kind;
    base::Recovery recovery;
};

}  // namespace

TEST_CASE("a transfer that failed on its way is unreachable and may pass; one that cannot work is final") {
    using enum base::ErrorKind;
    using enum base::Recovery;
    for (const auto& row : {Expected{CURLE_COULDNT_RESOLVE_HOST, "http.resolve", unreachable, retry},
                            Expected{CURLE_COULDNT_CONNECT, "http.connect", unreachable, retry},
                            Expected{CURLE_OPERATION_TIMEDOUT, "http.timeout", cut, retry},
                            Expected{CURLE_PEER_FAILED_VERIFICATION, "http.tls", unreachable, retry},
                            Expected{CURLE_PARTIAL_FILE, "http.cut", cut, retry},
                            Expected{CURLE_TOO_MANY_REDIRECTS, "http.redirects", unavailable, retry},
                            Expected{CURLE_READ_ERROR, "http.file", cut, retry},
                            Expected{CURLE_UNSUPPORTED_PROTOCOL, "http.url", other, never},
                            Expected{CURLE_URL_MALFORMAT, "http.url", other, never},
                            Expected{CURLE_ABORTED_BY_CALLBACK, "http.stopped", cut, retry}}) {
        const auto error = error_of(row.number);
        CAPTURE(row.code);
        CHECK(error.code == row.code);
        CHECK(error.kind == row.kind);
        CHECK(error.recovery == row.recovery);
    }
}

TEST_CASE(
    "a certificate's error says what is wrong with it, and only an unknown authority needs SSL_CERT_FILE") {
    struct Certificate {
        long verify_result;  // of OpenSSL 3.0 in libcurl 7.88: curl --write-out '%{ssl_verify_result}'
        const char* word;
        bool needs_bundle;
    };
    for (const auto& row : {Certificate{1, "host name", false}, Certificate{9, "not valid yet", false},
                            Certificate{10, "has expired", false}, Certificate{18, "authority", true},
                            Certificate{19, "authority", true}, Certificate{20, "authority", true},
                            Certificate{23, "not accepted", false}}) {
        CAPTURE(row.verify_result);
        const auto error =
            io::fail_curl(CURLE_PEER_FAILED_VERIFICATION, "", "https://example.org", row.verify_result)
                .value();
        CHECK(error.sentence.find(row.word) != std::string::npos);
        CHECK((error.advice.find("SSL_CERT_FILE") != std::string::npos) == row.needs_bundle);
    }
}

TEST_CASE("a number that has no row is a failed transfer, which may pass") {
    const auto error = error_of(CURLE_OUT_OF_MEMORY);
    CHECK(error.code == "http.failed");
    CHECK(error.kind == base::ErrorKind::unreachable);
    CHECK(error.may_pass());
}

TEST_CASE("the error shows libcurl's detail and never the address's password") {
    const auto error = error_of(CURLE_COULDNT_CONNECT);
    CHECK(error.sentence == "The server refuses connections (detail)");
    CHECK(error.value.find("secret") == std::string::npos);
    CHECK(error_of(CURLE_ABORTED_BY_CALLBACK).sentence == "The transfer was stopped");
}
