/* base/hash.h - FNV-1a: a number of 64 bits over bytes, to tell things apart quickly. */
#ifndef MGVI_BASE_HASH_H
#define MGVI_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MGVI_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* `hash` goes on over the bytes. */
static inline uint64_t mgvi_hash(uint64_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}
/* Over a text and its end, so that two texts are not one. */
static inline uint64_t mgvi_hash_text(uint64_t hash, const char *text)
{
    return mgvi_hash(hash, text, strlen(text) + 1);
}
#endif
