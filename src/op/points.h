/* op/points.h - examples as points that kernels are computed between: scaled rows of a matrix,
 * their squared lengths, and blocks of kernel values from matrix products.
 * docs/algorithms/kernel.md. */
#ifndef MGVI_OP_POINTS_H
#define MGVI_OP_POINTS_H

#include "base/choices.h"
#include "base/memory.h"
#include "op/matrix.h"

/* Where poly is seen from in its feature space, beside an intercept (kernel_origin.h). */
typedef enum mgvi_kernel_origin {
    MGVI_ORIGIN_NONE,  /* k as it is */
    MGVI_ORIGIN_ZERO,  /* the point 0: k(x, z) - k(0, 0) */
    MGVI_ORIGIN_CENTRE /* the points' centre */
} mgvi_kernel_origin;

typedef struct mgvi_kernel {
    mgvi_kernel_kind kind;
    double sigma2, offset;
    int degree;
    mgvi_kernel_origin origin;
} mgvi_kernel;

/* The names of the setting `kernel`, in the order of the kinds; false: unknown. */
bool mgvi_kernel_find(const char *name, mgvi_kernel_kind *out);
const char *mgvi_kernel_name(mgvi_kernel_kind kind);
/* The same of origins, in the files of models. */
bool mgvi_origin_find(const char *name, mgvi_kernel_origin *out);
const char *mgvi_origin_name(mgvi_kernel_origin origin);

/* Whether k(x, z) depends on x - z alone: then the points may be moved together. */
static inline bool mgvi_kernel_of_differences(mgvi_kernel_kind k)
{
    return k == MGVI_KERNEL_RBF || k == MGVI_KERNEL_LAPLACE;
}

/* Whether points may be moved for it, and not only where their scaling does: those of sparse data
 * in a few columns. */
static inline bool mgvi_kernel_moves(const mgvi_kernel *k)
{
    return mgvi_kernel_of_differences(k->kind) || k->origin == MGVI_ORIGIN_CENTRE;
}

/* The points are the view's rows, without sign and intercept. Borrowed. */
typedef struct mgvi_point_scaling {
    mgvi_view view;
    bool origin; /* o = centre * scale is that of a kernel (MGVI_ORIGIN_CENTRE) */
} mgvi_point_scaling;

typedef struct mgvi_points {
    mgv_ctx *ctx;
    mgvi_arena arena;
    mgvi_matrix source; /* as given, by rows: dense with any strides, or CSR */
    mgvi_point_scaling scaling;
    bool sparse;
    mgvi_matrix rows;     /* scaled: dense in C order of type `rows.dtype`, or CSR */
    double *square;       /* |x|^2 per row of `rows` */
    double longest;       /* the largest of them */
    int64_t entries;      /* the most a row has */
    double *along;        /* o.x per row where the scaling has such an origin o; else NULL */
    double origin_square; /* |o|^2, 0 without one */
} mgvi_points;

/* Dense points are kept in `dtype`, in place when the matrix is already so, else as a copy. Sparse
 * ones are float64 where they are scaled or centred, else in place; every column with a centre gets
 * an entry in every row, so that there should be few: with `few_centres` false a centre of sparse
 * points is MGV_E_UNSUPPORTED. The matrix must outlive the points. */
mgv_status mgvi_points_new(mgv_ctx *ctx, const mgvi_matrix *m, const mgvi_point_scaling *scaling,
                           mgv_dtype dtype, bool few_centres, mgvi_points **out);
void mgvi_points_free(mgvi_points *points); /* NULL is accepted */

/* Where to put the origin for a kernel that leaves it free to choose: |p|^2 + |q|^2 -
 * 2 p.q loses the digits by which the points' lengths exceed their distances. `centre` (one number
 * a column, `scale` NULL: 1) becomes about the mean of the columns, of sparse data only those that
 * hardly any row leaves out, and *moved says whether that gains enough; false: the points had
 * better stay where they are. *square is the mean of their |x|^2 then. From some of the rows.
 * MGV_E_MEMORY. */
mgv_status mgvi_points_choose_centre(mgv_ctx *ctx, const mgvi_matrix *m, const double *scale,
                                     double *centre, bool *moved, double *square);
