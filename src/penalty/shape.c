/* shape.c - reads ROWSxCOLUMNS. */
#include "penalty/shape.h"

#include <string.h>

mgv_status mgvi_shape_read(mgv_ctx *ctx, const mgvi_penalty_input *in, const char *penalty,
                           mgvi_shape *out)
{
    char text[MGVI_TEXT_MAX];
    memcpy(text, in->settings->shape, sizeof text);
    if (!text[0])
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "penalty %s needs the shape of the weights: --shape ROWSxCOLUMNS",
                         penalty);
    char *x = strchr(text, 'x');
    if (x)
        *x = 0;
    int64_t count;
    if (!x || !mgvi_parse_int(text, &out->rows) || !mgvi_parse_int(x + 1, &out->cols) ||
        out->rows < 1 || out->cols < 1 || __builtin_mul_overflow(out->rows, out->cols, &count))
        return MGVI_FAIL(ctx, MGV_E_ARG, "shape is '%.40s'; allowed: ROWSxCOLUMNS, such as 20x30",
                         in->settings->shape);
    if (count != in->n)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "shape %.40s has %" PRId64 " entries, but there are %" PRId64 " columns",
                         in->settings->shape, count, in->n);
    return MGV_OK;
}

mgvi_shape mgvi_shape_sample(mgvi_rng *rng, int64_t n)
{
    int64_t rows = 1 + mgvi_rng_below(rng, (uint32_t)n);
    while (n % rows != 0)
        rows--;
    return (mgvi_shape){rows, n / rows};
}
