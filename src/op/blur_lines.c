/* blur_lines.c - lines mirrored at both ends, again and again, or closed to a ring. */
#include "op/blur_lines.h"

#include "base/memory.h"

static int64_t source_of(int64_t i, int64_t size, mgvi_edges edges)
{
    if (edges == MGVI_EDGES_PERIODIC)
        return ((i % size) + size) % size;
    const int64_t period = 2 * size, r = ((i % period) + period) % period;
    return r < size ? r : period - 1 - r;
}

mgv_status mgvi_line_new(mgv_ctx *ctx, int64_t size, int64_t reach, mgvi_edges edges,
                         mgvi_line *out)
{
    const int64_t all = size + 2 * reach;
    *out = (mgvi_line){.size = size, .reach = reach};
    if (!(out->source = mgvi_alloc(ctx, (size_t)all, sizeof *out->source)) ||
        !(out->first = mgvi_zeros(ctx, (size_t)size + 2, sizeof *out->first)) ||
        !(out->position = mgvi_alloc(ctx, (size_t)all, sizeof *out->position)))
        return MGV_E_MEMORY;
    for (int64_t p = 0; p < all; p++) {
        out->source[p] = source_of(p - reach, size, edges);
        out->first[out->source[p] + 2]++;
    }
    for (int64_t i = 0; i < size; i++)
        out->first[i + 2] += out->first[i + 1];
    for (int64_t p = 0; p < all; p++) /* first[i + 1] moves to the end of i's list */
        out->position[out->first[out->source[p] + 1]++] = p;
    return MGV_OK;
}

void mgvi_line_free(mgv_ctx *ctx, mgvi_line *line)
{
    mgvi_release(ctx, line->source);
    mgvi_release(ctx, line->first);
    mgvi_release(ctx, line->position);
}
