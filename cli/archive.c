/* SPDX-License-Identifier: MIT
 * A static library of one ELF object, written here so that `halo build` needs no binutils: the archive's magic, an index of
 * the object's global symbols (without which linkers refuse it), the object. */
#include "cli/archive.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

typedef struct names { char *bytes; size_t count; uint32_t n_names; } names;

static void add_name(names *n, const char *name)
{
    size_t n_bytes = strlen(name) + 1;
    n->bytes = must(realloc(n->bytes, n->count + n_bytes));
    memcpy(n->bytes + n->count, name, n_bytes);
    n->count += n_bytes;
    n->n_names++;
}

/* The object is the backend's own, so its tables are trusted once its kind is known. */
static bool collect_names(const char *object, size_t n_bytes, names *out)
{
    Elf64_Ehdr head;
    if (n_bytes < sizeof head)
        return false;
    memcpy(&head, object, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
        return false;
    for (unsigned i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr section, strings;
        memcpy(&section, object + head.e_shoff + (size_t)i * sizeof section, sizeof section);
        if (section.sh_type != SHT_SYMTAB)
            continue;
        memcpy(&strings, object + head.e_shoff + (size_t)section.sh_link * sizeof strings, sizeof strings);
        for (size_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            memcpy(&symbol, object + section.sh_offset + at, sizeof symbol);
            int bind = ELF64_ST_BIND(symbol.st_info);
            if ((bind == STB_GLOBAL || bind == STB_WEAK) && symbol.st_shndx != SHN_UNDEF)
                add_name(out, object + strings.sh_offset + symbol.st_name);
        }
    }
    return true;
}

typedef struct buffer { char *bytes; size_t count; } buffer;

static void add(buffer *b, const void *bytes, size_t n_bytes)
{
    b->bytes = must(realloc(b->bytes, b->count + n_bytes + 1));
    memcpy(b->bytes + b->count, bytes, n_bytes);
    b->count += n_bytes;
}

/* Name, date, owner, group, mode, size: fixed columns; the same bytes on every machine. Members start at even places. */
static void add_member(buffer *b, const char *name, size_t n_bytes)
{
    char head[96];
    snprintf(head, sizeof head, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "100644", n_bytes);
    add(b, head, 60);
}

static void add_number(buffer *b, uint32_t value)
{
    unsigned char bytes[4] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16), (unsigned char)(value >> 8),
                              (unsigned char)value};
    add(b, bytes, 4);
}

void *archive_of_object(const void *object, size_t n_bytes, size_t *n_archive_bytes)
{
    names n = {0};
    if (!collect_names(object, n_bytes, &n)) {
        free(n.bytes);
        return NULL;
    }
    buffer b = {0};
    size_t index = 4 + 4 * (size_t)n.n_names + n.count, padded = index + index % 2;
    add(&b, "!<arch>\n", 8);
    add_member(&b, "/", padded);
    add_number(&b, n.n_names);
    for (uint32_t i = 0; i < n.n_names; i++)
        add_number(&b, (uint32_t)(8 + 60 + padded));
    add(&b, n.bytes ? n.bytes : "", n.count);
    add(&b, "\0", index % 2);
    add_member(&b, "halo.o/", n_bytes);
    add(&b, object, n_bytes);
    add(&b, "\n", n_bytes % 2);
    free(n.bytes);
    *n_archive_bytes = b.count;
    return b.bytes;
}
