/* panels.c - packing rows, and G += B'B tile by tile. */
#include "linalg/panels.h"

#include "base/limit.h"
#include "simd/gemm_kernels.h"
#include "simd/simd.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

mgvi_panels mgvi_panels_for(mgv_ctx *ctx, bool f64, int64_t d)
{
    const mgvi_gemm_kernels *kernels = ctx->simd->gemm;
    mgvi_panels p = {.ctx = ctx,
                     .kernels = kernels,
                     .f64 = f64,
                     .size = f64 ? sizeof(double) : sizeof(float),
                     .lanes = f64 ? kernels->lanes_f64 : kernels->lanes_f32,
                     .d = d};
    p.tile_width = kernels->vecs * p.lanes;
    const int round = p.lanes > kernels->rows ? p.lanes : kernels->rows;
    p.padded = ceil_div(d, round) * round;
    p.count = ceil_div(d, p.tile_width);
    return p;
}

static int64_t panel_width(const mgvi_panels *p, int64_t panel)
{
    return least(p->tile_width, p->padded - panel * p->tile_width);
}

void mgvi_panels_put(const mgvi_panels *p, void *place, int64_t room, int64_t at, double scale,
                     const void *x)
{
    const int64_t width = p->tile_width;
    for (int64_t j = 0; j < p->d; j += width) {
        const int64_t wide = least(width, p->padded - j), to = j * room + at * wide;
        const int count = (int)least(width, p->d - j);
        if (p->f64)
            p->kernels->pack_f64(scale, (const double *)x + j, count, (double *)place + to,
                                 (int)wide);
        else
            p->kernels->pack_f32((float)scale, (const float *)x + j, count, (float *)place + to,
                                 (int)wide);
    }
}

int64_t mgvi_panels_tiles(const mgvi_panels *p, int64_t panel)
{
    return ceil_div(least(p->d, (panel + 1) * p->tile_width), p->kernels->rows);
}

void mgvi_panels_add_tile(const mgvi_panels *p, const void *place, int64_t room, int64_t rows,
                          int64_t i, int64_t panel, double beta, double *g, int64_t ldg)
{
    const int64_t j = panel * p->tile_width, over = i / p->tile_width;
    const int64_t below = i > j ? (i - j) / p->lanes * p->lanes : 0; /* whole vectors to skip */
    const int vecs = (int)(ceil_div(least(p->tile_width, p->d - j) - below, p->lanes));
    const size_t at_a = (size_t)(over * p->tile_width * room + i % p->tile_width);
    const size_t at_b = (size_t)(j * room + below);
    const int64_t step_a = panel_width(p, over), step_b = panel_width(p, panel);
    const int high = (int)least(p->kernels->rows, p->d - i);
    const int wide = (int)least(vecs * p->lanes, p->d - j - below);
    double *c = g + i * ldg + j + below;
    if (p->f64)
        p->kernels->tile_f64(rows, (const double *)place + at_a, step_a,
                             (const double *)place + at_b, step_b, vecs, 1, beta, c, ldg, high,
                             wide);
    else
        p->kernels->tile_wide(rows, (const float *)place + at_a, step_a,
                              (const float *)place + at_b, step_b, vecs, 1, beta, c, ldg, high,
                              wide);
}

void mgvi_panels_add(const mgvi_panels *p, const void *place, int64_t room, int64_t rows,
                     double beta, double *g, int64_t ldg)
{
    enum { MANY = 16 }; /* panels: from there on one is worth a look at the limit */
    for (int64_t panel = 0; panel < p->count && !(p->count >= MANY && mgvi_ctx_cut(p->ctx));
         panel++)
        for (int64_t tile = 0; tile < mgvi_panels_tiles(p, panel); tile++)
            mgvi_panels_add_tile(p, place, room, rows, tile * p->kernels->rows, panel, beta, g,
                                 ldg);
}
