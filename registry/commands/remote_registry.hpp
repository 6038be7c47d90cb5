// The API of a registry anywhere, for commands with --url and --token-file.
#pragma once

#include <filesystem>
#include <string>

#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::registry {

class RemoteRegistry {
  public:
    // Errors: "lifecycle.token_file".
    [[nodiscard]] static base::Result<RemoteRegistry> open(std::string url,
                                                           const std::filesystem::path& token_file);
    // Returns the body of a 200; any other reply becomes an error with the server's message. `address` begins
    // with "/".
    [[nodiscard]] base::Result<std::string> post(const std::string& address, const std::string& json);
    [[nodiscard]] base::Result<std::string> get(const std::string& address);

  private:
    RemoteRegistry(std::string url, std::string token) : url_(std::move(url)), token_(std::move(token)) {}
    std::string url_;
    std::string token_;
    io::HttpClient client_;
};

}  // namespace wheelyard::registry
