/* Starts a program in one way of exec(3) or posix_spawn(3): `execs WAY PROGRAM WORD...`. Ways that end in _empty pass an
 * empty environment; vfork_ways share their parent's memory until the exec. */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static char* nothing[] = {NULL};

static void exec_by(const char* way, char** argv) {
    const char* file = argv[0];
    if (strcmp(way, "execv") == 0) execv(file, argv);
    if (strcmp(way, "execvp") == 0) execvp(file, argv);
    if (strcmp(way, "execve") == 0) execve(file, argv, environ);
    if (strcmp(way, "execve_empty") == 0) execve(file, argv, nothing);
    if (strcmp(way, "execvpe_empty") == 0) execvpe(file, argv, nothing);
    if (strcmp(way, "execl") == 0) execl(file, file, argv[1], argv[2], argv[3], argv[4], (char*)NULL);
    if (strcmp(way, "execlp") == 0) execlp(file, file, argv[1], argv[2], argv[3], argv[4], (char*)NULL);
    if (strcmp(way, "execle_empty") == 0) execle(file, file, argv[1], argv[2], argv[3], argv[4], (char*)NULL, nothing);
    perror(way);
    _exit(126);
}

int main(int argc, char** argv) {
    if (argc < 7) return 2;
    const char* way = argv[1];
    char** words = argv + 2;
    char line[4096] = "";
    pid_t pid = -1;
    int status = 0;
    if (strcmp(way, "system") == 0 || strcmp(way, "popen") == 0) {
        for (int i = 2; i < argc; ++i) {
            strcat(line, argv[i]);
            strcat(line, " ");
        }
        if (strcmp(way, "system") == 0) return WEXITSTATUS(system(line));
        FILE* out = popen(line, "r");
        while (fgets(line, sizeof line, out) != NULL) fputs(line, stdout);
        return WEXITSTATUS(pclose(out));
    }
    fflush(stdout);
    if (strncmp(way, "posix_spawn", 11) == 0) {
        char** environment = strstr(way, "_empty") != NULL ? nothing : environ;
        const int failed = strncmp(way, "posix_spawnp", 12) == 0 ? posix_spawnp(&pid, words[0], NULL, NULL, words, environment)
                                                                 : posix_spawn(&pid, words[0], NULL, NULL, words, environment);
        if (failed != 0) return 127;
    } else if (strncmp(way, "vfork_", 6) == 0) {
        pid = vfork();
        if (pid == 0) exec_by(way + 6, words);
    } else {
        exec_by(way, words);
    }
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}
