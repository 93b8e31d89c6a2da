/* image_io.c - picks the format of an image, and reads point spread functions. */
#include "io/image_io.h"

#include "io/io.h"

#include <math.h>
#include <string.h>

extern const mgvi_image_format mgvi_image_png, mgvi_image_pnm;
static const mgvi_image_format *const formats[] = {&mgvi_image_png, &mgvi_image_pnm};
enum { FORMATS = sizeof formats / sizeof *formats };

const mgvi_image_format *mgvi_image_recognise(const char *bytes, size_t size)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i]->probe(bytes, size))
            return formats[i];
    return NULL;
}

mgv_status mgvi_image_parse(mgv_ctx *ctx, const mgvi_source *source, mgv_image **out)
{
    *out = NULL;
    if (source->size == 0)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the file is empty", source->path);
    const mgvi_image_format *format = mgvi_image_recognise(source->bytes, source->size);
    if (!format)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: is no image that can be read: PNG, PGM or PPM",
                         source->path);
    return format->read(ctx, source, out);
}

mgv_status mgvi_image_read(mgv_ctx *ctx, const char *path, mgv_image **out)
{
    mgvi_source source;
    *out = NULL;
    MGVI_TRY(mgvi_source_open(ctx, path, NULL, &source));
    const mgv_status st = mgvi_image_parse(ctx, &source, out);
    mgvi_source_close(ctx, &source);
    return st;
}

mgv_status mgvi_image_write(mgv_ctx *ctx, const mgv_image *image, const char *path)
{
    const mgvi_image_format *format = strcmp(path, "-") == 0 ? formats[0] : NULL;
    mgvi_sink *sink;
    for (int i = 0; i < FORMATS && !format; i++)
        if (mgvi_name_fits(path, formats[i]->extensions))
            format = formats[i];
    if (!format)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "%s: the name of an image ends in .png, .pgm, .ppm or .pnm", path);
    MGVI_TRY(mgvi_sink_open(ctx, path, &sink));
    const mgv_status st = format->write(ctx, image, image->depth ? image->depth : 16, path, sink);
    const mgv_status closed = mgvi_sink_close(sink, st == MGV_OK);
    return st == MGV_OK ? closed : st;
}

/* ---- point spread functions -------------------------------------------------------------------
 */

static double entry(const mgvi_matrix *X, int64_t i, int64_t j)
{
    const int64_t at = i * X->row_stride + j * X->col_stride;
    return X->dtype == MGV_F32 ? ((const float *)X->val)[at] : ((const double *)X->val)[at];
}

/* A table of numbers, as npy and csv have it. */
static mgv_status from_table(mgv_ctx *ctx, mgvi_source *source, mgv_image **out)
{
    mgv_settings settings;
    mgv_data *data;
    mgvi_settings_defaults(&settings);
    settings.label_column = "none";
    source->settings = &settings;
    mgv_status st = mgvi_read_source(ctx, source, &data);
    source->settings = NULL;
    if (st != MGV_OK)
        return st;
    const mgvi_matrix *X = &data->X;
    if (X->layout != MGV_DENSE)
        st = MGVI_FAIL(ctx, MGV_E_INPUT, "%s: is sparse; a point spread function is a dense table",
                       source->path);
    if (st == MGV_OK)
        st = mgvi_image_new(ctx, source->path, X->rows, X->cols, 1, false, out);
    for (int64_t p = 0; st == MGV_OK && p < X->rows * X->cols; p++)
        (*out)->pixels[p] = entry(X, p / X->cols, p % X->cols);
    mgvi_data_free(ctx, data);
    return st;
}

/* The middle of an even side n is entry n/2, as an FFT has it: one more line makes it odd. */
static mgv_status make_odd(mgv_ctx *ctx, const char *path, mgv_image **psf)
{
    const mgv_image *old = *psf;
    mgv_image *odd;
    if (old->height % 2 && old->width % 2)
        return MGV_OK;
    MGVI_TRY(mgvi_image_new(ctx, path, old->height | 1, old->width | 1, 1, false, &odd));
    for (int64_t i = 0; i < odd->height; i++)
        for (int64_t j = 0; j < odd->width; j++)
            odd->pixels[i * odd->width + j] =
                i < old->height && j < old->width ? old->pixels[i * old->width + j] : 0;
    mgvi_image_free(ctx, *psf);
    *psf = odd;
    return MGV_OK;
}

static mgv_status normalise(mgv_ctx *ctx, const char *path, mgv_image *psf)
{
    double sum = 0, size = 0;
    for (int64_t i = 0; i < mgvi_image_numbers(psf); i++) {
        sum += psf->pixels[i];
        size += fabs(psf->pixels[i]);
    }
    if (psf->channels != 1)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: has %" PRId32 " channels; a point spread function has one", path,
                         psf->channels);
    if (!isfinite(size) || !(sum > 1e-9 * size))
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: the entries of the point spread function add up to %g; it must be "
                         "positive",
                         path, sum);
    for (int64_t i = 0; i < mgvi_image_numbers(psf); i++)
        psf->pixels[i] /= sum;
    return MGV_OK;
}

mgv_status mgvi_psf_read(mgv_ctx *ctx, const char *path, mgv_image **out)
{
    mgvi_source source;
    mgv_image *psf = NULL;
    *out = NULL;
    MGVI_TRY(mgvi_source_open(ctx, path, NULL, &source));
    mgv_status st = mgvi_image_recognise(source.bytes, source.size)
                        ? mgvi_image_parse(ctx, &source, &psf)
                        : from_table(ctx, &source, &psf);
    mgvi_source_close(ctx, &source);
    if (st == MGV_OK)
        st = normalise(ctx, path, psf);
    if (st == MGV_OK)
        st = make_odd(ctx, path, &psf);
    if (st == MGV_OK)
        *out = psf;
    else
        mgvi_image_free(ctx, psf);
    return st;
}
