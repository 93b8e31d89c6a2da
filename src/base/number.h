/* base/number.h - decimal text to double and back: correctly rounded, in any locale, fast.
 * mgvi_number_fast takes the spellings data is made of with a few multiplications and no loop;
 * mgvi_number_parse takes every decimal number strtod takes, and says what is wrong with others. */
#ifndef MGVI_BASE_NUMBER_H
#define MGVI_BASE_NUMBER_H

#include <margrave/margrave.h>
#include <stdbool.h>
#include <string.h>

typedef enum mgvi_number_status {
    MGVI_NUMBER_OK,
    MGVI_NUMBER_NONE,       /* no number starts here */
    MGVI_NUMBER_NOT_FINITE, /* nan, inf, infinity */
    MGVI_NUMBER_HEX,        /* 0x... */
    MGVI_NUMBER_TOO_LARGE   /* rounds to infinity */
} mgvi_number_status;

/* Reads the longest decimal number at `text` without touching `end`. *next is behind it. */
mgvi_number_status mgvi_number_parse(const char *text, const char *end, double *value,
                                     const char **next);
/* The float nearest to the decimal number at `text`, whose nearest double is `value`: rounding
 * twice differs only where the double lies half way between two floats. */
float mgvi_number_to_float(const char *text, const char *end, double value);

enum { MGVI_NUMBER_MAX = 32 }; /* longest text of mgvi_number_format, with its terminator */
/* The shortest decimal that reads back as `value` (`dtype` MGV_F32: as the same float). Returns
 * its length. Integers below 1e15 have neither point nor exponent. */
size_t mgvi_number_format(double value, mgv_dtype dtype, char text[MGVI_NUMBER_MAX]);

static inline bool mgvi_number_fits_float(double value) { return (double)(float)value == value; }
/* Whether rounding `value` to float needs a second look: half way, or beyond the largest float. */
static inline bool mgvi_number_float_is_unsure(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    /* 52 - 23 = 29 bits are dropped; below the normal floats more are, so all of those ask */
    return (bits & 0x1fffffff) == 0x10000000 || !(value < 3.4e38 && value > -3.4e38) ||
           (value < 1.2e-38 && value > -1.2e-38 && value != 0);
}

/* ---- eight digits at once ------------------------------------------------------------------ */
enum { MGVI_NUMBER_AHEAD = 32 }; /* bytes that mgvi_number_fast may look at */

/* The next 8 bytes, '0'..'9' turned into 0..9, the first byte lowest. */
static inline uint64_t mgvi_digits_load(const char *text)
{
    uint64_t w;
    memcpy(&w, text, sizeof w);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    w = __builtin_bswap64(w);
#endif
    return w ^ 0x3030303030303030u;
}

/* How many of the 8 bytes are digits before the first that is not. Adding 0x76 sets the top bit
 * of a byte >= 10; a carry only disturbs bytes behind such a byte. */
static inline unsigned mgvi_digits_count(uint64_t digits)
{
    const uint64_t other = ((digits + 0x7676767676767676u) | digits) & 0x8080808080808080u;
    return other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
}

/* The number made of the first `count` digits, 0 <= count <= 8: shifted up so that zeros stand in
 * front, then pairs, quadruples and both halves are joined. */
static inline uint64_t mgvi_digits_value(uint64_t digits, unsigned count)
{
    uint64_t v = count ? digits << (64 - 8 * count) : 0;
    v = (v * 10 + (v >> 8)) & 0x00ff00ff00ff00ffu;
    v = (v * 100 + (v >> 16)) & 0x0000ffff0000ffffu;
    return (v * 10000 + (v >> 32)) & 0xffffffffu;
}

extern const double mgvi_powers_of_ten[23]; /* exact in double */
extern const uint64_t mgvi_integer_powers_of_ten[20];

/* [-]digits[.digits] of at most 7 digits before the point and 15 behind it, whose digits form an
 * integer up to 2^53: then it is exact, and so is the power of ten, and one division rounds
 * correctly. Returns what follows, or NULL: another spelling. MGVI_NUMBER_AHEAD bytes at `text`
 * must be readable; the caller judges what follows (it may be an exponent). */
static inline const char *mgvi_number_fast(const char *text, double *value)
{
    const uint64_t negative = *text == '-';
    const char *p = text + negative;
    uint64_t digits = mgvi_digits_load(p);
    const unsigned whole = mgvi_digits_count(digits);
    uint64_t mantissa = mgvi_digits_value(digits, whole);
    double v;
    p += whole;
    if (*p == '.') {
        digits = mgvi_digits_load(++p);
        unsigned places = mgvi_digits_count(digits);
        mantissa =
            mantissa * mgvi_integer_powers_of_ten[places] + mgvi_digits_value(digits, places);
        p += places;
        if (places == 8) {
            digits = mgvi_digits_load(p);
            const unsigned more = mgvi_digits_count(digits);
            if (more == 8 || whole > 3) /* 3 + 8 + 7 digits fit in 64 bits */
                return NULL;
            mantissa =
                mantissa * mgvi_integer_powers_of_ten[more] + mgvi_digits_value(digits, more);
            p += more;
            places += more;
        }
        if (whole + places == 0 || whole == 8 || mantissa > (uint64_t)1 << 53)
            return NULL;
        v = (double)(int64_t)mantissa / mgvi_powers_of_ten[places];
    } else {
        if (whole == 0 || whole == 8)
            return NULL;
        v = (double)(int64_t)mantissa;
    }
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    bits |= negative << 63;
    memcpy(value, &bits, sizeof bits);
    return p;
}
#endif
