/* op/op.h - linear operators A: R^cols -> R^rows acting on blocks of k columns.
 * Everything that multiplies counts the stored entries it touches in `touched`: passes over the
 * data are touched / nnz. */
#ifndef MGVI_OP_OP_H
#define MGVI_OP_OP_H

#include "backend/vec.h"
#include "base/choices.h"
#include "op/matrix.h"

#include <math.h>

typedef struct mgvi_op mgvi_op;

enum { /* what an operator can do */
       MGVI_MUL = 1 << 0,
       MGVI_MUL_T = 1 << 1,
       MGVI_ROW = 1 << 2,     /* mgvi_rows: dot and axpy with single rows */
       MGVI_KERNEL = 1 << 4,  /* op/kernel.h: columns are coefficients of examples */
       MGVI_CONTRAST = 1 << 5 /* op/contrast.h: rows are pairs of an example and a class */
};

typedef struct mgvi_op_ops {
    const char *name, *summary;
    unsigned can;
    /* Y = alpha A X + beta Y, Y not read when beta is 0. Never fails: work space is there. */
    void (*mul)(mgvi_op *op, double alpha, const mgvi_vec *x, double beta, mgvi_vec *y);
    /* G = alpha A'U + beta G */
    void (*mul_t)(mgvi_op *op, double alpha, const mgvi_vec *u, double beta, mgvi_vec *g);
    void (*free)(mgvi_op *op);
    /* NULL: the columns' own inner product. |x|^2 of the penalised columns x, k = 1, where the
     * columns are coefficients of something longer. */
    double (*square)(mgvi_op *op, const mgvi_vec *x);
    /* NULL: mul. y <= A x entry by entry, k = 1, exact where an entry is below 1: all that the
     * value of a falling loss needs, and less work than every entry in float64. */
    void (*mul_low)(mgvi_op *op, const mgvi_vec *x, mgvi_vec *y);
    /* NULL: not known. What rounding may have done to a product mul or mul_low of a lane of x, the
     * largest of its entries (A itself is meant as it is defined, not as its entries are rounded);
     * and, with `square`, to that lane's part of the square. A few sums over x. */
    double (*mul_rounding)(mgvi_op *op, const mgvi_vec *x, int32_t lane);
    double (*square_rounding)(mgvi_op *op, const mgvi_vec *x, int32_t lane);
    /* NULL: there is nothing better than mul and square. The same, of all lanes, in a precision
     * that leaves little to bound, and what they may still be off, where the scales of the columns
     * are off by `scale`: error[lane], *error of the sum. Much slower. False: not with these
     * numbers, no memory, or cut by a limit. */
    bool (*mul_extended)(mgvi_op *op, const mgvi_vec *x, double scale, mgvi_vec *y, double *error);
    bool (*square_extended)(mgvi_op *op, const mgvi_vec *x, double scale, double *square,
                            double *error);
} mgvi_op_ops;

struct mgvi_op {
    const mgvi_op_ops *ops;
    mgv_ctx *ctx;
    int64_t rows, cols;
    int64_t nnz;               /* stored entries read by one product */
    int32_t entry;             /* bytes of one, with its index; 0: not stored, a double each */
    double touched;            /* stored entries read by products so far */
    int32_t lanes;             /* the largest k of a product */
    bool lanes_fixed;          /* k must be `lanes`: the signs differ from lane to lane */
    mgv_status failed;         /* a product that was refused its memory left NaN, and this */
    const mgvi_matrix *stored; /* what is read, whatever is laid over it: examples below a kernel
                                * or contrasts, too; NULL: it is no stored matrix */
    const mgvi_view *view;     /* this is a view of it, by rows and columns; NULL: it is not */
};
enum { MGVI_LANES_MAX = 4096 };

/* The operators of op/list.h. */
int mgvi_operator_count(void);
const mgvi_op_ops *mgvi_operator_at(int index);

/* The operator of a stored matrix: "dense", "csr" or "csc" of op/list.h. Borrows the arrays, which
 * mgvi_matrix_check has passed. `lanes`, 1 to MGVI_LANES_MAX, is the largest k it will be asked for
 * (work space is allocated here). Products never fail; one thread at a time. */
mgv_status mgvi_op_from_matrix(mgv_ctx *ctx, const mgvi_matrix *m, int32_t lanes, mgvi_op **out);
void mgvi_op_free(mgvi_op *op); /* NULL is accepted */
/* MGV_E_ARG unless 1 <= lanes <= MGVI_LANES_MAX. */
mgv_status mgvi_op_check_lanes(mgv_ctx *ctx, int32_t lanes);

/* Both vectors may lie anywhere. `away`: where not both are in host memory, by the backend's own
 * product or in host memory. */
void mgvi_op_mul_away(mgvi_op *op, double alpha, const mgvi_vec *x, double beta, mgvi_vec *y);
void mgvi_op_mul_t_away(mgvi_op *op, double alpha, const mgvi_vec *u, double beta, mgvi_vec *g);
static inline void mgvi_op_mul(mgvi_op *op, double alpha, const mgvi_vec *x, double beta,
                               mgvi_vec *y)
{
    if (x->at || y->at)
        mgvi_op_mul_away(op, alpha, x, beta, y);
    else
        op->ops->mul(op, alpha, x, beta, y);
}
static inline void mgvi_op_mul_t(mgvi_op *op, double alpha, const mgvi_vec *u, double beta,
                                 mgvi_vec *g)
{
    if (u->at || g->at)
        mgvi_op_mul_t_away(op, alpha, u, beta, g);
    else
        op->ops->mul_t(op, alpha, u, beta, g);
}

