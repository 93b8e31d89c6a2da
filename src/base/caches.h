/* base/caches.h - how large the processor's caches are, in classes.
 * Rules that weigh work by its memory ask these, and some of them change which numbers are added
 * first: so that the bits are those of a class of machines, sizes are rounded down to powers of two
 * between bounds. MGV_CACHE=32K,512K,4M in the environment says otherwise. */
#ifndef MGVI_BASE_CACHES_H
#define MGVI_BASE_CACHES_H

#include <stdbool.h>
#include <stdint.h>

enum { MGVI_CACHES_TEXT = 32 };

/* Bytes: of data in the first cache, of the second, and one processor's share of the last. */
typedef struct mgvi_caches {
    int32_t first, second, last;
} mgvi_caches;

/* Those of this machine, read once. */
mgvi_caches mgvi_caches_found(void);
/* "32K,512K,4M" (K, M or nothing after each number; later ones may be left out) over `out`; false:
 * it is not such a text, and `out` is as before. */
bool mgvi_caches_parse(const char *text, mgvi_caches *out);
/* As mgvi_caches_parse takes it. */
void mgvi_caches_print(const mgvi_caches *caches, char text[MGVI_CACHES_TEXT]);
#endif
