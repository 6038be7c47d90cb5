#include "builder/governor/launch/spool.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

bool same_file(int a, int b) {
    struct stat first {
    }, second{};
    return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

// Whether files there are memory: statfs(2)'s magic numbers of tmpfs and ramfs.
bool is_memory(const std::string& folder) {
    constexpr auto tmpfs = 0x01021994L, ramfs = 0x858458f6L;
    struct statfs system {};
    if (::statfs(folder.c_str(), &system) != 0) return true;
    const auto type = static_cast<long>(system.f_type) & 0xFFFFFFFFL;
    return type == tmpfs || type == ramfs;
}

// A file on a disk that no other process finds; empty if there is none.
base::Fd make_unlinked_file(const std::string& folder) {
    for (const std::string& candidate : {folder, std::string("/var/tmp"), std::string(".")}) {
        if (is_memory(candidate)) continue;
        std::string name = candidate + "/.wheelyard-output.XXXXXX";
        base::Fd fd(::mkostemp(name.data(), O_CLOEXEC));
        if (!fd) continue;
        ::unlink(name.c_str());
        return fd;
    }
    return {};
}

void copy_out(int from, int to) {
    std::array<char, 65536> buffer;
    for (off_t at = 0;;) {
        const auto got = ::pread(from, buffer.data(), buffer.size(), at);
        if (got <= 0) return;
        at += got;
        if (!base::write_all(to, {buffer.data(), static_cast<std::size_t>(got)})) return;
    }
}

}  // namespace

void SpooledStream::append(std::string_view bytes) {
    const auto into_memory = std::min(bytes.size(), max_spool_bytes - memory_.size());
    memory_.append(bytes.substr(0, into_memory));
    bytes.remove_prefix(into_memory);
    if (bytes.empty()) return;
    last_.append(bytes);
    if (last_.size() > 2 * clue_tail_bytes) last_.erase(0, last_.size() - clue_tail_bytes);
    if (in_file_ == 0 && dropped_ == 0) file_ = make_unlinked_file(folder_);
    // After a failed write the file ends there: what follows would be out of order.
    if (file_ && dropped_ == 0) {
        if (base::write_all(file_.get(), bytes)) {
            in_file_ += bytes.size();
            return;
        }
    }
    dropped_ += bytes.size();
}

void SpooledStream::show(int to) const {
    if (!base::write_all(to, memory_)) return;
    if (file_) copy_out(file_.get(), to);
    if (dropped_ == 0) return;
    static_cast<void>(base::write_all(to, "\nwheelyard-governor: up to " + base::render_bytes(dropped_) +
                                              " of the output are lost: no disk takes them\n" + last_));
}

std::string SpooledStream::tail() const {
    std::string end = memory_.substr(memory_.size() - std::min(memory_.size(), clue_tail_bytes)) + last_;
    return end.substr(end.size() - std::min(end.size(), clue_tail_bytes));
}

void Spool::Pipe::open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    read = base::Fd(ends[0]);
    write = base::Fd(ends[1]);
    ::fcntl(read.get(), F_SETFL, O_NONBLOCK);
}

// Reads no more than the pipe holds now: a process that the compiler left running may write for ever.
void Spool::Pipe::take() {
    int held = 0;
    if (!read || ::ioctl(read.get(), FIONREAD, &held) != 0) return;
    std::array<char, 65536> buffer;
    for (std::size_t left = std::max<std::size_t>(1, static_cast<std::size_t>(held)); left > 0;) {
        const auto got = ::read(read.get(), buffer.data(), std::min(left, buffer.size()));
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) read.reset();  // no writer is left
        if (got <= 0) return;
        stream.append({buffer.data(), static_cast<std::size_t>(got)});
        left -= static_cast<std::size_t>(got);
    }
}

Spool::Spool(const std::string& folder)
    : is_one_(same_file(STDOUT_FILENO, STDERR_FILENO)), out_(folder), err_(folder) {
    out_.open();
    if (!is_one_) err_.open();
}

void Spool::close_writers() {
    out_.write.reset();
    err_.write.reset();
}

std::array<pollfd, 2> Spool::readers() const {
    return {pollfd{out_.read.get(), POLLIN, 0}, pollfd{err_.read.get(), POLLIN, 0}};
}

void Spool::take() {
    out_.take();
    err_.take();
}

void Spool::show() const {
    out_.stream.show(STDOUT_FILENO);
    err_.stream.show(STDERR_FILENO);
}

std::string Spool::tail() const {
    return (is_one_ ? out_ : err_).stream.tail();
}

}  // namespace wheelyard::governor
