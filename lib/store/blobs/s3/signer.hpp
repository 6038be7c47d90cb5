// AWS Signature Version 4 for S3, in the header and in a presigned URL. Pure: the caller gives the time.
//
//     text to sign = AWS4-HMAC-SHA256 \n time \n DAY/REGION/s3/aws4_request \n sha256(canonical request)
//     key          = HMAC(HMAC(HMAC(HMAC("AWS4" + secret, DAY), REGION), "s3"), "aws4_request")
//
// Source: "Authenticating Requests (AWS Signature Version 4)" of the Amazon S3 API reference; its two
// published examples are the test.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"

namespace wheelyard::blobs {

struct S3Credentials {
    std::string access_key;
    std::string secret_key;
    std::string session_token = {};  // of temporary credentials
};

using S3Query = std::vector<std::pair<std::string, std::string>>;
using S3Headers = std::vector<std::pair<std::string, std::string>>;

// The part of a request that is signed. `path` is not encoded and begins with '/'; `host` has the port where
// the URL has one.
struct S3Request {
    std::string method = "GET";
    std::string host;
    std::string path;
    S3Query query = {};
    S3Headers headers = {};  // more headers to sign
};

// The path, each segment percent-encoded once; the query, sorted, "name=" where there is no value.
[[nodiscard]] std::string s3_path(std::string_view path);
[[nodiscard]] std::string s3_query(S3Query query);

// The headers to send, without Host: those of the request, x-amz-date, x-amz-content-sha256, Authorization.
// `payload_sha256`: of the body, hexadecimal.
[[nodiscard]] S3Headers sign_headers(const S3Request& request, std::string_view payload_sha256,
                                     const S3Credentials& credentials, std::string_view region,
                                     base::UnixMicros now);
// The query of a URL that anybody may use for `seconds` (1 to 604800) from `from` on: the request's own, then
// the signature's.
[[nodiscard]] std::string presigned_query(const S3Request& request, const S3Credentials& credentials,
                                          std::string_view region, base::UnixMicros from, int seconds);

}  // namespace wheelyard::blobs
