/* SPDX-License-Identifier: MIT
 * What an object file asks of its host. LLVM replaces what a processor lacks by calls of libm or compiler-rt; a library that
 * needs those must not be handed out, so the object's symbol table is read back (ELF; other formats aren't looked at). */
#include "backends/common/object_symbols.h"

#include <string.h>

/* The fields of ELF64 that are looked at; little-endian, as every target here is. */
typedef struct elf_header { unsigned char ident[16]; uint16_t type, machine; uint32_t version; uint64_t entry, programs, sections;
                            uint32_t flags; uint16_t sizes[3], section_size, n_sections, names; } elf_header;
typedef struct elf_section { uint32_t name, type; uint64_t flags, address, offset, size; uint32_t link, info; uint64_t alignment, entry_size; } elf_section;
typedef struct elf_symbol { uint32_t name; unsigned char info, other; uint16_t section; uint64_t value, size; } elf_symbol;

enum { ELF_SYMBOL_TABLE = 2 };

static bool is_allowed(const char *name)
{
    static const char *const ALLOWED[] = { "malloc", "free", "memcpy", "memset", "memmove", "_GLOBAL_OFFSET_TABLE_" };
    for (size_t k = 0; k < sizeof ALLOWED / sizeof *ALLOWED; k++) if (strcmp(name, ALLOWED[k]) == 0) return true;
    return false;
}

static bool section_at(const char *bytes, size_t n_bytes, const elf_header *h, uint32_t which, elf_section *out)
{
    uint64_t at = h->sections + (uint64_t)which * sizeof *out;
    if (which >= h->n_sections || at + sizeof *out > n_bytes) return false;
    memcpy(out, bytes + at, sizeof *out);
    return out->type == 8 || (out->offset <= n_bytes && out->size <= n_bytes - out->offset);      /* 8: takes no room in the file */
}

const char *object_foreign_symbol(const char *bytes, size_t n_bytes)
{
    elf_header h;
    elf_section symbols, names;
    if (n_bytes < sizeof h) return NULL;
    memcpy(&h, bytes, sizeof h);
    if (memcmp(h.ident, "\177ELF\2\1", 6) != 0 || h.section_size != sizeof symbols) return NULL;
    for (uint32_t k = 0; k < h.n_sections; k++) {
        if (!section_at(bytes, n_bytes, &h, k, &symbols) || symbols.type != ELF_SYMBOL_TABLE) continue;
        if (!section_at(bytes, n_bytes, &h, symbols.link, &names)) continue;
        for (uint64_t at = 0; at + sizeof(elf_symbol) <= symbols.size; at += sizeof(elf_symbol)) {
            elf_symbol s;
            memcpy(&s, bytes + symbols.offset + at, sizeof s);
            const char *name = bytes + names.offset + s.name;
            if (s.section == 0 && s.name && s.name < names.size && !is_allowed(name)) return name;
        }
    }
    return NULL;
}
