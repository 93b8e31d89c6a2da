# Files of loops, each compiled once per instruction set (src/simd/isa.h). simd/dispatch.c hands out
# the tables that the machine can run. A file of its own per loop and set, not one per set: the
# rooms keep their loops, two of them may have different flags, and a change compiles one.
set(MARGRAVE_LOOPS
    src/simd/isa.c
    src/simd/gemm.c
    src/simd/lanes.c
    src/simd/pairs.c
    src/simd/pass.c
    src/op/fft_loops.c
    src/op/poly_map.c
    src/op/row_kernels.c
    src/solver/coordinate/dual_sweep.c
    src/solver/classes/lockstep_narrow.c
    src/solver/classes/lockstep_wide.c
    src/solver/newton/tall_loops.c
    src/complete/loops.c)
# Paths to choose from are float32 and differ between instruction sets anyway; so do inner products
# of points, wherever they are made: products and sums of these loops may be fused.
set(MARGRAVE_FUSED_LOOPS src/simd/rough_points.c src/simd/short_points.c src/select/lane_loops.c)
set_source_files_properties(${MARGRAVE_FUSED_LOOPS} PROPERTIES COMPILE_OPTIONS -ffp-contract=fast)

# Adds the loops for an instruction set whose vectors have so many bytes, with these options.
macro(margrave_isa name bytes)
    margrave_objects(margrave_${name} ${MARGRAVE_LOOPS} ${MARGRAVE_FUSED_LOOPS})
    target_compile_definitions(margrave_${name} PRIVATE MGVI_ISA=${name} MGVI_ISA_BYTES=${bytes})
    target_compile_options(margrave_${name} PRIVATE ${ARGN})
endmacro()

margrave_isa(scalar 8)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(avx2 -mavx2 -mfma -mbmi2)
    margrave_isa(avx2 32 ${avx2})
    margrave_isa(avx512 64 ${avx2} -mavx512f -mavx512dq -mavx512bw -mavx512vl)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    margrave_isa(neon 16)
endif()
