/* shape.c - reads ROWSxCOLUMNS and ROWSxCOLUMNSxCHANNELS. */
#include "penalty/shape.h"

#include <stdio.h>
#include <string.h>

/* "20x30", or with `most` = 3 also "20x30x3": the sides, 1 where none is given. */
static bool parse_sides(char *text, int most, int64_t side[3])
{
    int count = 0;
    side[2] = 1;
    for (char *rest = text, *item; (item = strsep(&rest, "x")); count++)
        if (count == most || !mgvi_parse_int(item, &side[count]) || side[count] < 1)
            return false;
    return count >= 2 && side[2] <= MGVI_CHANNELS_MAX;
}

mgv_status mgvi_shape_read(mgv_ctx *ctx, const mgvi_penalty_input *in, const char *penalty,
                           bool channels, mgvi_shape *out)
{
    char text[MGVI_TEXT_MAX];
    int64_t side[3], count;
    snprintf(text, sizeof text, "%s", in->settings->shape);
    if (!text[0])
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "penalty %s needs the shape of the weights; give --shape ROWSxCOLUMNS",
                         penalty);
    if (!parse_sides(text, channels ? 3 : 2, side) ||
        __builtin_mul_overflow(side[0], side[1], &count) ||
        __builtin_mul_overflow(count, side[2], &count))
        return MGVI_FAIL(ctx, MGV_E_ARG, "shape is '%.40s'; allowed: ROWSxCOLUMNS, such as 20x30%s",
                         in->settings->shape, channels ? ", or 20x30x3 for three channels" : "");
    if (count != in->n)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "shape %.40s has %" PRId64 " entries, but there are %" PRId64 " columns",
                         in->settings->shape, count, in->n);
    *out = (mgvi_shape){side[0], side[1], side[2]};
    return MGV_OK;
}

mgvi_shape mgvi_shape_sample(mgvi_rng *rng, int64_t n)
{
    int64_t rows = 1 + mgvi_rng_below(rng, (uint32_t)n);
    while (n % rows != 0)
        rows--;
    return (mgvi_shape){rows, n / rows, 1};
}
