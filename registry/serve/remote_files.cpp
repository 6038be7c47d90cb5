#include "registry/serve/remote_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "lib/base/files/fd.hpp"
#include "lib/base/files/file.hpp"
#include "lib/io/log.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::size_t max_threads = 32;  // fetches at once
constexpr std::size_t max_waiting = 256;

wire::Problem busy() {
    return wire::make_problem("file.store", "Too many requests to the blob store",
                              "The server has reached its limit of files that it passes on.", {},
                              "try again shortly");
}

// A file without a name. On a file system without O_TMPFILE, its name is removed at once.
base::Result<base::Fd> unnamed_file(const std::filesystem::path& folder) {
    base::Fd file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (file) return file;
    std::string name = (folder / ".passed-on.XXXXXX").native();
    file = base::Fd(::mkostemp(name.data(), O_CLOEXEC));
    if (!file) return base::fail_errno("open", folder.native(), errno);
    ::unlink(name.c_str());
    return file;
}

}  // namespace

RemoteFiles::RemoteFiles(const blobs::BlobStore& blobs, std::filesystem::path folder, blobs::DiskRoom room)
    : blobs_(blobs), folder_(std::move(folder)), room_(std::move(room)) {}

RemoteFiles::~RemoteFiles() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    more_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
}

std::optional<std::string> RemoteFiles::url_for(const http::RemoteFile& file) {
    return blobs_.url_for(file.sha256, file.filename);
}

void RemoteFiles::fetch(const http::RemoteFile& file, std::function<void(http::RemoteAnswer)> then) {
    {
        const std::lock_guard lock(mutex_);
        if (!ends_ && waiting_.size() < max_waiting) {
            waiting_.push_back({file, std::move(then)});
            if (waiting_.size() > idle_ && threads_.size() < max_threads)
                threads_.emplace_back([this] { work(); });
            more_.notify_one();
            return;
        }
    }
    then({.problem = busy()});
}

void RemoteFiles::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        ++idle_;
        more_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
        --idle_;
        if (ends_) return;
        Job job = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        run(job);
        lock.lock();
    }
}

void RemoteFiles::run(Job& job) {
    http::SharedArrivingFile arriving;
    std::uint64_t written = 0;
    bool has_reader = true;
    const auto pass_on = [&]() -> base::Status {
        WHEELYARD_TRY(room_.check(job.file.length));
        WHEELYARD_ASSIGN(base::Fd file, unnamed_file(folder_));
        const int into = ::fcntl(file.get(), F_DUPFD_CLOEXEC, 0);
        if (into < 0) return base::fail_errno("dup", folder_.native(), errno);
        const base::Fd writer(into);
        const auto begin = [&] {
            arriving = std::make_shared<http::ArrivingFile>(std::move(file), job.file.length);
            job.then({.arriving = arriving});
            job.then = {};  // with it goes its hold on the file: what is left is the client's
        };
        const auto take = [&](std::string_view bytes) -> base::Status {
            {
                const std::lock_guard lock(mutex_);
                if (ends_) return base::fail("serve.stopped", "The server stops");
            }
            has_reader = !arriving || arriving.use_count() > 1;
            if (!has_reader) return base::fail("serve.unread", "The client has gone");
            WHEELYARD_TRY(base::write_all(writer.get(), bytes));
            if (!arriving) begin();
            written += bytes.size();
            arriving->note_written(written);
            return {};
        };
        WHEELYARD_TRY(blobs_.stream(job.file.sha256, job.file.offset, job.file.length, take));
        if (!arriving) begin();  // an empty file
        return {};
    };
    const base::Status passed = pass_on();
    if (arriving) arriving->end(passed.has_value());
    if (passed || !has_reader) return;
    io::log_error(
        "blobs.not_passed_on",
        {{"file", job.file.filename}, {"sha256", job.file.sha256}, {"error", passed.error().text()}});
    if (!arriving)
        job.then({.problem = wire::make_problem("file.store", "The registry's blob store does not answer",
                                                "The store that has this file does not answer now.",
                                                job.file.filename, "try again shortly")});
}

}  // namespace wheelyard::registry
