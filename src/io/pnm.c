/* pnm.c - PGM and PPM, text (P2, P3) and binary (P5, P6): a magic number, width, height, the
 * largest value, the numbers; '#' begins a comment that ends with its line. Written as P5 and P6.
 */
#include "base/event.h"
#include "io/image_io.h"

#include <string.h>

typedef struct scan {
    const char *at, *end;
} scan;

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void skip_blanks(scan *s)
{
    while (s->at < s->end && (is_blank(*s->at) || *s->at == '#')) {
        if (*s->at != '#') {
            s->at++;
            continue;
        }
        while (s->at < s->end && *s->at != '\n')
            s->at++;
    }
}

/* The next decimal number; false: there is none, or it is above 10^9. */
static bool next_number(scan *s, int64_t *out)
{
    skip_blanks(s);
    int64_t value = 0;
    const char *begin = s->at;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++) {
        value = 10 * value + (*s->at - '0');
        if (value > 1000000000)
            return false;
    }
    *out = value;
    return s->at > begin;
}

typedef struct header {
    int64_t width, height, most;
    bool text;
    int32_t channels;
} header;

static mgv_status read_header(mgv_ctx *ctx, const mgvi_source *source, scan *s, header *h)
{
    *h = (header){.text = s->at[1] == '2' || s->at[1] == '3',
                  .channels = s->at[1] == '3' || s->at[1] == '6' ? 3 : 1};
    s->at += 2;
    if (!next_number(s, &h->width) || !next_number(s, &h->height) || !next_number(s, &h->most))
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: its header lacks the width, the height or the largest value",
                         source->path);
    if (h->most < 1 || h->most > 65535)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: the largest value is %" PRId64 "; allowed: 1 to 65535", source->path,
                         h->most);
    if (s->at < s->end && is_blank(*s->at)) /* exactly one before binary numbers */
        s->at++;
    return MGV_OK;
}

/* What is there must suffice before memory is asked for: a text number takes 2 bytes. */
static mgv_status check_length(mgv_ctx *ctx, const mgvi_source *source, const scan *s,
                               const header *h)
{
    const uint64_t side = MGVI_IMAGE_SIDE_MAX;
    if ((uint64_t)h->width > side || (uint64_t)h->height > side)
        return MGV_OK; /* mgvi_image_new complains */
    const uint64_t numbers = (uint64_t)(h->width * h->height * h->channels);
    const uint64_t need = h->text ? 2 * numbers - (numbers > 0) : numbers * (h->most > 255 ? 2 : 1);
    if ((uint64_t)(s->end - s->at) < need)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: %" PRIu64 " numbers are announced, but only %td bytes are left: the "
                         "file is truncated",
                         source->path, numbers, s->end - s->at);
    return MGV_OK;
}

static mgv_status read_numbers(mgv_ctx *ctx, const mgvi_source *source, scan *s, const header *h,
                               mgv_image *image)
{
    for (int64_t i = 0; i < mgvi_image_numbers(image); i++) {
        const unsigned char *b = (const unsigned char *)s->at;
        int64_t value;
        if (h->text && !next_number(s, &value))
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "%s: number %" PRId64 " of %" PRId64 " is missing or not a number",
                             source->path, i + 1, mgvi_image_numbers(image));
        if (!h->text) {
            value = h->most > 255 ? 256 * b[0] + b[1] : b[0];
            s->at += h->most > 255 ? 2 : 1;
        }
        if (value > h->most)
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "%s: number %" PRId64 " is %" PRId64
                             ", above the largest value %" PRId64,
                             source->path, i + 1, value, h->most);
        image->pixels[i] = (double)value / (double)h->most;
    }
    return MGV_OK;
}

static mgv_status read_pnm(mgv_ctx *ctx, const mgvi_source *source, mgv_image **out)
{
    scan s = {source->bytes, source->bytes + source->size};
    header h;
    mgv_image *image;
    MGVI_TRY(read_header(ctx, source, &s, &h));
    MGVI_TRY(check_length(ctx, source, &s, &h));
    MGVI_TRY(mgvi_image_new(ctx, source->path, h.height, h.width, h.channels, false, &image));
    image->depth = h.most > 255 ? 16 : 8;
    const mgv_status st = read_numbers(ctx, source, &s, &h, image);
    if (st == MGV_OK)
        *out = image;
    else
        mgvi_image_free(ctx, image);
    return st;
}

static bool is_pnm(const char *bytes, size_t size)
{
    return size >= 3 && bytes[0] == 'P' && (bytes[2] == '#' || is_blank(bytes[2])) &&
           strchr("2356", bytes[1]) && bytes[1];
}

static mgv_status write_pnm(mgv_ctx *ctx, const mgv_image *image, int depth, const char *path,
                            mgvi_sink *sink)
{
    if (image->channels != 1 && image->channels != 3)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "%s: PGM and PPM hold 1 or 3 channels, this image has %" PRId32, path,
                         image->channels);
    if (image->alpha)
        mgvi_log(ctx, MGV_WARNING, "%s: PGM and PPM know no transparency: it is left out", path);
    mgvi_sink_printf(sink, "P%c\n%" PRId64 " %" PRId64 "\n%d\n", image->channels == 3 ? '6' : '5',
                     image->width, image->height, depth == 16 ? 65535 : 255);
    for (int64_t i = 0; i < mgvi_image_numbers(image); i++) {
        const unsigned level = mgvi_image_level(image->pixels[i], depth);
        const unsigned char bytes[2] = {(unsigned char)(level >> 8), (unsigned char)(level & 255)};
        mgvi_sink_write(sink, depth == 16 ? bytes : bytes + 1, depth == 16 ? 2 : 1);
    }
    return MGV_OK;
}

extern const mgvi_image_format mgvi_image_pnm;
const mgvi_image_format mgvi_image_pnm = {.name = "pnm",
                                          .extensions = ".pgm .ppm .pnm",
                                          .probe = is_pnm,
                                          .read = read_pnm,
                                          .write = write_pnm};
