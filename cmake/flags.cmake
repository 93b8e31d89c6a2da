# Warnings, optimisation, sanitizers and the instruction sets of single files.
add_library(margrave_flags INTERFACE)
target_compile_features(margrave_flags INTERFACE c_std_11)
target_compile_definitions(margrave_flags INTERFACE _GNU_SOURCE)
# No fused contraction: every backend and instruction set takes the same steps through a formula.
# Nobody reads the floating-point exception flags: without them both sides of a formula's condition
# may be computed, so its loop is vectorised (same bits, up to 6 times faster).
target_compile_options(
    margrave_flags
    INTERFACE -ffp-contract=off
              -fno-math-errno
              -fno-trapping-math
              -Wall
              -Wextra
              -Wshadow
              -Wpointer-arith
              -Wstrict-prototypes
              -Wmissing-prototypes
              -Wvla)
if(MARGRAVE_SANITIZE)
    target_compile_options(margrave_flags INTERFACE -fsanitize=${MARGRAVE_SANITIZE}
                                                    -fno-omit-frame-pointer)
    target_link_options(margrave_flags INTERFACE -fsanitize=${MARGRAVE_SANITIZE})
    if(MARGRAVE_SANITIZE MATCHES undefined)
        target_compile_options(margrave_flags INTERFACE -fno-sanitize-recover=undefined)
    endif()
endif()
# Hardening of what people run; the sanitizers have stronger checks of their own.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT MARGRAVE_SANITIZE)
    target_compile_options(margrave_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
                                                    -fstack-protector-strong)
    if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
        target_link_options(margrave_flags INTERFACE -Wl,-z,relro,-z,now)
    endif()
endif()
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
