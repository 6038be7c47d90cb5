// Calls nothing of libc's, nor lets the compiler do so (cmake/programs.cmake): the machine's strlen is not
// chosen yet. No allocation; no table of pointers that a loader would have to fill in.
#include "builder/governor/early_launcher.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "builder/governor/compiler_cache.hpp"
#include "builder/governor/kernel_calls.hpp"
#include "builder/governor/limits.hpp"
#include "builder/governor/message.hpp"

namespace wheelyard::governor {

constinit EarlyLaunch early_launch;
constinit char early_group[4096] = {};

#if WHEELYARD_EARLY_START

// All of this file's code in one piece of the program that the kernel maps at once.
__asm__(".text\n.p2align 13\n");

namespace {

using kernel::call;
using Reached = EarlyLaunch::Reached;

// Every page that is touched costs a microsecond or more, so all stands on the stack, of which the kernel has
// given us one, and as much of it as this compile needs.
constexpr std::size_t child_stack_bytes = 4096;
constexpr unsigned max_variables = 4096;  // of the environment; beyond it libc's way is walked
// "run" says PATH and the compiler's file, which is no longer than PATH and its name, and what its question
// did not: the group's path and a few words.
constexpr std::size_t group_and_words_bytes = sizeof early_group + 128;

bool begun_here = false;  // the program, with wheelyard_start

std::size_t length_of(const char* text) {
    std::size_t length = 0;
    while (text[length] != '\0')
        ++length;
    return length;
}

bool begins_with(const char* text, const char* start) {
    while (*start != '\0') {
        if (*text++ != *start++) return false;
    }
    return true;
}

bool equal(const char* one, const char* other) {
    return begins_with(one, other) && begins_with(other, one);
}

// The value of "NAME=value", or none.
const char* value_of(const char* variable, const char* name) {
    const std::size_t length = length_of(name);
    return begins_with(variable, name) && variable[length] == '=' ? variable + length + 1 : nullptr;
}

const char* name_of(const char* path) {
    const char* name = path;
    for (; *path != '\0'; ++path) {
        if (*path == '/') name = path + 1;
    }
    return name;
}

// Where the question stands, then the answer, then what is told.
struct Packet {
    char* bytes;
    std::size_t room;
};

// A message's fields one behind the other (message.hpp).
class Fields {
  public:
    // What does not fit is not sent.
    explicit Fields(const Packet& packet) : packet_(packet) {}
    Fields& add(const char* text) {
        while (*text != '\0')
            add_byte(*text++);
        add_byte('\0');
        return *this;
    }
    Fields& add(unsigned long number) {
        char digits[24];  // NOLINT: filled from its end
        char* at = digits + sizeof digits;
        *--at = '\0';
        do {
            *--at = static_cast<char>('0' + number % 10);
            number /= 10;
        } while (number > 0);
        return add(at);
    }
    [[nodiscard]] bool send(int socket) const {
        if (size_ > packet_.room) return false;
        long sent = 0;
        do {
            sent = call(SYS_sendto, socket, packet_.bytes, size_, MSG_NOSIGNAL);
        } while (sent == -EINTR);
        return sent >= 0;
    }

