// The credentials of an S3 store: from a file, from the environment or from what the machine runs on, never
// from a command line, a URL or the configuration.
//
//     1. the file of the configuration
//     2. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN
//     3. the file that AWS_SHARED_CREDENTIALS_FILE names
//     4. the service of a container: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI, with
//        AWS_CONTAINER_AUTHORIZATION_TOKEN or _TOKEN_FILE
//     5. the metadata service of an instance, version 2 only, unless AWS_EC2_METADATA_DISABLED is true; its address is
//        AWS_EC2_METADATA_SERVICE_ENDPOINT or http://169.254.169.254
//
// A file is two lines, the access key and the secret key, or the file of Amazon's tools (`[default]`,
// `aws_access_key_id = …`, `aws_secret_access_key = …`, `aws_session_token = …`). The profile of a file is
// AWS_PROFILE's, or "default". A file that was replaced is read again. What a service gave is asked for again
// before it ends; as long as the service fails, the old ones are used to their end.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/store/blobs/s3/signer.hpp"

namespace wheelyard::blobs {

// Thread-safe. Errors "s3.credentials" show none of the credentials.
class S3CredentialSource {
  public:
    virtual ~S3CredentialSource() = default;
    // Those to sign with at `now`. Waits a few seconds at most, where a service has to be asked.
    [[nodiscard]] virtual base::Result<S3Credentials> at(base::UnixMicros now) = 0;
    // Those for a URL that others use later, without a wait; nullopt: there are none that work for long
    // enough.
    [[nodiscard]] virtual std::optional<S3Credentials> for_url(base::UnixMicros now) {
        auto found = at(now);
        return found ? std::optional(*std::move(found)) : std::nullopt;
    }
};

[[nodiscard]] std::shared_ptr<S3CredentialSource> fixed_credentials(S3Credentials credentials);

// The first of the list above that is there; `file` empty: the second on. An error where a file or the
// environment has no usable credentials; a service is asked later, so that a server starts without it.
[[nodiscard]] base::Result<std::shared_ptr<S3CredentialSource>> find_credentials(
    const std::filesystem::path& file);

// Error "s3.credentials", without any of the text.
[[nodiscard]] base::Result<S3Credentials> parse_credentials(std::string_view text, std::string_view profile);

struct EndingCredentials {
    S3Credentials credentials;
    base::UnixMicros end = 0;
};
// What both services answer:
// {"AccessKeyId":…,"SecretAccessKey":…,"Token":…,"Expiration":"2026-11-26T18:00:00Z"}. The same error.
[[nodiscard]] base::Result<EndingCredentials> parse_service_answer(std::string_view json);

}  // namespace wheelyard::blobs
