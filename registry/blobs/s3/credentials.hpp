// The credentials of an S3 store: from a file or from the environment, never from a command line, a URL or the
// configuration.
//
// A file is two lines, the access key and the secret key, or the file of Amazon's tools (`[default]`,
// `aws_access_key_id = …`, `aws_secret_access_key = …`, `aws_session_token = …`). Without a file the variables
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN count, then the file that AWS_SHARED_CREDENTIALS_FILE
// names. The profile of a file is AWS_PROFILE's, or "default".
#pragma once

#include <filesystem>
#include <string_view>

#include "lib/base/result.hpp"
#include "registry/blobs/s3/signer.hpp"

namespace wheelyard::blobs {

// Error "s3.credentials", without any of the text.
[[nodiscard]] base::Result<S3Credentials> parse_credentials(std::string_view text, std::string_view profile);
// `file` empty: from the environment.
[[nodiscard]] base::Result<S3Credentials> find_credentials(const std::filesystem::path& file);

}  // namespace wheelyard::blobs
