// Where the blobs of a registry are: files of the data folder, or an S3 bucket beside it. Staging is in the folder in
// either case.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

namespace wheelyard::blobs {

struct Place {
    Place(std::filesystem::path data)
        : folder(std::move(data)) {}  // NOLINT(google-explicit-constructor): files in it
    Place(std::filesystem::path data, std::string s3_url) : folder(std::move(data)), url(std::move(s3_url)) {}

    std::filesystem::path folder;      // the data folder
    std::string url = {};              // "s3://BUCKET/PREFIX"; empty: files of the folder
    std::string endpoint = {};         // "https://…" for this process; empty: Amazon's of the region
    std::string public_endpoint = {};  // the same for clients; empty: they get no URL of the store
    std::string region = {};           // empty: us-east-1
    bool path_style = false;           // the bucket is part of the path, not of the host's name
    std::filesystem::path credentials_file = {};  // empty: from the environment

    // For messages: "s3://BUCKET/PREFIX at https://…" or the folder.
    [[nodiscard]] std::string text() const {
        if (url.empty()) return (folder / "blobs").string();
        return url + (endpoint.empty() ? "" : " at " + endpoint);
    }
};

}  // namespace wheelyard::blobs
