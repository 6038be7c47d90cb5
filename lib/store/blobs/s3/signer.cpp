#include "lib/store/blobs/s3/signer.hpp"

#include <algorithm>

#include "lib/base/digest/digest.hpp"
#include "lib/base/digest/hmac.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::blobs {
namespace {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";

// "20130524T000000Z"
std::string amz_time(base::UnixMicros time) {
    std::string compact;
    for (const char c : base::render_rfc3339(time).substr(0, 19)) {
        if (c != '-' && c != ':') compact += c;
    }
    return compact + "Z";
}

std::string scope_of(std::string_view time, std::string_view region) {
    return std::string(time.substr(0, 8)).append("/").append(region).append("/s3/aws4_request");
}

// Runs of spaces inside a value count as one.
std::string folded(std::string_view value) {
    std::string text;
    for (const char c : base::trim(value)) {
        if (c != ' ' || text.back() != ' ') text += c;
    }
    return text;
}

S3Headers sorted_headers(const S3Request& request) {
    S3Headers headers{{"host", request.host}};
    for (const auto& [name, value] : request.headers)
        headers.emplace_back(base::ascii_lower(name), value);
    std::sort(headers.begin(), headers.end());
    return headers;
}

std::string names_of(const S3Headers& headers) {
    std::string names;
    for (const auto& [name, value] : headers)
        names.append(names.empty() ? "" : ";").append(name);
    return names;
}

// Hexadecimal.
std::string signature_of(const S3Request& request, std::string_view payload_sha256, std::string_view time,
                         const S3Credentials& credentials, std::string_view region) {
    std::string canonical =
        request.method + "\n" + s3_path(request.path) + "\n" + s3_query(request.query) + "\n";
    const S3Headers headers = sorted_headers(request);
    for (const auto& [name, value] : headers)
        canonical.append(name).append(":").append(folded(value)).append("\n");
    canonical.append("\n").append(names_of(headers)).append("\n").append(payload_sha256);
    const std::string text = std::string(algorithm)
                                 .append("\n")
                                 .append(time)
                                 .append("\n")
                                 .append(scope_of(time, region))
                                 .append("\n")
                                 .append(base::sha256_hex(canonical));
    std::string key = base::hmac_sha256("AWS4" + credentials.secret_key, time.substr(0, 8));
    for (const std::string_view part : {region, std::string_view("s3"), std::string_view("aws4_request")})
        key = base::hmac_sha256(key, part);
    return base::encode_hex(base::hmac_sha256(key, text));
}

}  // namespace

std::string s3_path(std::string_view path) {
    std::string encoded;
    for (const std::string_view segment : base::split(path.substr(1), '/')) {
        encoded += '/';
        base::append_percent(encoded, segment);
    }
    return encoded;
}

std::string s3_query(S3Query query) {
    for (auto& [name, value] : query) {
        name = base::encode_percent(name);
        value = base::encode_percent(value);
    }
    std::sort(query.begin(), query.end());
    std::string text;
    for (const auto& [name, value] : query)
        text.append(text.empty() ? "" : "&").append(name).append("=").append(value);
    return text;
}

S3Headers sign_headers(const S3Request& request, std::string_view payload_sha256,
                       const S3Credentials& credentials, std::string_view region, base::UnixMicros now) {
    const std::string time = amz_time(now);
    S3Request signed_request = request;
    signed_request.headers.emplace_back("x-amz-date", time);
    signed_request.headers.emplace_back("x-amz-content-sha256", payload_sha256);
    if (!credentials.session_token.empty())
        signed_request.headers.emplace_back("x-amz-security-token", credentials.session_token);
    const std::string signature = signature_of(signed_request, payload_sha256, time, credentials, region);
    std::string authorization(algorithm);
    authorization.append(" Credential=").append(credentials.access_key).append("/");
    authorization.append(scope_of(time, region)).append(",SignedHeaders=");
    authorization.append(names_of(sorted_headers(signed_request))).append(",Signature=").append(signature);
    signed_request.headers.emplace_back("Authorization", std::move(authorization));
    return std::move(signed_request.headers);
}

std::string presigned_query(const S3Request& request, const S3Credentials& credentials,
                            std::string_view region, base::UnixMicros from, int seconds) {
    const std::string time = amz_time(from);
    S3Request signed_request = request;
    S3Query& query = signed_request.query;
    query.emplace_back("X-Amz-Algorithm", algorithm);
    query.emplace_back("X-Amz-Credential", credentials.access_key + "/" + scope_of(time, region));
    query.emplace_back("X-Amz-Date", time);
    query.emplace_back("X-Amz-Expires", std::to_string(seconds));
    query.emplace_back("X-Amz-SignedHeaders", "host");
    if (!credentials.session_token.empty())
        query.emplace_back("X-Amz-Security-Token", credentials.session_token);
    const std::string signature = signature_of(signed_request, "UNSIGNED-PAYLOAD", time, credentials, region);
    return s3_query(query) + "&X-Amz-Signature=" + signature;
}

}  // namespace wheelyard::blobs
