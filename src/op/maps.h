/* op/maps.h - the diagonal parts of a view (op/matrix.h), applied to pieces of vectors that are in
 * the cache. Pieces hold `count` rows (columns) from `first` on, k lanes each. */
#ifndef MGVI_OP_MAPS_H
#define MGVI_OP_MAPS_H

#include "op/op.h"

/* Numbers of a piece: 8 KiB, a quarter of the smallest first-level cache. One row of k lanes may be
 * longer, so a buffer has room for MGVI_LANES_MAX. */
enum { MGVI_PIECE = 1024 };
static inline int64_t mgvi_piece_rows(int32_t k) { return k < MGVI_PIECE ? MGVI_PIECE / k : 1; }

/* What a view adds to every row of a product, one number per lane; NULL: nothing. */
typedef struct mgvi_lane_shift {
    const double *centre;    /* centre . x, subtracted before the row scale */
    const double *intercept; /* added after it */
} mgvi_lane_shift;

/* Sums over the rows of a transposed product, one number per lane; NULL: not wanted. */
typedef struct mgvi_lane_sums {
    double *intercept; /* sum_i sign_i u_i */
    double *centre;    /* sum_i sign_i row_scale_i u_i */
} mgvi_lane_sums;

static inline bool mgvi_view_has_rows(const mgvi_view *v) { return v->sign || v->row_scale; }
static inline bool mgvi_view_has_cols(const mgvi_view *v) { return v->centre || v->scale; }

/* t = sign (row_scale (t - shift.centre) + shift.intercept) */
void mgvi_map_rows(const mgvi_view *v, mgvi_lane_shift shift, int64_t first, int64_t count,
                   int32_t k, double *t);
/* out = alpha row_scale sign u, with its sums added to `sums` */
void mgvi_map_rows_t(const mgvi_view *v, int64_t first, int64_t count, int32_t k, double alpha,
                     const double *u, double *out, mgvi_lane_sums sums);
/* out = scale w */
void mgvi_map_cols(const mgvi_view *v, int64_t first, int64_t count, int32_t k, const double *w,
                   double *out);
/* r = scale (r - centre sum) */
void mgvi_map_cols_t(const mgvi_view *v, const double *sum, int64_t first, int64_t count, int32_t k,
                     double *r);
/* y = alpha t + beta y over `count` numbers; t may be y. */
void mgvi_map_combine(double alpha, const double *t, double beta, double *y, int64_t count);
#endif
