// The examples of the Amazon S3 API reference, "Signature Calculations for the Authorization Header" and "Using Query
// Parameters", and the test cases of RFC 4231.
#include "lib/store/blobs/s3/signer.hpp"

#include <doctest/doctest.h>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"

using namespace wheelyard;

namespace {

const blobs::S3Credentials example{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};

base::UnixMicros example_time() {
    return base::parse_rfc3339("2013-05-24T00:00:00Z").value();
}

std::string header(const blobs::S3Headers& headers, std::string_view wanted) {
    for (const auto& [name, value] : headers) {
        if (name == wanted) return value;
    }
    return {};
}

std::string signature_of(const blobs::S3Request& request, std::string_view payload) {
    const std::string authorization =
        header(blobs::sign_headers(request, base::sha256_hex(payload), example, "us-east-1", example_time()),
               "Authorization");
    return authorization.substr(authorization.rfind('=') + 1);
}

}  // namespace

TEST_CASE("a signed header is that of the published example: GET of a range") {
    const blobs::S3Request request{
        .host = "examplebucket.s3.amazonaws.com", .path = "/test.txt", .headers = {{"Range", "bytes=0-9"}}};
    const auto headers =
        blobs::sign_headers(request, base::sha256_hex(""), example, "us-east-1", example_time());
    CHECK(header(headers, "x-amz-date") == "20130524T000000Z");
    CHECK(header(headers, "Authorization") ==
          "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
          "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
          "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST_CASE("the other published examples: PUT of a key with `$`, a query without a value, a list") {
    CHECK(signature_of({.method = "PUT",
                        .host = "examplebucket.s3.amazonaws.com",
                        .path = "/test$file.text",
                        .headers = {{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                                    {"x-amz-storage-class", "REDUCED_REDUNDANCY"}}},
                       "Welcome to Amazon S3.") ==
          "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
    CHECK(signature_of({.host = "examplebucket.s3.amazonaws.com", .path = "/", .query = {{"lifecycle", ""}}},
                       "") == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    CHECK(signature_of({.host = "examplebucket.s3.amazonaws.com",
                        .path = "/",
                        .query = {{"prefix", "J"}, {"max-keys", "2"}}},
                       "") == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST_CASE("a presigned URL is that of the published example") {
    const blobs::S3Request request{.host = "examplebucket.s3.amazonaws.com", .path = "/test.txt"};
    CHECK(blobs::presigned_query(request, example, "us-east-1", example_time(), 86400) ==
          "X-Amz-Algorithm=AWS4-HMAC-SHA256"
          "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
          "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
          "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
}

TEST_CASE("a session token is signed with the rest") {
    blobs::S3Credentials temporary = example;
    temporary.session_token = "a/b";
    const blobs::S3Request request{.host = "h", .path = "/x"};
    const auto headers =
        blobs::sign_headers(request, base::sha256_hex(""), temporary, "us-east-1", example_time());
    CHECK(header(headers, "x-amz-security-token") == "a/b");
    CHECK(header(headers, "Authorization").find(";x-amz-security-token,") != std::string::npos);
    CHECK(blobs::presigned_query(request, temporary, "us-east-1", example_time(), 60)
              .find("&X-Amz-Security-Token=a%2Fb&") != std::string::npos);
}
