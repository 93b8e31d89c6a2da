/* io/libsvm_pair.h - the common spelling of INDEX:VALUE, read without a loop.
 * What limits a reader is how soon it knows where the next pair starts. With 16 bytes in a register
 * one comparison shows the pair's end and the next pair can be started upon before this one's
 * digits are worked out; the other path learns the end from the digits. */
#ifndef MGVI_IO_LIBSVM_PAIR_H
#define MGVI_IO_LIBSVM_PAIR_H

#include "base/number.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef struct mgvi_libsvm_pair {
    int64_t index;
    double value;
    const char *value_at, *next;
    bool last; /* of its row; `next` is then the next line */
} mgvi_libsvm_pair;

/* digits:number and a space or newline; false: another spelling. Looks at up to 17 bytes more than
 * mgvi_number_fast. */
static inline bool mgvi_libsvm_pair_any(const char *p, mgvi_libsvm_pair *t)
{
    uint64_t digits = mgvi_digits_load(p);
    unsigned count = mgvi_digits_count(digits);
    uint64_t index = mgvi_digits_value(digits, count);
    p += count;
    if (__builtin_expect(count == 8, 0)) {
        digits = mgvi_digits_load(p);
        const unsigned more = mgvi_digits_count(digits);
        index = index * mgvi_integer_powers_of_ten[more] + mgvi_digits_value(digits, more);
        p += more;
    }
    if (*p != ':' || count == 0)
        return false;
    const char *next = mgvi_number_fast(p + 1, &t->value);
    if (!next || (*next != ' ' && *next != '\n'))
        return false;
    t->index = (int64_t)index;
    t->value_at = p + 1;
    t->last = *next == '\n';
    t->next = next + 1;
    return true;
}

#if defined(__SSE2__)
/* The same when it takes at most 16 bytes, with at most 8 digits on each side of the point. */
static inline bool mgvi_libsvm_pair_short(const char *p, mgvi_libsvm_pair *t)
{
    const __m128i v = _mm_loadu_si128((const __m128i *)p);
    const unsigned ends = (unsigned)_mm_movemask_epi8(
        _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(' ')), v)); /* bytes up to ' ' */
    const unsigned end = (unsigned)__builtin_ctz(ends | 1u << 16);
    t->next = p + end + 1;
    const __m128i digit = _mm_sub_epi8(v, _mm_set1_epi8('0'));
    const unsigned digits =
        (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit));
    const unsigned others = ~digits & ((1u << end) - 1); /* colon, sign, point */
    if (__builtin_expect(end == 16 || others == 0, 0))
        return false;
    const unsigned colon = (unsigned)__builtin_ctz(others), start = colon + 1;
    const uint64_t negative = p[start] == '-';
    const unsigned first = start + (unsigned)negative;
    const unsigned point = others & (others - 1) & ~((unsigned)negative << start);
    const char stop = p[end];
    if (__builtin_expect(
            p[colon] != ':' || colon - 1 > 7 || first == end || (stop != ' ' && stop != '\n'), 0))
        return false;
    uint64_t bits;
    double value;
    if (point) {
        const unsigned at = (unsigned)__builtin_ctz(point), whole = at - first;
        const unsigned places = end - at - 1;
        if (__builtin_expect(p[at] != '.' || (point & (point - 1)) || whole > 7 || places > 8 ||
                                 whole + places == 0,
                             0))
            return false;
        const uint64_t front = whole == 1 ? (uint64_t)(p[first] - '0')
                                          : mgvi_digits_value(mgvi_digits_load(p + first), whole);
        const uint64_t mantissa =
            front * mgvi_integer_powers_of_ten[places] +
            mgvi_digits_value(mgvi_digits_load(p + at + 1), places); /* 15 digits: exact */
        value = (double)(int64_t)mantissa / mgvi_powers_of_ten[places];
    } else {
        if (__builtin_expect(end - first > 8, 0))
            return false;
        value = (double)(int64_t)mgvi_digits_value(mgvi_digits_load(p + first), end - first);
    }
    memcpy(&bits, &value, sizeof bits);
    bits |= negative << 63;
    memcpy(&t->value, &bits, sizeof bits);
    t->index = (int64_t)mgvi_digits_value(mgvi_digits_load(p), colon);
    t->value_at = p + start;
    t->last = stop == '\n';
    return true;
}
#define mgvi_libsvm_pair_fast(p, t) (mgvi_libsvm_pair_short(p, t) || mgvi_libsvm_pair_any(p, t))
#else
#define mgvi_libsvm_pair_fast(p, t) mgvi_libsvm_pair_any(p, t)
#endif
#endif
