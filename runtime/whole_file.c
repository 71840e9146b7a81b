/* SPDX-License-Identifier: MIT
 * Files read whole, and written whole or not at all. A written file appears under its name only when all of it is there:
 * the bytes go into a new file beside it, which then takes the name. */
#include "runtime/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Grows `bytes` to hold `capacity` and a NUL. */
static bool grow(uint8_t **bytes, size_t capacity)
{
    uint8_t *larger = capacity < SIZE_MAX / 2 ? realloc(*bytes, capacity + 1) : NULL;
    if (larger)
        *bytes = larger;
    return larger != NULL;
}

static uint8_t *read_all(int descriptor, size_t expected, size_t *n_bytes, int *problem)
{
    size_t capacity = expected + 1, used = 0;
    uint8_t *bytes = NULL;
    *problem = ENOMEM;
    if (!grow(&bytes, capacity))
        return NULL;
    for (;;) {
        if (used == capacity && !grow(&bytes, capacity *= 2))
            break;
        ssize_t got = read(descriptor, bytes + used, capacity - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            *problem = errno;
            break;
        }
        if (got == 0) {
            bytes[used] = '\0';
            *n_bytes = used;
            return bytes;
        }
        used += (size_t)got;
    }
    free(bytes);
    return NULL;
}

void *halo_read_file(const char *path, size_t *n_bytes, halo_message *error)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        message_fail(error, "%s: %s", path, strerror(errno));
        return NULL;
    }
    struct stat about;
    int problem = 0;
    uint8_t *bytes = NULL;
    if (fstat(descriptor, &about) != 0)
        problem = errno;
    else if (S_ISDIR(about.st_mode))
        problem = EISDIR;
    else
        bytes = read_all(descriptor, about.st_size > 0 ? (size_t)about.st_size : 4095, n_bytes, &problem);
    close(descriptor);
    if (!bytes)
        message_fail(error, "%s: %s", path, strerror(problem));
    return bytes;
}

static bool write_all(int descriptor, const uint8_t *bytes, size_t n_bytes)
{
    while (n_bytes > 0) {
        ssize_t done = write(descriptor, bytes, n_bytes < (1u << 30) ? n_bytes : (1u << 30));
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        bytes += done;
        n_bytes -= (size_t)done;
    }
    return true;
}

/* Writes and closes; errno says why not. */
static bool write_and_close(int descriptor, const void *bytes, size_t n_bytes)
{
    bool written = write_all(descriptor, bytes, n_bytes);
    int problem = errno;
    if (close(descriptor) != 0 && written)
        return false;
    errno = problem;
    return written;
}

/* A new file beside `path`: "FOLDER/.NAME.NUMBER.tmp". Its name is written to `temporary`, which has room for it. */
static int open_temporary(const char *path, char *temporary, size_t room)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        snprintf(temporary, room, "%.*s.%.200s.%ld-%u.tmp", folder, path, path + folder, (long)getpid(), attempt);
        int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 || errno != EEXIST)
            return descriptor;
    }
    return -1;
}

static bool write_renamed(const char *path, const void *bytes, size_t n_bytes)
{
    size_t room = strlen(path) + 64;
    char *temporary = malloc(room);
    if (!temporary) {
        errno = ENOMEM;
        return false;
    }
    int descriptor = open_temporary(path, temporary, room);
    bool done = descriptor >= 0;
    if (done) {
        done = write_and_close(descriptor, bytes, n_bytes) && rename(temporary, path) == 0;
        if (!done) {
            int problem = errno;
            unlink(temporary);
            errno = problem;
        }
    }
    free(temporary);
    return done;
}

static bool write_directly(const char *path, const void *bytes, size_t n_bytes)
{
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    return descriptor >= 0 && write_and_close(descriptor, bytes, n_bytes);
}

int halo_write_file(const char *path, const void *bytes, size_t n_bytes, halo_message *error)
{
    struct stat about;
    bool exists = stat(path, &about) == 0, done;
    if (exists && S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        done = false;
    } else if (exists && !S_ISREG(about.st_mode)) {
        done = write_directly(path, bytes, n_bytes);
    } else {
        char *real = exists ? realpath(path, NULL) : NULL;      /* a link stays one: the file that it names is replaced */
        done = write_renamed(real ? real : path, bytes, n_bytes);
        int problem = errno;
        free(real);
        errno = problem;
    }
    if (!done)
        message_fail(error, "%s: %s", path, strerror(errno));
    return done ? HALO_OK : 1;
}
