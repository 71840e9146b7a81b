# Writes a file as a C byte array and its size:
#   cmake -DINPUT=driver.bc -DOUTPUT=driver.c -DNAME=driver -P embed_bytes.cmake
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "#include <stddef.h>

extern const unsigned char ${NAME}[];
extern const size_t ${NAME}_size;

const unsigned char ${NAME}[] = {${bytes}};
const size_t ${NAME}_size = sizeof ${NAME};\n")
