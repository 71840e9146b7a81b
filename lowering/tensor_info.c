/* SPDX-License-Identifier: MIT
 * The vocabularies of the tensor IR as tables: ops, kinds and borders, by number and by name. Generated from the .def files. */
#include <string.h>

#include "lowering/tensor.h"

static const op_info op_table[OP_COUNT] = {
    [OP_none] = { "none", 0, CLASS_STR, "" },
#define OP(name, arity, class, integer, floating, meaning) [OP_##name] = { #name, arity, CLASS_##class, meaning },
#include "lowering/ops.def"
#undef OP
};

enum { CLASS_OF_B = 'B', CLASS_OF_I = 'I', CLASS_OF_U = 'U', CLASS_OF_F = 'F' };

static const kind_info kind_table[KIND_COUNT] = {
#define KIND(name, bytes, class, bits, lowest, highest) \
    [KIND_##name] = { #name, bytes, bits, CLASS_OF_##class, lowest, highest },
#include "lowering/types.def"
#undef KIND
};

static const char *const border_table[BORDER_COUNT] = {
#define BORDER(name, picture) [BORDER_##name] = #name,
#include "lowering/border.def"
#undef BORDER
};

const op_info *op_get(tensor_op op)
{
    return &op_table[op];
}

const kind_info *kind_get(kind k)
{
    return &kind_table[k];
}

const char *border_name(border b)
{
    return border_table[b];
}

tensor_op op_find(const char *name)
{
    for (int op = OP_none + 1; op < OP_COUNT; op++)
        if (strcmp(op_table[op].name, name) == 0)
            return (tensor_op)op;
    return OP_none;
}

kind kind_find(const char *name)
{
    for (int k = 0; k < KIND_COUNT; k++)
        if (strcmp(kind_table[k].name, name) == 0)
            return (kind)k;
    return KIND_COUNT;
}

border border_find(const char *name)
{
    for (int b = 0; b < BORDER_COUNT; b++)
        if (strcmp(border_table[b], name) == 0)
            return (border)b;
    return BORDER_COUNT;
}
