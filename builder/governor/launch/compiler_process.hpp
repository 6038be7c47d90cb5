// One try of one compile as a child process: its group, its memory, its output.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "lib/base/fd.hpp"

namespace wheelyard::governor {

// Where a try's output waits until the result is final.
class Spool {
  public:
    Spool();
    [[nodiscard]] int out() const { return out_.get(); }
    [[nodiscard]] int err() const { return err_ ? err_.get() : out_.get(); }
    void show() const;                       // to our stdout and stderr
    [[nodiscard]] std::string tail() const;  // of what went to stderr

  private:
    base::Fd out_, err_;  // err_ is empty when both of ours are one file
};

// Starts `command` (argv[0] looked up on PATH) in a process group of its own; -1 when it cannot fork. The
// child dies with us, is the kernel's first choice when memory ends, writes into the spool, and enters the
// cgroup whose cgroup.procs is `group` ("": stays in ours).
[[nodiscard]] pid_t start_compiler(const std::vector<std::string>& command, const Spool& spool,
                                   const std::string& group);

// True when the output of a failed try, or its status, looks as if memory killed a part of it.
[[nodiscard]] bool looks_killed_by_memory(int wait_status, std::string_view output);

// True for a signal that our parent has us ignore, as nohup(1) does with SIGHUP.
[[nodiscard]] bool is_ignored(int signal_number);

// Becomes `command` (argv[0] looked up on PATH); says why it cannot, and ends as a shell would.
[[noreturn]] void become(const std::vector<std::string>& command);

// Ends this process as `wait_status` says: the same exit code, the same signal.
[[noreturn]] void exit_like(int wait_status);

}  // namespace wheelyard::governor
