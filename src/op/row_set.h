/* op/row_set.h - some rows a_i of a problem's operator, for methods that pass over them many times:
 * products, and sums over rows of gradients and curvature in one pass.
 *
 * Dense rows, and sparse ones with more than 3 entries in 10 columns, are brought into the view's
 * form (op/matrix.h) a few at a time, in the cache; the others stay sparse, and the sums are corrected at the end:
 *     sum_i t_i a_i = [ s (r - c S) | sum_i t_i y_i ],
 *     r = sum_i f_i t_i x_i,   S = sum_i f_i t_i,   f_i = y_i p_i                                (1)
 *     sum_i h_i a_i a_i' from X'KX, X'Ke, e'Ke with k_i = h_i p_i^2, e_i = 1 or 1/p_i            (2)
 * Sums are over blocks cut by the shape alone, added in order. */
#ifndef MGVI_OP_ROW_SET_H
#define MGVI_OP_ROW_SET_H

#include "linalg/panels.h"
#include "op/rows.h"

typedef struct mgvi_row_set {
    mgv_ctx *ctx;
    mgvi_matrix m;   /* CSR or dense in C order, a row for each of ours */
    int64_t cols;    /* of the operator: the data's, and the intercept's */
    bool exact;      /* H of float64 products; else of float32 rows */
    bool sparse;     /* rows are used as they are stored */
    bool plain;      /* so are these: dense, and their type is H's */
    mgvi_view view;  /* over m, row for row; the intercept's column, the last, is not in m */
    double *touched; /* entries read are counted here */
    double entries;  /* read by a pass */
    const struct mgvi_row_kernel_table *kernels;
    /* work space */
    mgvi_panels panels;
    int64_t blocks;
    double *partial; /* blocks x partial_size: sums of a block */
    size_t partial_size, partial_capacity;
    double *scaled_w; /* s w */
    char *places;     /* one per thread: rows in the cache, their coefficients, packed rows */
    size_t place_size;
    atomic_int *taken;
    /* a set that is read where the rows lie: whose they are, and which */
    const mgvi_rows *whole;
    const int32_t *list;
    /* a gathered set owns these, with room for `capacity` rows and `nnz_capacity` entries */
    int64_t capacity, nnz_capacity;
    void *own_val;
    int64_t *own_ptr;
    int32_t *own_idx;
    int8_t *own_sign;
    double *own_row_scale;
} mgvi_row_set;

/* All rows, in place, or copied where they are dense, need work and the copy takes no more than
 * `most` bytes. When copied, the intercept is a column like others for mgvi_row_set_leverage.
 * `touched` may not be NULL. Allocates from the arena. MGV_E_UNSUPPORTED when rows are centred and
 * scaled both. */
mgv_status mgvi_row_set_all(const mgvi_rows *rows, double most, mgvi_arena *arena, double *touched,
                            mgvi_row_set *out);
/* The rows listed: copies, or, where they are dense and copies would take more than `most` bytes,
 * the rows themselves, brought into form in every pass; `rows` and `list` must then outlive the
 * set. `set` is zeroed memory, or an earlier set whose memory is used again if it suffices. Exact
 * sets work in float64 when dense. */
mgv_status mgvi_row_set_gather(const mgvi_rows *rows, const int32_t *list, int64_t count,
                               bool exact, double most, mgvi_arena *arena, double *touched,
                               mgvi_row_set *set);
/* A set that is zeroed memory takes its sums from `other`, for sets that are never swept at once.
 */
void mgvi_row_set_share(const mgvi_row_set *other, mgvi_row_set *set);
/* Bytes that copies of `count` rows of average length take, about. */
double mgvi_row_set_bytes(const mgvi_rows *rows, int64_t count, bool exact);
static inline int64_t mgvi_row_set_count(const mgvi_row_set *set) { return set->m.rows; }

/* z_i = a_i . w */
void mgvi_row_set_mul(mgvi_row_set *set, const double *w, double *z);

/* Writes the coefficients of `count` rows from `first` on: t, t2 (NULL: not wanted) and h >= 0
 * (NULL: not wanted), rows with h = 0 are left out of H. Called from several threads. */
typedef void (*mgvi_row_set_fill)(void *arg, int64_t first, int64_t count, double *t, double *t2,
                                  double *h);
/* In one pass g = sum_i t_i a_i, g2 = sum_i t2_i a_i (NULL: not wanted), and the upper triangle of
 * H = sum_i h_i a_i a_i' (NULL: not wanted), rows of H `ld` apart. */
void mgvi_row_set_sweep(mgvi_row_set *set, mgvi_row_set_fill fill, void *arg, double *g, double *g2,
                        double *H, int64_t ld);
/* q_i = sum_j a_ij^2 / (sum_k a_kj^2 / rows) over the data's columns: how far a row stands out.
 * Two passes. `energy` gets the mean squares of the columns. */
void mgvi_row_set_leverage(mgvi_row_set *set, double *energy, float *q);

/* sum_j = sum_i a_ij^2 over the data's columns and the rows with which[i] == flag (NULL: all). */
void mgvi_row_set_squares(mgvi_row_set *set, const uint8_t *which, uint8_t flag, double *sum);

enum { MGVI_ROW_SET_CHUNK = 256 }; /* rows that are visited at a time, at most */

/* ---- between row_set.c, row_squares.c and row_gather.c --------------------------------------- */
/* Calls visit for the chunks of one of set->blocks blocks: `count` rows from `first` on, dense ones
 * `stride` entries apart (NULL when sparse), and the block's room for sums, at least cols + 1. */
typedef void (*mgvi_row_set_visit)(void *arg, int64_t first, int64_t count, const void *rows,
                                   int64_t stride, double *sums);
void mgvi_row_set_visit_block(mgvi_row_set *set, int64_t block, mgvi_row_set_visit visit,
                              void *arg);
/* Work space for the shape that is set. */
mgv_status mgvi_row_set_reserve(mgvi_row_set *set, mgvi_arena *arena);
/* Row i of the set as the operator has it: `cols` numbers, float64 if exact, else float32. The same
 * with 1 in the place of its sign, where that is left to the sums. */
void mgvi_row_set_row(const mgvi_row_set *set, int64_t i, void *out);
void mgvi_row_set_unsigned(const mgvi_row_set *set, int64_t i, void *out);
#endif
