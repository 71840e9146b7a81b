# Makes compiled assembly fit to stand inside another module's: its labels get a prefix of their own (the compiler numbers its
# labels from 0 too), nothing is global, and what may stand only once in an object goes.
file(READ ${INPUT} all)
string(REPLACE ".L" ".Lhaloi_" all "${all}")
string(REGEX REPLACE "\n[ \t]+\\.(file|ident|addrsig|addrsig_sym|globl|hidden|protected)[ \t]*[^\n]*" "" all "${all}")
string(REGEX REPLACE "\n[ \t]+\\.section[ \t]+\"?\\.note\\.GNU-stack[^\n]*" "" all "${all}")
string(REGEX REPLACE "[ \t]+#[^\n]*" "" all "${all}")
file(WRITE ${OUTPUT} "${all}\n\t.text\n")
