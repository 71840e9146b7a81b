/* SPDX-License-Identifier: MIT
 * The last check of a build: an object that calls what hosts may not have is found out. (That no library does is what
 * check_libraries.py looks at, with nm.) Reads the object of foreign_object.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/common/object_symbols.h"
#include "halo/types.h"

static int failed;

static void expect(int condition, const char *what)
{
    if (condition) return;
    failed++;
    printf("FAILED %s\n", what);
}

int main(int n_arguments, char **arguments)
{
    size_t n = 0;
    char *object = n_arguments == 2 ? halo_read_file(arguments[1], &n, NULL) : NULL;
    if (!object) return 2;
    const char *foreign = object_foreign_symbol(object, n);
    expect(foreign && strcmp(foreign, "a_function_of_the_host") == 0, "the one function that isn't allowed is named");
    for (size_t cut = 0; cut < n; cut += 7) {          /* and a damaged file is no reason to crash */
        char *part = malloc(cut ? cut : 1);
        memcpy(part, object, cut);
        object_foreign_symbol(part, cut);
        free(part);
    }
    halo_free(object);
    expect(object_foreign_symbol("!<arch>\n", 8) == NULL, "what isn't an object has no symbols");
    printf(failed ? "%d failed\n" : "all passed\n", failed);
    return failed != 0;
}
