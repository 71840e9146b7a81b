/* SPDX-License-Identifier: MIT
 * A pipe as a device runs it: compiled to SPIR-V, its pipelines made. */
#include "runtime/program.h"

#include <stdlib.h>
#include <string.h>

/* Exact passes that pay on processors alone. A table read at every pixel costs a device more than the arithmetic that it saves, and
 * its numbers are 32 bits wide in registers, whatever they hold. */
static const pass_id only_for_processors[] = {PASS_tabulate, PASS_narrow};

bool program_for_vulkan(const halo_program *program)
{
    return program->options.engine == HALO_ENGINE_VULKAN || program->options.for_vulkan;
}

void vulkan_skips(bool *skip)
{
    for (size_t i = 0; i < sizeof only_for_processors / sizeof *only_for_processors; i++)
        skip[only_for_processors[i]] = true;
}

static bool create(halo_program *program, vulkan_pipe *v)
{
    halo_device *device = v->device;
    const haloi_vulkan_code *code = &v->module->code;
    const char *missing = haloi_vulkan_missing(code, &device->about);
    double start = vulkan_now_ms();
    int result = missing ? HALO_VULKAN_ERROR_FEATURE
                         : haloi_vulkan_create(code, device->handle, device->instance.GetDeviceProcAddr,
                                               &device->about, device->cache, &v->handle);
    v->create_ms = vulkan_now_ms() - start;
    if (result == HALO_OK)
        return true;
    if (missing)
        diag_add(&program->messages, DIAG_E0554, (span){0}, "`%s` can't run on %s, which lacks %s", v->signature->name,
                 device->physical.info.name, missing);
    else
        diag_add(&program->messages, DIAG_E0554, (span){0}, "`%s` can't run on %s: %s", v->signature->name,
                 device->physical.info.name, haloi_vulkan_error(result));
    diag_help(&program->messages, "it runs on the processor (--on cpu)");
    return false;
}

vulkan_pipe *vulkan_pipe_new(halo_program *program, tensor_pipe *ir, const halo_signature *signature)
{
    if (!program->options.device) {
        diag_add(&program->messages, DIAG_E0554, (span){0}, "HALO_ENGINE_VULKAN wants a device that is open (halo_options.device)");
        return NULL;
    }
    vulkan_options options;
    if (!program_vulkan_options(program, ir, &options))
        return NULL;
    options.layouts = NULL;                              /* they are for libraries */
    vulkan_pipe *v = ARENA_NEW(program->memory, vulkan_pipe);
    *v = (vulkan_pipe){.device = program->options.device, .signature = signature};
    v->module = vulkan_compile(ir, &options, program->memory, &program->messages);
    if (!v->module || program->messages.n_errors > 0 || !create(program, v))
        return NULL;
    if (pthread_mutex_init(&v->lock, NULL) == 0)
        return v;
    haloi_vulkan_destroy(v->handle);
    return NULL;
}

void vulkan_pipe_free(vulkan_pipe *v)
{
    if (!v)
        return;
    vulkan_runs_free(v);
    haloi_vulkan_destroy(v->handle);
    pthread_mutex_destroy(&v->lock);
}
