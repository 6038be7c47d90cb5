/* A compiler of memory: `hog -c SOURCE -o OUTPUT`, where SOURCE holds "MIB MS EXIT": grows to MIB over half of MS,
 * stays there for the rest, writes OUTPUT, exits with EXIT. Its words go to stdout and stderr, so that a test sees
 * whether they came once. EXIT 1000+N: dies by signal N. A fourth word: "fork" leaves a child behind for two minutes;
 * "driver" does all of it in a child, as gcc does in cc1, and says of a child that was killed what gcc says; "silent" does so,
 * too, and says nothing, as a wrapper may; "pair" does
 * it twice at once, as nvcc with two threads: both are at their peaks together, however late one is. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Sleeps until `us` after `begun`: a busy machine makes late starts, not longer compiles. */
static void sleep_until(const struct timespec* begun, long us) {
    struct timespec when = *begun;
    when.tv_sec += us / 1000000;
    when.tv_nsec += us % 1000000 * 1000;
    if (when.tv_nsec >= 1000000000) {
        when.tv_nsec -= 1000000000;
        ++when.tv_sec;
    }
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) != 0) {
    }
}

int main(int argc, char** argv) {
    const char *source = "", *output = NULL;
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "-o") == 0 && i + 1 < argc) {
            output = argv[++i];
        } else if (argv[i][0] != '-' && argv[i][0] != '@') {
            source = argv[i];
        }
    }
    struct timespec begun;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    FILE* in = fopen(source, "r");
    long mib = 0, ms = 0, code = 0;
    char word[16] = "";
    if (in == NULL || fscanf(in, "%ld %ld %ld %15s", &mib, &ms, &code, word) < 3) {
        fprintf(stderr, "hog: no source %s\n", source);
        return 99;
    }
    fclose(in);
    if (strcmp(word, "fork") == 0 && fork() == 0) {
        for (int i = 0; i < 3; ++i) close(i);
        sleep(120);
        _exit(0);
    }
    if (strcmp(word, "driver") == 0 || strcmp(word, "silent") == 0) {
        const pid_t front_end = fork();
        int status = 0;
        if (front_end > 0) {
            waitpid(front_end, &status, 0);
            if (WIFEXITED(status)) return WEXITSTATUS(status);
            if (strcmp(word, "silent") == 0) return 1;
            fprintf(stderr, "hog: fatal error: Killed signal terminated program cc1\ncompilation terminated.\n");
            return 1;
        }
    }
    volatile int* grown = mmap(NULL, sizeof *grown, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (grown == MAP_FAILED) return 96;
    const pid_t parent = getpid(), twin = strcmp(word, "pair") == 0 ? fork() : -1;
    printf("out of %s\n", source);
    fflush(stdout);
    fprintf(stderr, "err of %s\n", source);
    for (long i = 0; i < mib; ++i) {
        char* block = malloc(1 << 20);
        if (block == NULL) return 98;
        memset(block, (int)i, 1 << 20);
        sleep_until(&begun, ms * 500 * (i + 1) / mib);
    }
    __atomic_add_fetch(grown, 1, __ATOMIC_SEQ_CST);
    /* On a busy machine one of the pair is late; a dead one is not waited for. */
    while (twin >= 0 && *grown < 2 && (twin == 0 ? getppid() == parent : waitpid(twin, NULL, WNOHANG) == 0)) usleep(1000);
    sleep_until(&begun, ms * 1000);
    if (twin == 0) _exit(0);
    if (twin > 0) waitpid(twin, NULL, 0);
    if (code >= 1000) {
        signal((int)code - 1000, SIG_DFL);
        raise((int)code - 1000);
    }
    if (output != NULL) {
        FILE* out = fopen(output, "w");
        if (out == NULL) return 97;
        fclose(out);
    }
    return (int)code;
}
