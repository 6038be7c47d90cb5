// Sends clients to the blob store for files, or passes the bytes on: through a file without a name, so that a
// slow client holds neither a thread nor a request to the store. What its client has given up is not fetched
// to the end.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "lib/store/blobs/disk_room.hpp"
#include "lib/store/blobs/store.hpp"
#include "registry/http/readers.hpp"

namespace wheelyard::registry {

class RemoteFiles final : public http::RemoteFileService {
  public:
    // `folder`: of the files without names; none is begun that would leave less room on its disk than `room`
    // keeps. The references must outlive this object.
    RemoteFiles(const blobs::BlobStore& blobs, std::filesystem::path folder, blobs::DiskRoom room);
    ~RemoteFiles() override;  // ends the fetches under way: their clients see the connection end
    RemoteFiles(const RemoteFiles&) = delete;
    RemoteFiles& operator=(const RemoteFiles&) = delete;

    [[nodiscard]] std::optional<std::string> url_for(const http::RemoteFile& file) override;
    void fetch(const http::RemoteFile& file, std::function<void(http::RemoteAnswer)> then) override;

  private:
    struct Job {
        http::RemoteFile file;
        std::function<void(http::RemoteAnswer)> then;
    };
    void work();
    void run(Job& job);

    const blobs::BlobStore& blobs_;
    const std::filesystem::path folder_;
    const blobs::DiskRoom room_;
    std::mutex mutex_;
    std::condition_variable more_;
    std::deque<Job> waiting_;
    std::size_t idle_ = 0;  // threads
    bool ends_ = false;
    std::vector<std::thread> threads_;  // started when they are needed
};

}  // namespace wheelyard::registry
