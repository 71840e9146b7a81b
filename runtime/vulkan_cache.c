/* SPDX-License-Identifier: MIT
 * Compiled pipelines, kept in a file between processes: one file for each device and version of its driver. Drivers trust what
 * they are handed, so the file carries a hash of its own, and what isn't whole, or is another device's, counts as nothing. */
#include "runtime/vulkan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct cache_head { char magic[8]; uint64_t hash, bytes; } cache_head;
static const char magic[8] = "HALOVK1";
enum { VULKAN_HEAD = 32,                 /* length, version, vendor, device, UUID: VkPipelineCacheHeaderVersionOne */
       MOST_BYTES = 64 << 20 };          /* a larger file begins anew: nothing else ever leaves it */

/* FNV-1a. */
static uint64_t hash_of(const unsigned char *bytes, size_t n)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

/* The folder and those above it. */
static bool make_folders(char *path)
{
    for (char *at = path + 1; *at; at++)
        if (*at == '/') {
            *at = '\0';
            bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
            *at = '/';
            if (!made)
                return false;
        }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static char *path_in(const char *folder, const VkPhysicalDeviceProperties *p)
{
    size_t room = strlen(folder) + 2 * VK_UUID_SIZE + 40, n;
    char *path = malloc(room);
    if (!path)
        return NULL;
    strcpy(path, folder);
    if (!make_folders(path)) {
        free(path);
        return NULL;
    }
    n = (size_t)snprintf(path, room, "%s/vulkan-", folder);
    for (size_t i = 0; i < VK_UUID_SIZE; i++)
        n += (size_t)snprintf(path + n, room - n, "%02x", p->pipelineCacheUUID[i]);
    snprintf(path + n, room - n, "-%x.cache", p->driverVersion);
    return path;
}

/* Where Vulkan's own part begins in the file's bytes; NULL: this isn't what this device wrote. */
static const unsigned char *check(const unsigned char *file, size_t n, const VkPhysicalDeviceProperties *p, cache_head *head)
{
    if (n < sizeof *head + VULKAN_HEAD || n > MOST_BYTES)
        return NULL;
    memcpy(head, file, sizeof *head);
    const unsigned char *body = file + sizeof *head;
    uint32_t words[4];
    memcpy(words, body, sizeof words);
    bool sound = memcmp(head->magic, magic, sizeof magic) == 0 && head->bytes == n - sizeof *head &&
                 head->hash == hash_of(body, head->bytes);
    bool ours = words[0] >= VULKAN_HEAD && words[1] == VK_PIPELINE_CACHE_HEADER_VERSION_ONE && words[2] == p->vendorID &&
                words[3] == p->deviceID && memcmp(body + sizeof words, p->pipelineCacheUUID, VK_UUID_SIZE) == 0;
    return sound && ours ? body : NULL;
}

void vulkan_cache_open(halo_device *device, const char *folder)
{
    const VkPhysicalDeviceProperties *p = &device->physical.properties;
    device->cache_path = path_in(folder, p);
    size_t n = 0;
    unsigned char *file = device->cache_path ? halo_read_file(device->cache_path, &n, NULL) : NULL;
    cache_head head = {0};
    const unsigned char *body = file ? check(file, n, p, &head) : NULL;
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                      .initialDataSize = body ? head.bytes : 0, .pInitialData = body};
    device->cache_hash = body ? head.hash : 0;
    if (device->CreatePipelineCache(device->handle, &info, NULL, &device->cache) != VK_SUCCESS)
        device->cache = VK_NULL_HANDLE;
    free(file);
}

/* A cache that can't be written costs time only: nothing is said. */
static void write_cache(halo_device *device)
{
    size_t n = 0;
    if (device->GetPipelineCacheData(device->handle, device->cache, &n, NULL) != VK_SUCCESS || n < VULKAN_HEAD)
        return;
    unsigned char *file = malloc(sizeof(cache_head) + n);
    if (!file)
        return;
    unsigned char *body = file + sizeof(cache_head);
    if (device->GetPipelineCacheData(device->handle, device->cache, &n, body) == VK_SUCCESS) {
        cache_head head = {.hash = hash_of(body, n), .bytes = n};
        memcpy(head.magic, magic, sizeof magic);
        memcpy(file, &head, sizeof head);
        if (head.hash != device->cache_hash)
            halo_write_file(device->cache_path, file, sizeof head + n, NULL);
    }
    free(file);
}

void vulkan_cache_close(halo_device *device)
{
    if (device->cache && device->cache_path)
        write_cache(device);
    if (device->cache)
        device->DestroyPipelineCache(device->handle, device->cache, NULL);
    free(device->cache_path);
}
