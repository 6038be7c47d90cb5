/* A disk that breaks where a test says, and that remembers what a power cut would leave of it.
 *
 * Preloaded into a program of ours (LD_PRELOAD), it counts every call that changes what lies below WHEELYARD_DISK_ROOT, SQLite's
 * too, and at one of them fails, writes less than asked, or kills the process. The test steers through the memory that both map:
 * WHEELYARD_DISK_STATE/control, eight 64-bit numbers (struct control). Each call is a line of WHEELYARD_DISK_STATE/log:
 *
 *     NUMBER CALL INODE PATH
 *
 * A registry writes catalogues (…/catalogue.txt, …/catalogues/) behind its pages, on a thread of their own: among the others their
 * calls come at any moment, so that no number would be the same call twice. WHEELYARD_DISK_PART says which are counted: all but
 * those (unset), "catalogues", which are one thread's and have an order of their own, or "all", for programs of one thread.
 *
 * What is durable: with `keep_durable`, every fsync that succeeded leaves WHEELYARD_DISK_STATE/NUMBER, the file's bytes as they
 * were, or the folder's names, one "INODE KIND NAME" a line (disk.py puts images together from these). Inodes that were synced
 * stay open, so that no number is used again.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { none, failing, short_write, killing };

struct control {
    uint64_t count;        /* calls so far */
    uint64_t at;           /* the call that breaks; 0: none */
    uint64_t kind;         /* how */
    uint64_t error;        /* errno of `failing` */
    uint64_t times;        /* so many calls from `at` on */
    uint64_t broken;       /* so many calls have been broken */
    uint64_t keep_durable; /* note what each fsync made durable */
    uint64_t unused;
};

static struct control* control;
static char root[4096];
static char state[4096];
static int counts_catalogues;
static int counts_others = 1;
static FILE* list;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
    const char* where = getenv("WHEELYARD_DISK_STATE");
    const char* below = getenv("WHEELYARD_DISK_ROOT");
    if (where == NULL || below == NULL) return;
    snprintf(state, sizeof state, "%s", where);
    snprintf(root, sizeof root, "%s", below);
    const char* part = getenv("WHEELYARD_DISK_PART");
    if (part != NULL) {
        counts_catalogues = 1;
        counts_others = strcmp(part, "all") == 0;
        if (!counts_others && strcmp(part, "catalogues") != 0) abort();
    }
    char path[5000];
    snprintf(path, sizeof path, "%s/control", state);
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (fd < 0) abort();
    control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    snprintf(path, sizeof path, "%s/log", state);
    list = fopen(path, "ae");
    if (control == MAP_FAILED || list == NULL) abort();
}

static int is_ours(const char* path) {
    const size_t length = strlen(root);
    if (control == NULL || strncmp(path, root, length) != 0 || (path[length] != '/' && path[length] != '\0')) return 0;
    return strstr(path + length, "/catalogue") != NULL ? counts_catalogues : counts_others;
}

/* The absolute path of `path` in `folder`, or of the file `fd` when path is NULL. */
static const char* name_of(int fd, const char* path, char* into, size_t size) {
    char link[64];
    if (path != NULL && path[0] == '/') return path;
    if (path != NULL && fd == AT_FDCWD) {
        if (getcwd(into, size) == NULL) return "";
    } else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        const ssize_t got = readlink(link, into, size - 1);
        if (got < 0) return "";
        into[got] = '\0';
    }
    if (path != NULL) {
        const size_t have = strlen(into);
        snprintf(into + have, size - have, "/%s", path);
    }
    return into;
}

static uint64_t inode_of(const char* path) {
    struct stat info;
    return lstat(path, &info) == 0 ? info.st_ino : 0;
}

/* A full disk refuses no call that takes nothing. */
static int takes_room(const char* call) {
    return strncmp(call, "unlink", 6) != 0 && strcmp(call, "rmdir") != 0 && strstr(call, "chmod") == NULL;
}

/* Counts the call; what is to become of it. */
static enum kind enter(const char* call, const char* path, uint64_t* number) {
    pthread_mutex_lock(&mutex);
    *number = ++control->count;
    fprintf(list, "%lu %s %lu %s\n", (unsigned long)*number, call, (unsigned long)inode_of(path), path);
    fflush(list);
    enum kind kind = none;
    const int may_break = control->kind != failing || control->error != ENOSPC || takes_room(call);
    if (may_break && control->at != 0 && *number >= control->at && *number < control->at + control->times) {
        kind = (enum kind)control->kind;
        ++control->broken;
        if (kind == killing) kill(getpid(), SIGKILL);
        if (kind == failing) errno = (int)control->error;
    }
    pthread_mutex_unlock(&mutex);
    return kind;
}

