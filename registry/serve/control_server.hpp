// Answers commands of this machine over the store's control socket (registry/store/control_socket.hpp):
// operations only, as `local:NAME` of who connected. Its threads are its own, so a long gc takes no slot of
// the API and no thread of an upload.
//
// An operation whose caller has gone goes on to its end, but gc and retain, which stop between two steps.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "lib/base/files/fd.hpp"
#include "lib/base/result.hpp"
#include "lib/store/commit/publishing.hpp"
#include "registry/api/api.hpp"
#include "registry/store/control_socket.hpp"

namespace wheelyard::registry {

class ControlServer {
  public:
    // The caller has the store's lock. What `api` and `pages` refer to outlives the server.
    [[nodiscard]] static base::Result<std::unique_ptr<ControlServer>> open(const std::filesystem::path& store,
                                                                           Api& api, PublishQueue& pages);
    // Waits for operations in progress, of which the long ones stop.
    ~ControlServer();
    ControlServer(const ControlServer&) = delete;
    ControlServer& operator=(const ControlServer&) = delete;

  private:
    struct Work;
    ControlServer(const std::filesystem::path& store, Api& api, PublishQueue& pages, base::Fd listener,
                  base::Fd stop);
    void accept();
    void serve(ControlConnection connection) const;
    void answer(ControlConnection& connection, const std::string& actor) const;
    [[nodiscard]] io::Json perform(const io::Json& asked, const std::string& actor, Work& work) const;
    [[nodiscard]] bool may_ask(uid_t user) const;

    const std::filesystem::path store_;
    Api& api_;
    PublishQueue& pages_;
    const base::Fd listener_;
    const base::Fd stop_;  // readable once the threads must end
    std::atomic<bool> is_stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace wheelyard::registry
