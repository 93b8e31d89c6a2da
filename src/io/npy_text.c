/* npy_text.c - arrays of words: NumPy's 'S' (bytes) and 'U' (UCS-4), to and from UTF-8. */
#include "io/npy.h"

#include <stdio.h>
#include <string.h>

static uint32_t code_point(const mgvi_npy *npy, const char *p)
{
    uint32_t c;
    memcpy(&c, p, sizeof c);
    return npy->values.swapped ? __builtin_bswap32(c) : c;
}

/* Writes one character; the number of bytes, 0 when there is no such character. */
static size_t put_utf8(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    const size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t k = length - 1; k; k--, c >>= 6)
        out[k] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)((0xf00u >> length & 0xff) | c);
    return length;
}

/* One element as UTF-8 with its terminator; the bytes used, 0 when it is not text. */
static size_t put_element(const mgvi_npy *npy, const char *from, char *out)
{
    size_t used = 0;
    if (npy->kind == 'S') {
        used = strnlen(from, npy->item);
        memcpy(out, from, used);
    } else {
        for (size_t k = 0; k < npy->item && code_point(npy, from + k); k += 4) {
            const size_t length = put_utf8(code_point(npy, from + k), out + used);
            if (!length)
                return 0;
            used += length;
        }
    }
    out[used] = 0;
    return used + 1;
}

mgv_status mgvi_npy_texts(mgv_ctx *ctx, const char *what, const mgvi_npy *npy, char ***out)
{
    const size_t count = npy->values.count;
    /* 4 bytes of UCS-4 are at most 4 of UTF-8; count * item is known not to overflow. */
    char **texts = mgvi_alloc(ctx, count, sizeof *texts + npy->item + 1);
    if (!texts)
        return MGV_E_MEMORY;
    char *at = (char *)(texts + count);
    for (size_t i = 0; i < count; i++) {
        const size_t used = put_element(npy, npy->values.data + i * npy->item, at);
        if (!used) {
            mgvi_release(ctx, texts);
            return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: element %zu is not Unicode text", what, i);
        }
        texts[i] = at;
        at += used;
    }
    *out = texts;
    return MGV_OK;
}

/* Reads one character of UTF-8 and moves on; false when the bytes are not UTF-8. */
static bool get_utf8(const char **text, uint32_t *out)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)*text;
    const size_t length = *p < 0x80 ? 1 : *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc0 ? 2 : 0;
    uint32_t c = length == 1 ? *p : *p & (0x7fu >> length);
    if (!length || *p >= 0xf8)
        return false;
    for (size_t k = 1; k < length; k++) {
        if ((p[k] & 0xc0) != 0x80)
            return false;
        c = c << 6 | (p[k] & 0x3f);
    }
    *text += length;
    *out = c;
    return c >= least[length] && c <= 0x10ffff && !(c >= 0xd800 && c < 0xe000);
}

/* The longest text in characters (bytes when one is not UTF-8). */
static size_t longest(const char *const *texts, int64_t count, bool *unicode)
{
    size_t bytes = 1, most = 1;
    *unicode = true;
    for (int64_t i = 0; i < count; i++) {
        const char *at = texts[i];
        uint32_t c;
        size_t characters = 0;
        while (*at && *unicode) {
            *unicode = get_utf8(&at, &c);
            characters++;
        }
        most = characters > most ? characters : most;
        bytes = strlen(texts[i]) > bytes ? strlen(texts[i]) : bytes;
    }
    return *unicode ? most : bytes;
}

mgv_status mgvi_npy_from_texts(mgv_ctx *ctx, const char *const *texts, int64_t count,
                               char descr[MGVI_NPY_DESCR_MAX], void **out, size_t *item)
{
    bool unicode;
    const size_t width = longest(texts, count, &unicode);
    *item = unicode ? 4 * width : width;
    snprintf(descr, MGVI_NPY_DESCR_MAX, "%s%zu", unicode ? "<U" : "|S", width);
    char *block = mgvi_zeros(ctx, (size_t)count, *item);
    if (!block)
        return MGV_E_MEMORY;
    *out = block;
    for (int64_t i = 0; i < count; i++, block += *item) {
        const char *at = texts[i];
        if (!unicode)
            memcpy(block, at, strlen(at));
        for (char *p = block; unicode && *at; p += 4) {
            uint32_t c = 0;
            get_utf8(&at, &c);
            memcpy(p, &c, sizeof c);
        }
    }
    return MGV_OK;
}
