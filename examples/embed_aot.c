/* A photo app's use of a filter that was compiled ahead of time: its own threads, progress, cancelling, and every error
 * handled. Needs nothing of Halo's at run time. Build and run it, from the repository's root, with
 *
 *     build/halo build examples/unsharp.pipe -o unsharp.a --header unsharp.h
 *     cc -I. -o sharpen examples/embed_aot.c unsharp.a -lpthread
 *     build/halo run examples/scene.pipe -o picture=scene.ppm
 *     ./sharpen scene.ppm sharp.ppm 2.0 1.5
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unsharp.h"

enum { THREADS = 4 };

/* --- The app's worker threads. A real app has a pool already; all that Halo asks for is parallel_for. --- */

typedef struct job {
    void     (*task)(void *context, int32_t index);
    void      *context;
    int32_t    count;
    atomic_int next;
} job;

static void *work(void *data)
{
    job *j = data;
    for (int32_t i; (i = atomic_fetch_add(&j->next, 1)) < j->count;)
        j->task(j->context, i);
    return NULL;
}

static void parallel_for(void *user, int32_t count, void (*task)(void *context, int32_t index), void *context)
{
    (void)user;
    job       j = {.task = task, .context = context, .count = count};
    pthread_t helpers[THREADS];
    int       started = 0;
    while (started < THREADS - 1 && started < count - 1 && pthread_create(&helpers[started], NULL, work, &j) == 0)
        started++;
    work(&j);   /* This thread helps too, and does it all alone if no other could be started. */
    while (started > 0)
        pthread_join(helpers[--started], NULL);
}

/* --- Progress and cancelling: Control-C stops the filter within about a millisecond. --- */

typedef struct app {
    double stop_at;          /* For the tests: behave as if the user had cancelled at this part of the work. */
    atomic_int stopped;
} app;

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static int cancelled(void *user)
{
    const app *a = user;
    return interrupted || atomic_load(&a->stopped);
}

static void progress(void *user, float done)
{
    app *a = user;
    fprintf(stderr, "\rsharpening: %3.0f %%", done * 100);
    if (done == 1)
        fputc('\n', stderr);
    if (done >= a->stop_at)
        atomic_store(&a->stopped, 1);
}

/* --- The app's own picture: RGB of 8 bits, read from and written to PPM files. --- */

typedef struct picture {
    int      width, height;
    uint8_t *pixels;
} picture;

static int picture_new(picture *p, int width, int height)
{
    *p = (picture){width, height, malloc((size_t)width * height * 3)};
    return p->pixels != NULL;
}

static int picture_read(picture *p, const char *path)
{
    FILE *file = fopen(path, "rb");
    int   width, height, ok = 0;
    if (file == NULL)
        return 0;
    if (fscanf(file, "P6 %d %d 255", &width, &height) == 2 && fgetc(file) != EOF && width > 0 && height > 0 &&
        width <= 100000 && height <= 100000 && picture_new(p, width, height))
        ok = fread(p->pixels, (size_t)width * 3, (size_t)height, file) == (size_t)height;
    fclose(file);
    return ok;
}

static int picture_write(const picture *p, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return 0;
    fprintf(file, "P6\n%d %d\n255\n", p->width, p->height);
    int ok = fwrite(p->pixels, (size_t)p->width * 3, (size_t)p->height, file) == (size_t)p->height;
    return fclose(file) == 0 && ok;
}

/* How the filter sees it: where the first pixel is and how far it is to the next one, and to the next row. */
static halo_image view(const picture *p)
{
    return (halo_image){.data = p->pixels, .extent = {p->width, p->height, 1, 1, 1}, .stride = {3, (ptrdiff_t)p->width * 3}};
}

static int sharpen(const picture *from, picture *to, const unsharp_params *params, app *a)
{
    const halo_exec exec = {.parallel_for = parallel_for, .workers = THREADS, .cancelled = cancelled,
                            .progress = progress, .user = a};
    halo_image in = view(from), out = {0};
    int        code = unsharp_size(&in, params, &out);
    if (code != HALO_OK)
        return code;
    if (!picture_new(to, out.extent[0], out.extent[1]))
        return HALO_ERROR_MEMORY;
    out = view(to);
    return unsharp(&in, params, &out, &exec);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: sharpen IN.ppm OUT.ppm [SIGMA [AMOUNT [CANCEL-AT]]]\n");
        return 2;
    }
    app            a = {.stop_at = argc > 5 ? atof(argv[5]) : 2};
    unsharp_params params = unsharp_defaults;
    if (argc > 3)
        params.sigma = (float)atof(argv[3]);
    if (argc > 4)
        params.amount = (float)atof(argv[4]);
    signal(SIGINT, interrupt);

    picture from = {0}, to = {0};
    int     status = 1;
    if (!picture_read(&from, argv[1])) {
        fprintf(stderr, "sharpen: %s is no PPM picture of 8 bits that could be read\n", argv[1]);
    } else {
        int code = sharpen(&from, &to, &params, &a);
        if (code == HALO_CANCELLED)
            fprintf(stderr, "\nsharpen: stopped; nothing was written\n");
        else if (code != HALO_OK)
            fprintf(stderr, "sharpen: %s\n", unsharp_error(code));
        else if (!picture_write(&to, argv[2]))
            fprintf(stderr, "sharpen: cannot write %s\n", argv[2]);
        else
            status = 0;
    }
    free(from.pixels);
    free(to.pixels);
    return status;
}
