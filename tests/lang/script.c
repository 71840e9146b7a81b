/* SPDX-License-Identifier: MIT
 * See script.h. */
#define _GNU_SOURCE
#include "script.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *repository = ".";

parsed_script parse_bytes(const char *bytes, size_t n_bytes)
{
    parsed_script s = {.memory = arena_new(NULL)};
    assert_non_null(s.memory);
    diags_init(&s.diagnostics, s.memory);
    uint32_t source = diags_add_source(&s.diagnostics, "test.pipe", bytes, n_bytes);
    s.tree = parse_file(s.memory, interner_new(s.memory), &s.diagnostics, source);
    return s;
}

parsed_script parse_string(const char *string)
{
    return parse_bytes(string, strlen(string));
}

void script_free(parsed_script *s)
{
    arena_free(s->memory);
}

static char *take(text *out)
{
    char *string = text_take(out);
    assert_non_null(string);
    return string;
}

char *tree_of(const parsed_script *s)
{
    text out = {0};
    print_ast(s->tree, &out);
    return take(&out);
}

char *formatted(const parsed_script *s)
{
    text out = {0};
    format_file(s->tree, &out);
    return take(&out);
}

char *diagnostics_of(const parsed_script *s)
{
    text out = {0};
    diags_render(&s->diagnostics, &out);
    return take(&out);
}

char *codes_of(const char *string)
{
    parsed_script s = parse_string(string);
    text out = {0};
    for (uint32_t i = 0; i < s.diagnostics.items.count; i++) {
        const diag *item = &s.diagnostics.items.items[i];
        uint32_t line, column;
        diag_position(&s.diagnostics, item->where, &line, &column);
        text_printf(&out, "%s%s@%u", i ? " " : "", diag_code_name(item->code), line);
    }
    script_free(&s);
    return take(&out);
}

char *read_whole(const char *path, size_t *n_bytes)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    text bytes = {0};
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;)
        text_add(&bytes, block, n);
    fclose(f);
    *n_bytes = bytes.count;
    return take(&bytes);
}

static void find_below(const char *folder, path_list *list)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return;
    for (struct dirent *entry; (entry = readdir(directory));) {
        char *path;
        if (entry->d_name[0] == '.' || strncmp(entry->d_name, "build", 5) == 0 ||
            asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
            continue;
        const char *end = strrchr(entry->d_name, '.');
        if (entry->d_type == DT_DIR)
            find_below(path, list);
        if (entry->d_type == DT_REG && end && strcmp(end, ".pipe") == 0) {
            list->paths = realloc(list->paths, (list->count + 1) * sizeof *list->paths);
            assert_non_null(list->paths);
            list->paths[list->count++] = path;
        } else {
            free(path);
        }
    }
    closedir(directory);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

path_list find_scripts(void)
{
    path_list list = {0};
    find_below(repository, &list);
    qsort(list.paths, list.count, sizeof *list.paths, by_name);
    return list;
}

void path_list_free(path_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    free(list->paths);
}
