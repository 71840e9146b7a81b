/* SPDX-License-Identifier: MIT
 * What a generated object must not be: it calls a function of its host (and two that it may). */
#include <stdlib.h>
#include <string.h>

float a_function_of_the_host(float x);
void *foreign_object(const void *from, size_t n, float x);

void *foreign_object(const void *from, size_t n, float x)
{
    void *to = malloc(n);
    return a_function_of_the_host(x) > 0 && to ? memcpy(to, from, n) : to;
}
