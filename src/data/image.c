/* image.c - making, freeing and comparing images. */
#include "data/image.h"

#include "base/threads.h"

#include <inttypes.h>
#include <math.h>

mgv_status mgvi_image_new(mgv_ctx *ctx, const char *what, int64_t height, int64_t width,
                          int32_t channels, bool alpha, mgv_image **out)
{
    *out = NULL;
    if (height < 1 || width < 1 || height > MGVI_IMAGE_SIDE_MAX || width > MGVI_IMAGE_SIDE_MAX)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: an image of %" PRId64 " x %" PRId64 "; allowed: 1 to %d each way",
                         what, height, width, MGVI_IMAGE_SIDE_MAX);
    if (channels < 1 || channels > MGVI_IMAGE_CHANNELS_MAX ||
        height * width > MGVI_IMAGE_NUMBERS_MAX / channels)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: %" PRId64 " x %" PRId64 " pixels of %" PRId32
                         " channels; allowed: 1 to %d channels, %" PRId64 " numbers",
                         what, height, width, channels, MGVI_IMAGE_CHANNELS_MAX,
                         MGVI_IMAGE_NUMBERS_MAX);
    mgv_image *image = mgvi_new(ctx, sizeof *image);
    if (!image)
        return MGV_E_MEMORY;
    image->height = height;
    image->width = width;
    image->channels = channels;
    image->pixels = mgvi_alloc(ctx, (size_t)mgvi_image_numbers(image), sizeof *image->pixels);
    if (alpha)
        image->alpha = mgvi_alloc(ctx, (size_t)(height * width), sizeof *image->alpha);
    if (!image->pixels || (alpha && !image->alpha)) {
        mgvi_image_free(ctx, image);
        return MGV_E_MEMORY;
    }
    *out = image;
    return MGV_OK;
}

void mgvi_image_free(mgv_ctx *ctx, mgv_image *image)
{
    if (!image)
        return;
    mgvi_release(ctx, image->pixels);
    mgvi_release(ctx, image->alpha);
    mgvi_release(ctx, image);
}

bool mgvi_image_same_shape(const mgv_image *a, const mgv_image *b)
{
    return a->height == b->height && a->width == b->width && a->channels == b->channels;
}

enum { GRAIN = 1 << 15, MOST_BLOCKS = 64 };

typedef struct comparison {
    const double *x, *y;
    int64_t n, blocks;
    double partial[MOST_BLOCKS];
} comparison;

static double clipped(double x) { return fmin(fmax(x, 0), 1); }

static void compare_block(void *arg, int64_t block)
{
    comparison *c = arg;
    double sum = 0;
    MGVI_FOR_BLOCK (i, c->n, c->blocks, block) {
        const double d = clipped(c->x[i]) - clipped(c->y[i]);
        sum += d * d;
    }
    c->partial[block] = sum;
}

double mgvi_psnr(mgv_ctx *ctx, const double *x, const double *y, int64_t n)
{
    comparison c = {.x = x, .y = y, .n = n, .blocks = mgvi_block_count(n, GRAIN, MOST_BLOCKS)};
    double sum = 0;
    mgvi_pool_run(ctx->pool, c.blocks, compare_block, &c);
    for (int64_t b = 0; b < c.blocks; b++)
        sum += c.partial[b];
    return -10 * log10(sum / (double)n);
}
