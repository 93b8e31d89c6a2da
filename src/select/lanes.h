/* select/lanes.h - least squares problems over the same columns, in the lanes of one vector.
 *
 * A visit of a column serves every problem of a split: one index, one value, one load and one
 * multiplication per entry. Residuals of rows a lane does not train on are kept up to date too, so
 * held-out errors cost nothing; dots leave them out by a mask. docs/algorithms/lasso_path.md.
 * Everything is float32: these are paths to choose from, the chosen point is solved in float64. */
#ifndef MGVI_SELECT_LANES_H
#define MGVI_SELECT_LANES_H

#include "op/columns.h"
#include "select/path.h"

typedef struct mgvi_lanes mgvi_lanes;

/* What a pass over the rows finds, per lane. */
typedef struct mgvi_lane_rows {
    double rr, yr;      /* |r|^2 and y.r over the rows trained on */
    double held, wrong; /* over the others: sum s (y - z)^2, and the weight of rows misclassified */
} mgvi_lane_rows;
/* What a pass over columns finds, per lane. */
typedef struct mgvi_lane_cols {
    double norm1, square; /* sum weight |w|, sum weight^2 w^2 */
    double worst;         /* max |g - l2 w| / weight */
} mgvi_lane_cols;

/* Of one width, lane_kernels.h. */
typedef struct mgvi_lane_kernels {
    /* One step (2) in every column of the list; change[l] is the largest N dw^2. */
    void (*sweep)(mgvi_lanes *s, const int32_t *list, int64_t count, float *change);
    /* grad of columns list[0..count), or first, first + 1, ... when the list is NULL */
    void (*gradient)(mgvi_lanes *s, const int32_t *list, int64_t first, int64_t count);
    /* R -= P w over the columns listed, in rows begin .. end (all rows when sparse) */
    void (*subtract)(mgvi_lanes *s, const int32_t *list, int64_t count, int64_t begin, int64_t end);
    /* Of every column: bit 0 when |grad| >= limit (times its factor of the penalty) in some lane,
     * bit 1 when some lane's weight is not 0 */
    void (*mark)(const mgvi_lanes *s, const float *limit, uint8_t *out);
    /* w <- S(w - tau grad, tau) in the columns listed, of which those not 0 in some lane move to
     * the front; returns their number */
    int64_t (*shrink)(mgvi_lanes *s, const float *tau, int32_t *list, int64_t count);
    /* U <- U - sigma (R + off e) in the rows trained on, ahead = 2 U - U_old */
    void (*climb)(const mgvi_lanes *s, const float *sigma, float *U, float *ahead);
    void (*rows)(const mgvi_lanes *s, mgvi_lane_rows *out);
    void (*cols)(const mgvi_lanes *s, const int32_t *list, int64_t count, mgvi_lane_cols *out);
} mgvi_lane_kernels;
/* ctx->simd->lanes */
typedef struct mgvi_lane_loops {
    mgvi_lane_kernels narrow, wide; /* 8 floats, 16 */
} mgvi_lane_loops;

struct mgvi_lanes {
    mgv_ctx *ctx;
    const mgvi_lane_kernels *kernels;
    int32_t width; /* 8 or 16 floats; `lanes` of them are problems */
    int32_t lanes, codes;
    mgvi_packed P;          /* sqrt(s) x, sparse: idx = width * row + code */
    int32_t *mask;          /* codes x width: all bits where the lane trains */
    int64_t *stretch;       /* codes + 1: rows are sorted by code */
    float *e, *target;      /* rows: sqrt(s), sqrt(s) y */
    float *R;               /* rows x width: target - P w */
    float *w, *grad;        /* cols x width */
    float *square, *sum;    /* cols x width: N_j centred, p_j.e over the rows trained on */
    float *inverse;         /* cols x width: 1/(N_j + l2 weight^2), 0 where N_j = 0 */
    float *weight;          /* cols x width, or NULL: factors of the penalty */
    float *off;             /* width: true residual = R + off e */
    float *shift;           /* width: 1/W with an intercept, else 0 */
    float *l1, *l2;         /* width: strengths, times W */
    double *total, *energy; /* width: W = |e|^2, |y|^2 centred, over the rows trained on */
    double *held;           /* width: the weight of the rows not trained on */
    int32_t *all;           /* cols: 0, 1, 2, ... */
    float *zero;            /* width */
    double touched;         /* entries read so far */
};

typedef enum mgvi_lane_weighting {
    MGVI_WEIGHT_NONE,
    MGVI_WEIGHT_ROOT, /* (N_j/W)^(1/4): square-root scaling */
    MGVI_WEIGHT_STD   /* (N_j/W)^(1/2): standardised columns */
} mgvi_lane_weighting;

/* `factor` is sqrt(s) times the row's scale, `e` sqrt(s), `y` the target: of the split's rows. */
typedef struct mgvi_lane_data {
    const mgvi_matrix *stack[2];
    int count;
    const double *factor, *e, *y;
    bool intercept;
    mgvi_lane_weighting weighting;
} mgvi_lane_data;
mgv_status mgvi_lanes_new(mgvi_arena *arena, const mgvi_lane_data *data, const mgvi_split *split,
                          mgvi_lanes **out);
/* Sets w = 0 and the residuals that go with it. */
void mgvi_lanes_reset(mgvi_lanes *s);
/* Strengths mu and lambda of averaged losses. */
void mgvi_lanes_set_strength(mgvi_lanes *s, double mu, double lambda);
/* grad of the columns listed (NULL: of all), on all threads. */
void mgvi_lanes_gradient(mgvi_lanes *s, const int32_t *list, int64_t count);
/* grad = P'x over the rows trained on, for x of rows x width in place of the residuals. */
void mgvi_lanes_transposed(mgvi_lanes *s, float *x, const int32_t *list, int64_t count);
/* out = start - P w over the columns listed (NULL: of all), in every row, on all threads;
 * `start` is one number per row, NULL: 0. */
void mgvi_lanes_product(mgvi_lanes *s, const float *start, const int32_t *list, int64_t count,
                        float *out);
/* Adds the columns of the list that are not 0 in some lane to the last point of the path. */
mgv_status mgvi_lanes_keep(const mgvi_lanes *s, const int32_t *list, int64_t count,
                           mgvi_path *path);
/* mgvi_path_look() at the entries read so far. */
static inline bool mgvi_lanes_look(const mgvi_lanes *s, mgvi_path *path)
{
    path->bytes = s->touched * (s->P.dense ? 4 : 8);
    return mgvi_path_look(path, s->touched / (double)s->P.ptr[s->P.cols]);
}
/* The largest gap of a lane in units of |y|^2/2, as far as grad of the list (NULL: all) tells;
 * `rows` is what the pass over the rows found. */
double mgvi_lanes_gap(const mgvi_lanes *s, const int32_t *list, int64_t count,
                      mgvi_lane_rows *rows);
#endif
