# Writes the prelude's scripts as a C table (lang/prelude.h), byte by byte: no limit on a string literal's length applies.
#   cmake -DOUTPUT=prelude.c "-DSCRIPTS=a.pipe;b.pipe" -P embed_prelude.cmake
set(texts "")
set(rows "")
set(index 0)
foreach(script IN LISTS SCRIPTS)
  get_filename_component(name ${script} NAME)
  file(READ ${script} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND texts "static const char text_${index}[] = {${bytes}0};\n")
  string(APPEND rows "    {\"prelude/${name}\", text_${index}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"lang/prelude.h\"\n\n${texts}
const prelude_script prelude_scripts[] = {\n${rows}    {0, 0}\n};
const size_t n_prelude_scripts = ${index};\n")
