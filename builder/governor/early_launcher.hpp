// The launcher's common way, walked before libc is started: a compile that the broker can read by itself,
// that runs once and ends well. Everything else goes on in launcher.hpp, from the place that was reached.
//
// For a compile of ten milliseconds it is the start of libc that costs: a static program asks the processor
// some 70 times what it is, and a virtual machine takes each of these instructions from it
// (docs/explanation/decisions/0012). Where the program is static, its first instruction is ours
// (cmake/programs.cmake); elsewhere main() calls it.
#pragma once

#include "builder/governor/compiler_child.hpp"

namespace wheelyard::governor {

// How far it got. Descriptors are open, and signals blocked, from `told_to_run` on.
struct EarlyLaunch {
    enum class Reached {
        nothing,      // as if it had not been: the launcher begins anew
        told_to_run,  // the broker has sent "run"; nothing runs yet
        running,      // the compiler does, or has ended and is not reaped
    } reached = Reached::nothing;
    int socket = -1, signals = -1;
    int pid = -1;
    OutputFiles output;
};

// Where it was left, and (told_to_run) the cgroup.procs that "run" named.
extern EarlyLaunch early_launch;
extern char early_group[4096];

// Runs the compile that `argv` names and ends the process as it ended, or returns and leaves in early_launch
// how far it got. Where the program began with it, it does nothing more.
void launch_early(char** argv, char** environment);

}  // namespace wheelyard::governor
