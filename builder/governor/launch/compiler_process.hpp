// Runs one try of a compile as a child process: process group, memory cgroup, output.
#pragma once

#include <poll.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "builder/governor/memory/limits.hpp"
#include "lib/base/files/fd.hpp"

namespace wheelyard::governor {

// The output of one try of a compile, kept until its result is final.
//
//     compiler ─► pipe ─► launcher's memory, up to max_spool_bytes ─► an unlinked file
//
// A pipe, because a limit on the size of files (ulimit -f) must not reach a compiler that writes to no file.

// Bytes of one stream of a compile that stay in the launcher's memory, which no limit counts; the rest goes
// to a file.
inline constexpr std::size_t max_spool_bytes = 2 * mib;

// The end of a failed compile's output that is searched for signs of memory exhaustion.
inline constexpr std::size_t clue_tail_bytes = 64 * kib;

// One stream: its beginning in memory, the rest in a file.
class SpooledStream {
  public:
    // `folder`: for the file, if it is on a disk; else a folder that is.
    explicit SpooledStream(std::string folder) : folder_(std::move(folder)) {}
    // Drops what the disk does not take; show() reports it.
    void append(std::string_view bytes);
    void show(int to) const;
    [[nodiscard]] std::string tail() const;  // the last clue_tail_bytes

  private:
    std::string folder_;
    std::string memory_;
    base::Fd file_;
    std::uint64_t in_file_ = 0, dropped_ = 0;
    std::string last_;  // the end of what did not fit into memory
};

class Spool {
  public:
    explicit Spool(const std::string& folder);
    // The compiler's ends of the pipes; equal if our stdout and stderr are one file, so that writes stay in
    // order. -1: the pipe could not be made, and the compiler writes to our own stream.
    [[nodiscard]] int out() const { return out_.write.get(); }
    [[nodiscard]] int err() const { return is_one_ ? out() : err_.write.get(); }
    void close_writers();  // once the compiler has them
    // The ends to poll; -1 for one that has ended.
    [[nodiscard]] std::array<pollfd, 2> readers() const;
    void take();  // what the pipes hold now
    void show() const;
    [[nodiscard]] std::string tail() const;  // of stderr

  private:
    struct Pipe {
        explicit Pipe(const std::string& folder) : stream(folder) {}
        base::Fd read, write;
        SpooledStream stream;
        void open();
        void take();
    };
    bool is_one_;
    Pipe out_, err_;
};

// Starts `command` (argv[0] is searched on PATH) in its own process group; -1 if fork fails. The child is
// killed when this process dies, is the OOM killer's preferred victim, writes into the spool, and joins the
// cgroup whose cgroup.procs is `group` ("": stays in ours).
[[nodiscard]] pid_t start_compiler(const std::vector<std::string>& command, const Spool& spool,
                                   const std::string& group);

// Says whether the output or the status of a failed try indicates that it ran out of memory.
[[nodiscard]] bool looks_killed_by_memory(int wait_status, std::string_view output);

// Says whether this process inherited an ignored `signal_number`, as nohup(1) does with SIGHUP.
[[nodiscard]] bool is_ignored(int signal_number);

// Replaces this process by `command` (argv[0] is searched on PATH). On failure, prints why and exits with 127
// or 126, as a shell does.
[[noreturn]] void become(const std::vector<std::string>& command);

// Ends this process with the same exit code or signal as `wait_status`.
[[noreturn]] void exit_like(int wait_status);

// The version of a compiler. It is part of a compile's key, so that another compiler's measurements do not
// apply.

inline constexpr std::int64_t version_timeout_ms = 5'000;  // `cc --version` and `ccache --show-config`

class CompilerVersions {
  public:
    // The name and the first line of `compiler --version`, or only the name if that fails. Runs the compiler
    // once per file and modification time.
    [[nodiscard]] const std::string& of(const std::string& compiler);

  private:
    std::map<std::string, std::string> asked_;  // by path and modification time
};

}  // namespace wheelyard::governor
