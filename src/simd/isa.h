/* simd/isa.h - for files of loops: they are listed in cmake/isa.cmake and compiled once per
 * instruction set, whose name is MGVI_ISA and whose vectors have MGVI_ISA_BYTES (8: none of its
 * own, the reference). Each defines one table,
 *   const mgvi_fft_loops MGVI_OF_ISA(mgvi_fft) = {...};
 * its line of MGVI_SIMD_FAMILIES in simd.h makes it ctx->simd->fft. Everything else is static. */
#ifndef MGVI_SIMD_ISA_H
#define MGVI_SIMD_ISA_H

#if !defined(MGVI_ISA) || !defined(MGVI_ISA_BYTES)
#error "a file of loops: it belongs in the list in cmake/isa.cmake"
#endif

#define MGVI_ISA_PASTE_(name, isa) name##_##isa
#define MGVI_ISA_PASTE(name, isa) MGVI_ISA_PASTE_(name, isa)
/* name_avx2, name_neon, ... */
#define MGVI_OF_ISA(name) MGVI_ISA_PASTE(name, MGVI_ISA)
#endif