static void keep_file(int fd, int to) {
    char block[65536];
    const int source = dup(fd); /* stays open: see above */
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", source);
    const int reading = (int)syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC);
    ssize_t got;
    while (reading >= 0 && (got = read(reading, block, sizeof block)) > 0)
        syscall(SYS_write, to, block, (size_t)got);
    if (reading >= 0) close(reading);
}

static void keep_folder(int fd, int to) {
    DIR* folder = fdopendir(dup(fd));
    if (folder == NULL) return;
    rewinddir(folder);
    for (struct dirent* entry; (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        dprintf(to, "%lu %c %s\n", (unsigned long)entry->d_ino, entry->d_type == DT_DIR ? 'd' : 'f', entry->d_name);
    }
    /* not closed: see above */
}

static int sync_with(const char* call, int (*real)(int), int fd) {
    char space[4096];
    const char* path = control == NULL ? "" : name_of(fd, NULL, space, sizeof space);
    if (!is_ours(path)) return real(fd);
    uint64_t number;
    if (enter(call, path, &number) == failing) return -1;
    const int done = real(fd);
    if (done != 0 || !control->keep_durable) return done;
    pthread_mutex_lock(&mutex);
    char kept[5000];
    snprintf(kept, sizeof kept, "%s/%lu", state, (unsigned long)number);
    const int to = (int)syscall(SYS_openat, AT_FDCWD, kept, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    struct stat info;
    if (fstat(fd, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            keep_folder(fd, to);
        else
            keep_file(fd, to);
    }
    close(to);
    pthread_mutex_unlock(&mutex);
    return done;
}

int fsync(int fd) { return sync_with("fsync", REAL(fsync), fd); }
int fdatasync(int fd) { return sync_with("fdatasync", REAL(fdatasync), fd); }

static size_t allowed(const char* call, int fd, size_t size, int* fails) {
    char space[4096];
    const char* path = control == NULL ? "" : name_of(fd, NULL, space, sizeof space);
    *fails = 0;
    if (!is_ours(path)) return size;
    uint64_t number;
    const enum kind kind = enter(call, path, &number);
    *fails = kind == failing;
    return kind == short_write && size > 1 ? size / 2 : size;
}

ssize_t write(int fd, const void* bytes, size_t size) {
    int fails;
    size = allowed("write", fd, size, &fails);
    return fails ? -1 : REAL(write)(fd, bytes, size);
}
ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
    int fails;
    size = allowed("pwrite", fd, size, &fails);
    return fails ? -1 : REAL(pwrite)(fd, bytes, size, at);
}
ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t at) {
    int fails;
    size = allowed("pwrite", fd, size, &fails);
    return fails ? -1 : REAL(pwrite64)(fd, bytes, size, at);
}

/* True: the call has failed. */
static int breaks(const char* call, int folder, const char* path) {
    char space[4096];
    const char* whole = control == NULL ? "" : name_of(folder, path, space, sizeof space);
    uint64_t number;
    return is_ours(whole) && enter(call, whole, &number) == failing;
}

#define ONE(name, parameters, arguments, folder, path) \
    int name parameters { return breaks(#name, folder, path) ? -1 : REAL(name) arguments; }

ONE(rename, (const char* from, const char* to), (from, to), AT_FDCWD, to)
ONE(renameat, (int a, const char* from, int b, const char* to), (a, from, b, to), b, to)
ONE(renameat2, (int a, const char* from, int b, const char* to, unsigned flags), (a, from, b, to, flags), b, to)
ONE(link, (const char* from, const char* to), (from, to), AT_FDCWD, to)
ONE(linkat, (int a, const char* from, int b, const char* to, int flags), (a, from, b, to, flags), b, to)
ONE(unlink, (const char* path), (path), AT_FDCWD, path)
ONE(unlinkat, (int a, const char* path, int flags), (a, path, flags), a, path)
ONE(rmdir, (const char* path), (path), AT_FDCWD, path)
ONE(mkdir, (const char* path, mode_t mode), (path, mode), AT_FDCWD, path)
ONE(mkdirat, (int a, const char* path, mode_t mode), (a, path, mode), a, path)
ONE(chmod, (const char* path, mode_t mode), (path, mode), AT_FDCWD, path)
ONE(fchmod, (int fd, mode_t mode), (fd, mode), fd, NULL)
ONE(ftruncate, (int fd, off_t size), (fd, size), fd, NULL)
ONE(ftruncate64, (int fd, off64_t size), (fd, size), fd, NULL)

#define OPENING(name)                                                                  \
    int name(const char* path, int flags, ...) {                                       \
        va_list rest;                                                                  \
        va_start(rest, flags);                                                         \
        const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;         \
        va_end(rest);                                                                  \
        if ((flags & O_CREAT) != 0 && breaks("create", AT_FDCWD, path)) return -1;     \
        return REAL(name)(path, flags, mode);                                          \
    }
OPENING(open)
OPENING(open64)
