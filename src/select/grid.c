/* grid.c - reads grids of strengths. */
#include "select/grid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1000 };

static mgv_status refuse(mgv_ctx *ctx, const char *name, const char *text)
{
    return MGVI_FAIL(ctx, MGV_E_ARG,
                     "%s is not a grid of strengths (got '%.80s'); give numbers from 0 on with "
                     "commas between, or A..B:N with A, B > 0 for N of 2 to %d evenly in the "
                     "logarithm",
                     name, text, MOST);
}

static int falling(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

/* "1e-4..1:9", `dots` in it. */
static bool read_range(char *text, char *dots, double *value, int64_t *count)
{
    char *colon = strchr(dots, ':');
    double a, b;
    if (!colon)
        return false;
    *dots = *colon = 0;
    if (!mgvi_parse_real(text, &a) || !mgvi_parse_real(dots + 2, &b) ||
        !mgvi_parse_int(colon + 1, count) || !(a > 0 && b > 0) || isinf(a) || isinf(b) ||
        *count < 2 || *count > MOST)
        return false;
    for (int64_t k = 0; k < *count; k++) {
        const double share = (double)k / (double)(*count - 1);
        value[k] = k == 0 ? a : k == *count - 1 ? b : exp((1 - share) * log(a) + share * log(b));
    }
    return true;
}

static bool read_list(char *text, double *value, int64_t *count)
{
    char *rest = text, *item;
    *count = 0;
    while ((item = strsep(&rest, ","))) {
        double x;
        if (*count == MOST || !mgvi_parse_real(item, &x) || !(x >= 0) || isinf(x))
            return false;
        value[(*count)++] = x;
    }
    return true;
}

static mgv_status read_one(mgvi_arena *arena, const char *name, const char *text, double alone,
                           double **out, int64_t *count)
{
    char copy[MGVI_TEXT_MAX];
    snprintf(copy, sizeof copy, "%s", text);
    MGVI_TRY(MGVI_ARRAY(arena, *out, MOST));
    if (!text[0]) {
        (*out)[0] = isnan(alone) ? 0 : alone;
        *count = 1;
        return MGV_OK;
    }
    if (!isnan(alone))
        return MGVI_FAIL(arena->ctx, MGV_E_ARG,
                         "%s and %.*s are given together (got %g for the latter); leave one out",
                         name, (int)(strchr(name, '_') - name), name, alone);
    char *dots = strstr(copy, "..");
    if (!(dots ? read_range(copy, dots, *out, count) : read_list(copy, *out, count)))
        return refuse(arena->ctx, name, text);
    qsort(*out, (size_t)*count, sizeof **out, falling);
    return MGV_OK;
}

mgv_status mgvi_grid_read(mgvi_arena *arena, const mgv_settings *s, mgvi_grid *out)
{
    if (!isnan(s->C))
        return MGVI_FAIL(arena->ctx, MGV_E_ARG,
                         "a grid of strengths stands beside C (got %g); leave C out", s->C);
    MGVI_TRY(
        read_one(arena, "lambda_grid", s->lambda_grid, s->lambda, &out->lambda, &out->lambdas));
    MGVI_TRY(read_one(arena, "mu_grid", s->mu_grid, s->mu, &out->mu, &out->mus));
    if (out->lambda[out->lambdas - 1] == 0 && out->mu[out->mus - 1] == 0)
        return MGVI_FAIL(arena->ctx, MGV_E_ARG,
                         "the grid has a point without any strength (got lambda 0 and mu 0); give "
                         "one of the two more than 0");
    return MGV_OK;
}