/* The bytes that `entries` stored entries take to read. */
static inline double mgvi_op_bytes(const mgvi_op *op, double entries)
{
    return entries * (op->entry > 0 ? op->entry : (int32_t)sizeof(double));
}

/* No entry is left out: a dense matrix is read, or none at all. */
static inline bool mgvi_op_is_dense(const mgvi_op *op)
{
    return !op->stored || op->stored->layout == MGV_DENSE;
}

/* |x| in the operator's columns; x may leave out the intercept at its end. */
static inline double mgvi_op_length(mgvi_op *op, const mgvi_vec *x)
{
    double length;
    if (op->ops->square) {
        const mgvi_vec at = mgvi_vec_hosted(x);
        return sqrt(op->ops->square(op, &at));
    }
    mgvi_vec_norm2(op->ctx, x, &length);
    return length;
}
/* y <= A x, see mul_low. */
static inline void mgvi_op_mul_low(mgvi_op *op, const mgvi_vec *x, mgvi_vec *y)
{
    if (!op->ops->mul_low) {
        mgvi_op_mul(op, 1, x, 0, y);
        return;
    }
    const mgvi_vec at = mgvi_vec_hosted(x);
    mgvi_vec to = mgvi_vec_opened(y);
    op->ops->mul_low(op, &at, &to);
    mgvi_vec_close(y);
}
/* Where there is a mul_extended. */
static inline bool mgvi_op_mul_extended(mgvi_op *op, const mgvi_vec *x, double scale, mgvi_vec *y,
                                        double *error)
{
    const mgvi_vec at = mgvi_vec_hosted(x);
    mgvi_vec to = mgvi_vec_opened(y);
    const bool done = op->ops->mul_extended(op, &at, scale, &to, error);
    mgvi_vec_close(y);
    return done;
}

/* The largest singular value of A by power iteration on A'A from a seeded start; a lower bound,
 * usually within 1 % after 50 iterations. Uses two column and one row vector of the arena.
 * MGV_E_NUMERIC when products overflow. */
mgv_status mgvi_op_norm(mgvi_op *op, mgvi_arena *arena, int iterations, uint64_t seed, double *out);

#define MGVI_NORM_COVER 1.02 /* |A| is hardly ever larger than that times the estimate */
/* |B|^2 of the bidiagonal B that Lanczos steps leave: alpha_s v-to-u, beta[s + 1] back. */
double mgvi_bidiagonal_square(const double *alpha, const double *beta, int steps);
/* A number that |A diag(scale)| hardly ever exceeds, from ten Lanczos steps: ten products each way.
 * `scale` (NULL: 1) and the norm are for the first `used` columns, the others count as 0. Lanes may
 * not be fixed. MGV_E_NUMERIC when products overflow. */
mgv_status mgvi_op_norm_cover(mgvi_op *op, mgvi_arena *arena, const double *scale, int64_t used,
                              uint64_t seed, double *out);

/* ---- views: what the problem lays over the data; solvers see one operator ------------------- */
/* A of a mgvi_view (op/matrix.h). Nothing is densified or copied; arrays are borrowed. */
/* Over any operator; a matrix stored by rows (CSR, C order) also saves the passes over row vectors
 * and reads the chosen rows only, others compute the full product. A row may be chosen twice.
 * Takes over `base` (freed with the view, also on failure), whose lanes must suffice. */
mgv_status mgvi_op_view(mgv_ctx *ctx, mgvi_op *base, const mgvi_view *view, int32_t lanes,
                        mgvi_op **out);

/* ---- operators without a stored matrix ------------------------------------------------------- */
/* Every one checks its arguments, copies what it is given (unless said otherwise) and works with up
 * to `lanes` columns at once. nnz is what one product reads: numbers of its input. */

/* Blur of a height x width image by the point spread function psf (psf_height x psf_width, by rows,
 * both odd, its middle is the origin): y(i, j) = sum_ab psf(a, b) x(i - a, j - b), where pixels
 * beyond the edge are mirror images (reflect: the edge lies between pixels) or come from the other
 * side (periodic). By FFT. */
mgv_status mgvi_op_blur(mgv_ctx *ctx, int64_t height, int64_t width, const double *psf,
                        int64_t psf_height, int64_t psf_width, mgvi_edges edges, int32_t lanes,
                        mgvi_op **out);

/* Forward differences of a height x width image: rows 2p and 2p + 1 are x(i, j+1) - x(i, j) and
 * x(i+1, j) - x(i, j) at pixel p = i width + j, 0 beyond the last column (row). |A|^2 < 8. */
mgv_status mgvi_op_diff2d(mgv_ctx *ctx, int64_t height, int64_t width, int32_t lanes,
                          mgvi_op **out);
/* x_{i+1} - x_i, n - 1 rows. |A|^2 < 4. */
mgv_status mgvi_op_diff1d(mgv_ctx *ctx, int64_t n, int32_t lanes, mgvi_op **out);

/* base for each of `channels` interleaved channels: entry i of channel c is x[i channels + c].
 * Takes over `base`, also on failure, whose lanes must suffice for channels times `lanes`. */
mgv_status mgvi_op_repeat(mgv_ctx *ctx, mgvi_op *base, int32_t channels, int32_t lanes,
                          mgvi_op **out);

/* The caller's own pair of functions; borrows user->user. */
mgv_status mgvi_op_user(mgv_ctx *ctx, const mgv_operator *user, int32_t lanes, mgvi_op **out);
#endif
