// System calls of Linux without libc, for what runs before libc is started: x86_64 and aarch64, by the names
// and with the results of syscall(2)'s table (a negative result is -errno). Types and constants are libc's,
// which are the kernel's on these machines.
#pragma once

#include <sys/stat.h>
#include <sys/syscall.h>

#include <cstddef>

#if (defined(__x86_64__) && defined(__LP64__)) || (defined(__aarch64__) && defined(__LP64__))
#define WHEELYARD_EARLY_START 1
#else
#define WHEELYARD_EARLY_START 0
#include <unistd.h>

#include <cerrno>
#endif

namespace wheelyard::governor::kernel {

// Never a call: its code would be shared with files that are compiled for libc.
#define WHEELYARD_KERNEL_CALL [[gnu::always_inline]] static inline

#if WHEELYARD_EARLY_START && defined(__x86_64__)

WHEELYARD_KERNEL_CALL long raw(long number, long a, long b, long c, long d, long e) {
    long result = number;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
}

// vfork(2) with a stack for the child, which calls `child(argument)`: it shares our memory, and we stand
// still until it has become another program or ended. `stack_top` is aligned to 16.
WHEELYARD_KERNEL_CALL long start_sharing(long flags, char* stack_top, void (*child)(const void*),
                                         const void* argument) {
    long result = SYS_clone;
    register long r10 __asm__("r10") = 0;
    register long r8 __asm__("r8") = 0;
    register auto function __asm__("r12") = child;
    register auto given __asm__("r13") = argument;
    __asm__ volatile(
        "syscall\n\t"
        "test %%rax, %%rax\n\t"
        "jnz 1f\n\t"
        "xor %%ebp, %%ebp\n\t"
        "mov %%r13, %%rdi\n\t"
        "call *%%r12\n\t"
        "ud2\n"
        "1:"
        : "+a"(result)
        : "D"(flags), "S"(stack_top), "d"(0L), "r"(r10), "r"(r8), "r"(function), "r"(given)
        : "rcx", "r11", "cc", "memory");
    return result;
}

#elif WHEELYARD_EARLY_START

WHEELYARD_KERNEL_CALL long raw(long number, long a, long b, long c, long d, long e) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "cc", "memory");
    return x0;
}

WHEELYARD_KERNEL_CALL long start_sharing(long flags, char* stack_top, void (*child)(const void*),
                                         const void* argument) {
    register long x8 __asm__("x8") = SYS_clone;
    register long x0 __asm__("x0") = flags;
    register char* x1 __asm__("x1") = stack_top;
    register long x2 __asm__("x2") = 0;
    register long x3 __asm__("x3") = 0;
    register long x4 __asm__("x4") = 0;
    register auto function __asm__("x19") = child;
    register auto given __asm__("x20") = argument;
    __asm__ volatile(
        "svc 0\n\t"
        "cbnz x0, 1f\n\t"
        "mov x29, xzr\n\t"
        "mov x0, x20\n\t"
        "blr x19\n\t"
        "brk 1\n"
        "1:"
        : "+r"(x0)
        : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(function), "r"(given)
        : "cc", "memory");
    return x0;
}

#else

WHEELYARD_KERNEL_CALL long raw(long number, long a, long b, long c, long d, long e) {
    const long result = ::syscall(number, a, b, c, d, e);
    return result < 0 ? -errno : result;
}

#endif

template <typename Value>
WHEELYARD_KERNEL_CALL long word(Value value) {
    return (long)value;  // NOLINT: a pointer or a number, as registers are
}

// Numbers and pointers, five at most; the rest is 0.
template <typename... Values>
WHEELYARD_KERNEL_CALL long call(long number, Values... values) {
    static_assert(sizeof...(values) <= 5);
    const long all[5] = {word(values)...};
    return raw(number, all[0], all[1], all[2], all[3], all[4]);
}

[[noreturn]] WHEELYARD_KERNEL_CALL void end_process(int code) {
    while (true)
        (void)call(SYS_exit_group, code);
}

// fstat(2) and pread(2), whose numbers elsewhere mean other structures and arguments.
WHEELYARD_KERNEL_CALL bool file_status(int fd, struct stat& status) {
#if WHEELYARD_EARLY_START
    return call(SYS_fstat, fd, &status) == 0;
#else
    return ::fstat(fd, &status) == 0;
#endif
}

WHEELYARD_KERNEL_CALL long read_at(int fd, char* into, std::size_t size, long at) {
#if WHEELYARD_EARLY_START
    return call(SYS_pread64, fd, into, size, at);
#else
    return ::pread(fd, into, size, at);
#endif
}

}  // namespace wheelyard::governor::kernel
