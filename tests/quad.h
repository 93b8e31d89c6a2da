/* quad.h - a number of 113 bits. */
#ifndef MGV_TESTS_QUAD_H
#define MGV_TESTS_QUAD_H

#ifdef __SIZEOF_FLOAT128__
typedef __float128 quad;
#else
typedef long double quad; /* 64-bit ARM */
#endif
#endif