/* Squared lengths that exceed the variance more than this are worth a copy of the points. */
#define MGVI_CENTRE_GAIN 4.0

/* Row i scaled, as `cols` numbers of the type, made from the original in float64. */
void mgvi_points_expand(const mgvi_points *points, int64_t i, mgv_dtype dtype, void *out);

/* The same in float64 without the centre: scaled alone. */
void mgvi_points_expand_plain(const mgvi_points *points, int64_t i, double *out);

/* |p_i - q_j|^2 from the entries' differences. */
double mgvi_point_distance(const mgvi_points *p, int64_t i, const mgvi_points *q, int64_t j);

/* Some of the points: `count` of them, from `first` on or those listed in `index`. */
typedef struct mgvi_point_list {
    const mgvi_points *points;
    const int64_t *index; /* NULL: consecutive */
    int64_t first, count;
} mgvi_point_list;
static inline int64_t mgvi_point_at(const mgvi_point_list *list, int64_t t)
{
    return list->index ? list->index[t] : list->first + t;
}

/* out[s*ld + t] = k(p_s, q_t), float or double as `dtype` says. Dense points are multiplied in that
 * type; from points of another type, and from any point of the original matrix, float64 values are
 * float64 throughout. Columns beyond the narrower of the two lists are zeros. MGV_E_MEMORY. */
mgv_status mgvi_kernel_block(mgv_ctx *ctx, const mgvi_kernel *kernel, const mgvi_point_list *p,
                             const mgvi_point_list *q, mgv_dtype dtype, void *out, int64_t ld);
/* sums[k*ld + t] += sum_s c[k*p->count + s] k(p_s, q_t) for every output k, in float64; the values
 * are not kept. MGV_E_MEMORY. */
mgv_status mgvi_kernel_sums(mgv_ctx *ctx, const mgvi_kernel *kernel, const mgvi_point_list *p,
                            const double *c, int64_t outputs, const mgvi_point_list *q,
                            double *sums, int64_t ld);
/* Dense points of so few columns that a value is computed as fast as it is read (kernel_sums.c):
 * kernels of distances only. */
enum { MGVI_SHORT_COLUMNS = 32 };
/* -s = |p - q|^2 / (2 sigma2) is a difference of numbers of the size (|p|^2 + |q|^2) / (2 sigma2).
 * Where that is more than this, differences of entries are summed up instead: for all short points,
 * of others for pairs whose exp(s) is not nothing; and for the root in laplace where -s is below
 * that part of it. */
#define MGVI_SHORT_FAR 1024.0
#define MGVI_KERNEL_FAR 128.0
#define MGVI_KERNEL_NEAR (1.0 / 16)
bool mgvi_kernel_is_short(const mgvi_kernel *kernel, const mgvi_points *p, const mgvi_points *q);
/* Whether such values are made of inner products as (2) says, which cancel: else of differences. */
bool mgvi_kernel_short_cancels(const mgvi_kernel *kernel, const mgvi_points *p,
                               const mgvi_points *q);
/* mgvi_kernel_block() of such points, in float64. */
mgv_status mgvi_kernel_short_block(mgv_ctx *ctx, const mgvi_kernel *kernel,
                                   const mgvi_point_list *p, const mgvi_point_list *q, double *out,
                                   int64_t ld);
/* mgvi_kernel_sums() of them, for one output (kernel_short.c). */
mgv_status mgvi_kernel_short_sums(mgv_ctx *ctx, const mgvi_kernel *kernel, const mgvi_point_list *p,
                                  const double *c, const mgvi_point_list *q, double *sums);
/* Point t of a list of dense ones as doubles, and its squared length. */
double mgvi_point_expand(const mgvi_point_list *list, int64_t t, double *x);
/* k(x_i, x_i) */
double mgvi_kernel_self(const mgvi_kernel *kernel, const mgvi_points *points, int64_t i);

/* kernel_sparse.c: out[s*ld + t] = scale p_s.q_t, float or double as `dtype` says, from float64 sums; columns that
 * only one of the lists has are zeros. MGV_E_MEMORY. */
mgv_status mgvi_sparse_products(mgv_ctx *ctx, const mgvi_point_list *p, const mgvi_point_list *q,
                                double scale, mgv_dtype dtype, void *out, int64_t ld);
#endif
