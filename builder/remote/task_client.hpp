// The task service over HTTP: short outbound requests only.
#pragma once

#include <memory>
#include <string>

#include "builder/remote/task_service.hpp"
#include "builder/remote/upload.hpp"
#include "builder/site/site.hpp"
#include "lib/base/clock.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::builder {

class HttpTaskService final : public TaskService {
  public:
    // `http` sends the requests of this service, `upload_http` the wheels. All references must outlive the
    // object.
    HttpTaskService(io::HttpClient& http, io::HttpClient& upload_http, base::Clock& clock,
                    RegistrySettings settings)
        : http_(http), upload_http_(upload_http), clock_(clock), settings_(std::move(settings)) {}
    [[nodiscard]] base::Result<wire::Claimed> claim(const wire::ClaimOffer& offer) override;
    [[nodiscard]] base::Status end(const std::string& task, const wire::Outcome& outcome) override;
    [[nodiscard]] std::unique_ptr<Registry> uploads_to(const std::string& index,
                                                       const std::string& task) override;

  private:
    // Returns the body of a 200 answer.
    [[nodiscard]] base::Result<std::string> post(const std::string& address, const std::string& body);
    io::HttpClient& http_;
    io::HttpClient& upload_http_;
    base::Clock& clock_;
    RegistrySettings settings_;
    bool is_registry_ = false;  // whether settings_.url has answered as one
};

}  // namespace wheelyard::builder
