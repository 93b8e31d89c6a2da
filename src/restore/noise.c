/* noise.c - docs/algorithms/deblurring.md (4): the median size of what the mask
 *   1 -2  1
 *  -2  4 -2   / 6
 *   1 -2  1
 * leaves, divided by that of a standard normal number. The mask is the second difference along both
 * axes: it passes white noise with its own deviation (36 / 6^2 = 1) and nearly nothing of an image
 * that a blur has made smooth; edges that are left do not move a median. */
#include "restore/noise.h"

#include <inttypes.h>
#include <math.h>

static const double NORMAL_MEDIAN = 0.67448975019608171; /* of |N(0, 1)| */
enum { FEWEST = 16 }; /* masked values below which nothing can be said */

/* The distance of two neighbouring numbers of the image. */
static double resolution(const mgv_image *image)
{
    return image->depth == 8 ? 1.0 / 255 : image->depth == 16 ? 1.0 / 65535 : 1e-6;
}

double mgvi_noise_floor(const mgv_image *image) { return resolution(image) / sqrt(12); }

/* The masked value with its middle at pixel p; false: one of the pixels is black or white, where
 * the range of a file has cut the noise off. */
static bool masked(const mgv_image *im, int64_t p, int64_t channel, double *out)
{
    static const double weight[3] = {1, -2, 1};
    double sum = 0;
    bool cut = false;
    for (int64_t i = -1; i <= 1; i++)
        for (int64_t j = -1; j <= 1; j++) {
            const double x = im->pixels[(p + i * im->width + j) * im->channels + channel];
            sum += weight[i + 1] * weight[j + 1] * x;
            cut |= x == 0 || x == 1;
        }
    *out = fabs(sum) / 6;
    return !cut;
}

/* The k-th smallest of n numbers, which are reordered. */
static double nth(double *x, int64_t n, int64_t k)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const double pivot = x[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i <= j) {
                const double t = x[i];
                x[i++] = x[j];
                x[j--] = t;
            }
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return x[k];
}

/* The median of numbers >= 0 that are multiples of `step`, as if each were spread evenly over the
 * interval that was rounded to it: noise of a few steps would else be known to a step only. */
static double spread_median(double *x, int64_t n, double step)
{
    const double middle = nth(x, n, n / 2), low = fmax(middle - step / 2, 0),
                 high = middle + step / 2;
    int64_t below = 0, here = 0;
    for (int64_t i = 0; i < n; i++) {
        below += x[i] < low;
        here += x[i] >= low && x[i] <= high;
    }
    return low + (high - low) * ((double)n / 2 - (double)below) / (double)here;
}

/* All masked values of a channel, or those away from black and white. */
static int64_t collect(const mgv_image *im, int64_t channel, bool all, double *out)
{
    int64_t count = 0;
    for (int64_t i = 1; i + 1 < im->height; i++)
        for (int64_t j = 1; j + 1 < im->width; j++)
            count += masked(im, i * im->width + j, channel, &out[count]) || all;
    return count;
}

mgv_status mgvi_noise_estimate(mgv_ctx *ctx, const mgv_image *im, double *out)
{
    const int64_t inner = (im->height - 2) * (im->width - 2);
    if (im->height < 3 || im->width < 3 || inner < FEWEST)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "an image of %" PRId64 " x %" PRId64
                         " is too small to estimate its noise: give the noise",
                         im->height, im->width);
    double *values = mgvi_alloc(ctx, (size_t)inner + 1, sizeof *values);
    if (!values)
        return MGV_E_MEMORY;
    for (int64_t c = 0; c < im->channels; c++) {
        int64_t count = collect(im, c, false, values);
        if (count < inner / 8 || count < FEWEST)
            count = collect(im, c, true, values);
        out[c] = spread_median(values, count, resolution(im) / 6) / NORMAL_MEDIAN;
    }
    mgvi_release(ctx, values);
    return MGV_OK;
}