  private:
    void add_byte(char byte) {
        if (size_ < packet_.room) packet_.bytes[size_] = byte;
        ++size_;
    }
    Packet packet_;
    std::size_t size_ = 0;
};

struct Surroundings {
    const char *socket = nullptr, *path = nullptr;
    bool held = false;
    unsigned variables = 0;
};

Surroundings look_around(char** environment) {
    Surroundings found;
    for (; environment[found.variables] != nullptr; ++found.variables) {
        const char* each = environment[found.variables];
        // The first of a name counts, as for getenv(3).
        if (found.socket == nullptr) found.socket = value_of(each, socket_variable);
        if (found.path == nullptr) found.path = value_of(each, "PATH");
        found.held = found.held || value_of(each, held_variable) != nullptr;
    }
    return found;
}

// The compile's words: those of `launch --`, or all of them where we are called by a compiler's name; none
// where we are called for something else.
char** words_of(char** argv) {
    if (argv[0] == nullptr) return nullptr;
    const char* name = name_of(argv[0]);
    if (!begins_with(name, "wheelyard-governor")) return argv;
    const bool launch = !equal(name, cache_miss_link) && argv[1] != nullptr && equal(argv[1], "launch") &&
                        argv[2] != nullptr && equal(argv[2], "--") && argv[3] != nullptr;
    return launch ? argv + 3 : nullptr;
}

int connect_to_broker(const char* path) {
    sockaddr_un address;  // NOLINT: filled up to its path's end
    address.sun_family = AF_UNIX;
    std::size_t length = 0;
    do {
        if (length == sizeof address.sun_path) return -1;
        address.sun_path[length] = path[length];
    } while (path[length++] != '\0');
    const auto socket = static_cast<int>(call(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (socket < 0) return -1;
    if (call(SYS_connect, socket, &address, offsetof(sockaddr_un, sun_path) + length) == 0) return socket;
    (void)call(SYS_close, socket);
    return -1;
}

// The kernel's sigaction, of which zeros are the default action; a signal set is its last member.
constexpr std::size_t signal_set_bytes = 8;
struct DefaultAction {
    unsigned long members[4] = {};
};

// Signals are blocked as long as it stands.
struct Signals {
    unsigned long before = 0;
    int fd = -1;

    Signals() {
        // Where it is ignored the kernel reaps our compiler itself, and nobody would hear of its end.
        const DefaultAction heard;
        (void)call(SYS_rt_sigaction, SIGCHLD, &heard, nullptr, signal_set_bytes);
        unsigned long caught = 0;
        for (const int number : caught_signals)
            caught |= 1UL << (number - 1);
        (void)call(SYS_rt_sigprocmask, SIG_BLOCK, &caught, &before, signal_set_bytes);
        fd = static_cast<int>(call(SYS_signalfd4, -1, &caught, signal_set_bytes, SFD_CLOEXEC | SFD_NONBLOCK));
    }
    void give_up() const {
        if (fd >= 0) (void)call(SYS_close, fd);
        (void)call(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, signal_set_bytes);
    }
};

// Until one of them has something to say.
void wait_for(pollfd (&two)[2]) {
    (void)call(SYS_ppoll, &two[0], 2, nullptr, nullptr, 0);
}

// "run".
struct Go {
    const char* group = nullptr;
    char *program = nullptr, *path = nullptr, *held = nullptr;  // the last two: variables
};

// Of `size` bytes, in which they stay; false when fields are missing.
bool read_go(char* bytes, std::size_t size, Go& go) {
    if (bytes[size - 1] != '\0') return false;
    char* fields[5];  // NOLINT: each is set below, or none is read
    char* at = bytes;
    for (char*& field : fields) {
        if (at >= bytes + size) return false;
        field = at;
        at += length_of(at) + 1;
    }
    go = {fields[1], fields[2], fields[3], fields[4]};
    return true;
}

struct Compiler {
    const Go& go;
    char** words;
    char** environment;
    OutputFiles output;
    long parent;
    volatile bool is_none = false;  // set by the child, whose memory is ours
};

// In the child.
void become_compiler(const void* given) {
    auto& compiler = *static_cast<Compiler*>(const_cast<void*>(given));
    prepare_compiler(compiler.parent, compiler.output, compiler.go.group);
    (void)call(SYS_execve, compiler.go.program, compiler.words, compiler.environment);
    compiler.is_none = true;
    kernel::end_process(127);
}

void close_if_open(int fd) {
    if (fd >= 0) (void)call(SYS_close, fd);
}

// One compile, as far as it goes here.
class Walk {
  public:
    Walk(char** words, char** environment, const Surroundings& around)
        : words_(words), environment_(environment), around_(around) {}

    // Ends the process, or returns where it stands.
    EarlyLaunch go() {
        const Signals signals;
        at_.signals = signals.fd;
        if (signals.fd >= 0) at_.socket = connect_to_broker(around_.socket);
        if (at_.socket < 0 || !ask_and_run()) {
            close_if_open(at_.socket);
            signals.give_up();
            at_ = {};
        }
        return at_;
    }

  private:
    // False when the launcher has to begin anew.
    bool ask_and_run() {
        std::size_t length = sizeof "command" + length_of(around_.path) + 1;
        for (char** word = words_; *word != nullptr; ++word)
            length += length_of(*word) + 1;
        if (length > max_message_bytes) return false;
        const std::size_t room = 2 * length + group_and_words_bytes;
        const Packet packet{static_cast<char*>(__builtin_alloca(room)), room};
        Fields question(packet);
        question.add("command").add(around_.path);
        for (char** word = words_; *word != nullptr; ++word)
            question.add(*word);
        if (!question.send(at_.socket)) return false;
        Go go;
        switch (wait_for_answer(packet, go)) {
            case Answer::none_for_us:
                return false;
            case Answer::run_unread:
                at_.reached = Reached::told_to_run;
                return true;
            case Answer::run:
                at_.reached = Reached::told_to_run;
                break;
        }
        if (!start(go)) {
            keep_group(go.group);
            return true;
        }
        (void)message(packet, "started").add(static_cast<unsigned long>(at_.pid)).send(at_.socket);
        const long largest_kib = wait_for_good_end();
        if (largest_kib < 0) return true;
        (void)message(packet, "ended")
            .add("0")
            .add(static_cast<unsigned long>(largest_kib))
            .add("0")
            .add("1")
            .send(at_.socket);
        show_output(at_.output);
        kernel::end_process(0);
    }

    static Fields message(const Packet& packet, const char* verb) {
        Fields fields(packet);
        fields.add(verb);
        return fields;
    }

    enum class Answer { run, run_unread, none_for_us };

    // A signal, the broker's end and its "yourself" are none for us: with the socket closed and signals as
    // they were, a signal does what it does to any program, and the launcher begins anew.
    Answer wait_for_answer(const Packet& packet, Go& go) {
        while (true) {
            pollfd watched[2] = {{at_.socket, POLLIN, 0}, {at_.signals, POLLIN, 0}};
            wait_for(watched);
            const long size =
                call(SYS_recvfrom, at_.socket, packet.bytes, packet.room, MSG_DONTWAIT | MSG_TRUNC);
            if (size == -EAGAIN && watched[1].revents == 0) continue;
            if (size == -EINTR) continue;
            if (size <= 0) return Answer::none_for_us;
            const auto bytes = static_cast<std::size_t>(size);
            const bool whole = bytes <= packet.room && packet.bytes[bytes - 1] == '\0';
            if (whole && equal(packet.bytes, "yourself")) return Answer::none_for_us;
            const bool read = whole && equal(packet.bytes, "run") && read_go(packet.bytes, bytes, go);
            return read ? Answer::run : Answer::run_unread;
        }
    }

    // False when the compiler could not be started.
    bool start(const Go& go) {
        at_.output = make_output_files();
        auto** variables = static_cast<char**>(__builtin_alloca((around_.variables + 3) * sizeof(char*)));
        make_environment(go, variables);
        Compiler compiler{go, words_, variables, at_.output, call(SYS_getpid)};
        auto* stack = static_cast<char*>(__builtin_alloca_with_align(child_stack_bytes, 128));
        char* const called = words_[0];
        words_[0] = go.program;
        const long pid = kernel::start_sharing(CLONE_VM | CLONE_VFORK | SIGCHLD, stack + child_stack_bytes,
                                               become_compiler, &compiler);
        words_[0] = called;
        if (pid > 0 && !compiler.is_none) {
            (void)call(SYS_setpgid, pid, pid);  // whichever of us is first
            at_.pid = static_cast<int>(pid);
            at_.reached = Reached::running;
            return true;
        }
        if (pid > 0) (void)call(SYS_wait4, pid, nullptr, 0, nullptr);
        close_if_open(at_.output.out);
        close_if_open(at_.output.err);
        at_.output = {};
        return false;
    }

    // The compiler's. (HELD is not in ours.)
    void make_environment(const Go& go, char** into) const {
        for (char** each = environment_; *each != nullptr; ++each) {
            if (value_of(*each, "PATH") == nullptr) *into++ = *each;
        }
        *into++ = go.path;
        *into++ = go.held;
        *into = nullptr;
    }

    // Its largest memory in KiB, reaped; -1 when it ended otherwise than well, is not reaped, or somebody has
    // something to say.
    long wait_for_good_end() const {
        while (true) {
            pollfd watched[2] = {{at_.signals, POLLIN, 0}, {at_.socket, POLLIN, 0}};
            wait_for(watched);
            if (watched[1].revents != 0) return -1;
            if (watched[0].revents == 0) continue;
            siginfo_t ended;  // NOLINT: the kernel fills it
            ended.si_pid = 0;
            const long asked = call(SYS_waitid, P_PID, at_.pid, &ended, WEXITED | WNOHANG | WNOWAIT);
            if (asked != 0 || ended.si_pid != at_.pid || ended.si_code != CLD_EXITED || ended.si_status != 0)
                return -1;
            rusage usage;  // NOLINT: the kernel fills it
            (void)call(SYS_wait4, at_.pid, nullptr, 0, &usage);
            return usage.ru_maxrss;
        }
    }

    static void keep_group(const char* group) {
        std::size_t at = 0;
        for (; group[at] != '\0' && at + 1 < sizeof early_group; ++at)
            early_group[at] = group[at];
        early_group[at] = '\0';
    }

    char** words_;
    char** environment_;
    const Surroundings& around_;
    EarlyLaunch at_;
};

EarlyLaunch walk(char** argv, char** environment) {
    char** words = words_of(argv);
    const auto around = look_around(environment);
    // (An empty path would be a name in the kernel that anybody may take; unix(7).)
    if (words == nullptr || around.socket == nullptr || *around.socket == '\0' || around.path == nullptr ||
        around.held || around.variables > max_variables) {
        return {};
    }
    return Walk(words, environment, around).go();
}

}  // namespace

void launch_early(char** argv, char** environment) {
    if (!begun_here) early_launch = walk(argv, environment);
}

// The program's first instruction: the kernel's stack holds argc, argv and the environment (the psABI's
// "Process Initialization"); libc's start finds it as we found it.
extern "C" [[gnu::used]] void wheelyard_launch_early(char** stack) {
    char** argv = stack + 1;
    char** end = argv;
    while (*end != nullptr)
        ++end;
    early_launch = walk(argv, end + 1);
    begun_here = true;
}

#if defined(__x86_64__)
__asm__(
    ".text\n"
    ".globl wheelyard_start\n"
    ".type wheelyard_start, @function\n"
    "wheelyard_start:\n"
    "xor %ebp, %ebp\n"
    "mov %rsp, %rbx\n"
    "mov %rsp, %rdi\n"
    "and $-16, %rsp\n"
    "call wheelyard_launch_early\n"
    "mov %rbx, %rsp\n"
    "xor %edx, %edx\n"
    "jmp _start\n"
    ".size wheelyard_start, . - wheelyard_start\n");
#else
__asm__(
    ".text\n"
    ".globl wheelyard_start\n"
    ".type wheelyard_start, %function\n"
    "wheelyard_start:\n"
    "mov x29, xzr\n"
    "mov x30, xzr\n"
    "mov x19, sp\n"
    "mov x0, sp\n"
    "bl wheelyard_launch_early\n"
    "mov sp, x19\n"
    "mov x0, xzr\n"
    "b _start\n"
    ".size wheelyard_start, . - wheelyard_start\n");
#endif

#else

void launch_early(char**, char**) {}

#endif

}  // namespace wheelyard::governor
