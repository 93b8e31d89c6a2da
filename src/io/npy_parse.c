/* npy_parse.c - the NPY header: magic, version, and a Python dictionary as text such as
 *   {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } */
#include "io/npy.h"

#include <stdio.h>
#include <string.h>

/* What is left of the dictionary. */
typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_space(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t'))
        c->at++;
}

static bool accept(cursor *c, const char *word)
{
    const size_t length = strlen(word);
    skip_space(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
        return false;
    c->at += length;
    return true;
}

static bool parse_text(cursor *c, char *buffer, size_t capacity)
{
    skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    const char quote = *c->at++;
    const char *close = memchr(c->at, quote, (size_t)(c->end - c->at));
    if (!close || (size_t)(close - c->at) >= capacity)
        return false;
    memcpy(buffer, c->at, (size_t)(close - c->at));
    buffer[close - c->at] = 0;
    c->at = close + 1;
    return true;
}

static bool parse_side(cursor *c, int64_t *out)
{
    int64_t v = 0;
    skip_space(c);
    const char *start = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *c->at - '0', &v))
            return false;
    *out = v;
    if (c->at == start)
        return false;
    accept(c, "L"); /* Python 2 */
    return true;
}

static bool parse_shape(cursor *c, mgvi_npy *out)
{
    out->rank = 0;
    if (!accept(c, "("))
        return false;
    while (!accept(c, ")")) {
        if (out->rank == MGVI_NPY_RANK_MAX || !parse_side(c, &out->shape[out->rank++]))
            return false;
        if (!accept(c, ",")) {
            if (!accept(c, ")"))
                return false;
            break;
        }
    }
    return true;
}

/* Reads the dictionary; `descr` is "" when it is not a plain string (a structured array). */
static bool parse_dictionary(cursor *c, mgvi_npy *out, char *descr, size_t capacity)
{
    char key[32];
    unsigned seen = 0;
    if (!accept(c, "{"))
        return false;
    while (!accept(c, "}")) {
        if (!parse_text(c, key, sizeof key) || !accept(c, ":"))
            return false;
        if (strcmp(key, "descr") == 0) {
            seen |= 1;
            if (accept(c, "["))
                return true; /* named fields: refused by the caller */
            if (!parse_text(c, descr, capacity))
                return false;
        } else if (strcmp(key, "fortran_order") == 0) {
            seen |= 2;
            out->fortran = accept(c, "True");
            if (!out->fortran && !accept(c, "False"))
                return false;
        } else if (strcmp(key, "shape") == 0) {
            seen |= 4;
            if (!parse_shape(c, out))
                return false;
        } else {
            return false;
        }
        if (!accept(c, ",")) {
            if (!accept(c, "}"))
                return false;
            break;
        }
    }
    return seen == 7;
}

static const struct {
    const char *code;
    mgvi_number type;
} number_codes[] = {{"b1", MGVI_N_BOOL}, {"i1", MGVI_N_I8},  {"u1", MGVI_N_U8},
                    {"i2", MGVI_N_I16},  {"u2", MGVI_N_U16}, {"i4", MGVI_N_I32},
                    {"u4", MGVI_N_U32},  {"i8", MGVI_N_I64}, {"u8", MGVI_N_U64},
                    {"f2", MGVI_N_F16},  {"f4", MGVI_N_F32}, {"f8", MGVI_N_F64}};

static mgv_status parse_descr(mgv_ctx *ctx, const char *what, const char *descr, mgvi_npy *out)
{
    const char *code = descr + (descr[0] && strchr("<>|=", descr[0]) ? 1 : 0);
    out->values.swapped = descr[0] == '>';
    out->kind = code[0];
    for (size_t k = 0; k < sizeof number_codes / sizeof *number_codes; k++) {
        if (strcmp(code, number_codes[k].code) == 0) {
            out->numeric = true;
            out->values.type = number_codes[k].type;
            out->item = mgvi_number_size(out->values.type);
            return MGV_OK;
        }
    }
    int64_t characters;
    cursor c = {code + 1, code + strlen(code)};
    if ((code[0] == 'S' || code[0] == 'U') && parse_side(&c, &characters) && c.at == c.end &&
        characters < 1 << 20) {
        out->item = (size_t)characters * (code[0] == 'U' ? 4 : 1);
        return MGV_OK;
    }
    if (code[0] == 'O')
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: holds Python objects, not numbers; save it with astype(float)", what);
    return MGVI_FAIL(ctx, MGV_E_INPUT,
                     "%s: has the dtype '%.20s'; numbers of 1 to 8 bytes are read; save it with "
                     "astype(float)",
                     what, descr[0] ? descr : "(named fields)");
}

/* Where the dictionary and the data begin. */
static mgv_status parse_frame(mgv_ctx *ctx, const char *what, const char *bytes, size_t size,
                              cursor *dictionary)
{
    if (size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: is not an NPY array (%zu bytes)", what, size);
    const int version = (unsigned char)bytes[6];
    if (version < 1 || version > 3)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: has NPY version %d; 1 to 3 are read", what,
                         version);
    const unsigned char *b = (const unsigned char *)bytes + 8;
    uint32_t length = b[0] | (uint32_t)b[1] << 8;
    size_t begin = 10;
    if (version > 1) {
        begin = 12;
        length |= size < begin ? 0 : (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    }
    if (size < begin || length > size - begin)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: the header claims %" PRIu32 " bytes, but there are %zu: truncated",
                         what, length, size);
    *dictionary = (cursor){bytes + begin, bytes + begin + length};
    return MGV_OK;
}

mgv_status mgvi_npy_parse(mgv_ctx *ctx, const char *what, const char *bytes, size_t size,
                          mgvi_npy *out)
{
    char descr[64] = "";
    cursor c = {0};
    *out = (mgvi_npy){0};
    MGVI_TRY(parse_frame(ctx, what, bytes, size, &c));
    out->values.data = c.end;
    if (!parse_dictionary(&c, out, descr, sizeof descr))
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the NPY header is not understood", what);
    MGVI_TRY(parse_descr(ctx, what, descr, out));
    size_t count = 1, need;
    bool overflow = false;
    for (int k = 0; k < out->rank; k++)
        overflow = overflow || __builtin_mul_overflow(count, (size_t)out->shape[k], &count);
    const size_t there = (size_t)(bytes + size - out->values.data);
    if (overflow || __builtin_mul_overflow(count, out->item, &need) || need > there)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: the shape needs more than the %zu bytes of data there: truncated",
                         what, there);
    out->values.count = count;
    return MGV_OK;
}

size_t mgvi_npy_header(char buffer[MGVI_NPY_HEADER_MAX], const char *descr, bool fortran, int rank,
                       const int64_t *shape)
{
    enum { ALIGN = 64, FRAME = 10 };
    char text[MGVI_NPY_HEADER_MAX - FRAME];
    int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': (",
                          descr, fortran ? "True" : "False");
    for (int k = 0; k < rank; k++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%" PRId64 "%s", shape[k],
                           rank == 1 || k + 1 < rank ? ", " : "");
    length += snprintf(text + length, sizeof text - (size_t)length, "), }");
    const size_t size = ((size_t)length + 1 + FRAME + ALIGN - 1) / ALIGN * ALIGN;
    memcpy(buffer, "\x93NUMPY\x01\x00", 8);
    buffer[8] = (char)((size - FRAME) & 255);
    buffer[9] = (char)((size - FRAME) >> 8);
    memset(buffer + FRAME, ' ', size - FRAME);
    memcpy(buffer + FRAME, text, (size_t)length);
    buffer[size - 1] = '\n';
    return size;
}
