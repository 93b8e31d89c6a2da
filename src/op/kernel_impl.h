/* op/kernel_impl.h - what the files of the kernel operator share. */
#ifndef MGVI_OP_KERNEL_IMPL_H
#define MGVI_OP_KERNEL_IMPL_H

#include "op/kernel.h"

#include <math.h>

/* Rows of K computed and allocated together: as many as fit the bytes, since a matrix product lays
 * out all points anew. */
enum { MGVI_KERNEL_TILE = 512, MGVI_KERNEL_TILE_BYTES = 1 << 26 };

typedef struct mgvi_kernel_loans mgvi_kernel_loans;
typedef struct mgvi_kernel_rough mgvi_kernel_rough;

struct mgvi_kernel_op {
    mgvi_op op;
    mgvi_kernel_op *lender;   /* whose slabs and rows these are; NULL: our own */
    bool shares_points;       /* they are another's */
    mgvi_kernel_loans *loans; /* NULL: nothing is lent */
    mgvi_kernel kernel;
    mgvi_matrix examples; /* as given */
    mgvi_points *points;  /* in the fast type */
    mgvi_view view;       /* its sign and intercept; the points have the rest */
    double *diagonal;
    mgv_dtype fast;
    double cache_bytes;
    /* Rows kept: slot s holds row owner[s], slot_of[i] is row i's slot or -1. */
    char **slabs;
    int64_t tile_rows; /* at most MGVI_KERNEL_TILE */
    int64_t slots, used, hand;
    int32_t *slot_of, *owner;
    int64_t *wanted, call; /* per slot: the last call that needed it */
    char *tile;            /* rows on their way, or not kept; NULL until needed */
    double *row;           /* one float64 row */
    int64_t *support;      /* rows with a coefficient */
    double *c, *f;         /* the last product, f = K c in float64 at least where c is not 0 */
    int32_t remembered;    /* its lanes, 0: none */
    double *work;          /* rows x lanes */
    double *lane;          /* one of the coefficients asked about */
    double **half;         /* all of K (kernel_half.c), in place of rows in slots; NULL: not made */
    double *half_sums;
    bool half_wanted; /* mgvi_kernel_expect_all; false again where there is no memory for it */
    bool plain;  /* a product may be another's, or of the half: not twofold, though ours would be */
    bool frozen; /* mgvi_kernel_freeze() */
    double *step;                          /* differences of coefficients */
    int64_t *twin;                         /* op/features.h; NULL until asked for */
    struct mgvi_kernel_extended *extended; /* kernel_extended.c; NULL until asked for */
    mgvi_kernel_rough *rough;              /* kernel_rough.c; NULL until asked for */
};

extern const mgvi_op_ops mgvi_operator_kernel;

size_t mgvi_kernel_row_bytes(const mgvi_kernel_op *k);
static inline char *mgvi_kernel_slot(const mgvi_kernel_op *k, int64_t slot)
{
    return k->slabs[slot / k->tile_rows] + (size_t)(slot % k->tile_rows) * mgvi_kernel_row_bytes(k);
}
/* kernel_rows.c: sees that the rows are in slots; false when they do not fit or memory is short. */
bool mgvi_kernel_fetch(mgvi_kernel_op *k, const int64_t *rows, int64_t count);
bool mgvi_kernel_slab_ready(mgvi_kernel_op *k, int64_t slot);
mgv_status mgvi_kernel_compute_into(mgvi_kernel_op *k, const int64_t *rows, int64_t count,
                                    void *out);
/* At most a tile of rows side by side, kept nowhere. NULL: no memory. */
const char *mgvi_kernel_compute(mgvi_kernel_op *k, const int64_t *rows, int64_t count);
void mgvi_kernel_free(mgvi_op *op);

/* kernel_lend.c: whether rows may be lent; sees that the lender has the rows, and where. */
bool mgvi_kernel_can_lend(const mgvi_kernel_op *k);
bool mgvi_kernel_borrow(mgvi_kernel_op *k, const int64_t *rows, int64_t count);
void mgvi_kernel_end_loans(mgvi_kernel_op *k);

/* kernel.c: f += sum_s c_s K(., rows_s) from rows that are kept; false: none are, or they do not
 * fit, and nothing was added. */
bool mgvi_kernel_add_kept(mgvi_kernel_op *k, const int64_t *rows, int64_t count, const double *c,
                          double *f);
/* The rows with c_i != 0 go to k->support. */
int64_t mgvi_kernel_support(mgvi_kernel_op *k, const double *c);
void mgvi_kernel_remember(mgvi_kernel_op *k, const double *c, int32_t lanes, const double *f);
/* Whether products with one vector, and the lengths that follow, are twofold sums. */
bool mgvi_kernel_sums_twofold(const mgvi_kernel_op *k);
/* kernel_half.c: whether all of K is kept, or can be: where that is wanted, no row is kept yet, and
 * it fits. */
bool mgvi_kernel_half_ready(mgvi_kernel_op *k);
void mgvi_kernel_half_times(mgvi_kernel_op *k, const double *c, int32_t lanes, double *f);
void mgvi_kernel_half_free(mgvi_kernel_op *k);
/* kernel_lanes.c: f = K c for all rows, c and f rows x lanes, from rows kept in float64; `used`
 * rows of c are not 0, and so many columns of K count as touched. False: no memory. */
bool mgvi_kernel_rows_times(mgvi_kernel_op *k, const double *c, int32_t lanes, int64_t used,
                            double *f);

/* kernel_exact.c: sums[t] += sum over the first `count` rows i of k->support of c_i k(x_i, q_t). */
mgv_status mgvi_kernel_exact_sums(mgvi_kernel_op *k, const mgvi_point_list *q, int64_t count,
                                  const double *c, double *sums);
double mgvi_kernel_exact_square(mgvi_kernel_op *k, const double *c);
/* kernel_rounding.c: the table's mul_rounding and square_rounding. */
double mgvi_kernel_mul_rounding(mgvi_op *op, const mgvi_vec *x, int32_t lane);
double mgvi_kernel_square_rounding(mgvi_op *op, const mgvi_vec *x, int32_t lane);
/* kernel_extended.c: the table's mul_extended and square_extended. */
bool mgvi_kernel_mul_extended(mgvi_op *op, const mgvi_vec *x, double scale, mgvi_vec *y,
                              double *error);
bool mgvi_kernel_square_extended(mgvi_op *op, const mgvi_vec *x, double scale, double *square,
                                 double *error);
void mgvi_kernel_extended_free(mgvi_kernel_op *k);
void mgvi_kernel_rough_free(mgvi_kernel_op *k);
void mgvi_kernel_mul_low(mgvi_op *op, const mgvi_vec *x, mgvi_vec *y);
/* The first group of a part of a triangle of so many: the first g of G groups have about 1 - (1 -
 * g/G)^2 of the values. */
static inline int64_t mgvi_triangle_begin(int64_t groups, int64_t parts, int64_t part)
{
    const double all = (double)groups;
    return part == parts ? groups : (int64_t)(all * (1 - sqrt(1 - (double)part / (double)parts)));
}
#endif
