# A driver is compiled twice: into its backend's library, and to assembly that stands in every generated object. That assembly must
# not depend on the machine it is built on, hence the fixed target and no vectoriser. Assembling it again takes a fifteenth of the
# time that LLVM would take to compile it again for every object.
set(HALO_BACKENDS_COMMON ${CMAKE_CURRENT_LIST_DIR})

# Adds the file that holds the assembly of SOURCE as bytes called NAME to the list OUT.
function(halo_driver_assembly source name out)
  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(assembly ${CMAKE_CURRENT_BINARY_DIR}/driver.s)
  add_custom_command(OUTPUT ${assembly}
    COMMAND ${CLANG} -O2 -ffreestanding -fno-builtin -fno-vectorize -fno-slp-vectorize -ffp-contract=off -std=c17
            -fPIC -fvisibility=hidden -fno-asynchronous-unwind-tables -fno-jump-tables -fno-stack-protector
            -Wall -Wextra -Werror -I${CMAKE_SOURCE_DIR} -I${CMAKE_SOURCE_DIR}/runtime/include
            -S --target=x86_64-unknown-linux-gnu
            -MD -MF ${assembly}.d -MT ${folder}/driver.s
            ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${assembly}
    DEPENDS ${source} DEPFILE ${assembly}.d VERBATIM)
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/driver_assembly.c)
  add_custom_command(OUTPUT ${embedded}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${assembly} -DOUTPUT=${assembly}.local -P ${HALO_BACKENDS_COMMON}/local_assembly.cmake
    COMMAND ${CMAKE_COMMAND} -DINPUT=${assembly}.local -DOUTPUT=${embedded} -DNAME=${name} -P ${HALO_BACKENDS_COMMON}/embed_bytes.cmake
    DEPENDS ${assembly} ${HALO_BACKENDS_COMMON}/local_assembly.cmake ${HALO_BACKENDS_COMMON}/embed_bytes.cmake VERBATIM)
  set(${out} ${${out}} ${embedded} PARENT_SCOPE)
endfunction()

# Adds the guarded words of a public header as a C string to the list OUT.
function(halo_abi_text header guard file out)
  set(path ${CMAKE_SOURCE_DIR}/runtime/include/halo/${header})
  set(abi_text ${CMAKE_CURRENT_BINARY_DIR}/${file})
  add_custom_command(OUTPUT ${abi_text}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${path} -DGUARD=${guard} -DOUTPUT=${abi_text} -P ${HALO_BACKENDS_COMMON}/abi_text.cmake
    DEPENDS ${path} ${HALO_BACKENDS_COMMON}/abi_text.cmake VERBATIM)
  set(${out} ${${out}} ${abi_text} PARENT_SCOPE)
endfunction()
