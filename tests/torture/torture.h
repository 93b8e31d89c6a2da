/* torture.h - the independent sweep over random problems: what its files share. It sees the public
 * header of the library alone; every formula is written here again, in __float128. */
#ifndef TORTURE_H
#define TORTURE_H

#include <margrave/margrave.h>
#include <stdbool.h>

#ifdef __SIZEOF_FLOAT128__
typedef __float128 quad;
#else
typedef long double quad; /* 113 bits on the machines that have no other name for them */
#endif

enum {
    MOST = 60,     /* rows and columns */
    CLASSES = 5,   /* at most */
    OUTPUTS = 10,  /* every two of them */
    OFFSETS = 5,   /* classes of the offset */
    SETTINGS = 24, /* of a case */
    TEXT = 32
};

/* ---- A problem, made from its seed ----------------------------------------------------------- */

typedef enum loss {
    HINGE,
    SQUARED_HINGE,
    SMOOTH_HINGE,
    SQRT_HINGE,
    LOGISTIC,
    EXPONENTIAL,
    MARGIN,
    SQUARED,
    HUBER,
    EQUAL,
    INTERVAL,
    ABSOLUTE,
    EPSILON_INSENSITIVE,
    SOFTMAX,
    CRAMMER_SINGER,
    LOSSES
} loss;

typedef enum penalty {
    L2,
    L1,
    ENET,
    LP,
    LINF,
    GROUP,
    OWL,
    L1_NONNEG,
    NONNEG,
    BOX,
    ENTROPY,
    TV1D,
    NUCLEAR,
    TV2D,
    PENALTIES
} penalty;

typedef enum kernel { LINEAR, RBF, LAPLACE, POLY, PRECOMPUTED, KERNELS } kernel;
typedef enum scaling { SCALE_NONE, SCALE_STD, SCALE_MAXABS, SCALE_ROWNORM, SCALINGS } scaling;
typedef enum form { TWO, QUANTITY, OVR, OVO, ALL_AT_ONCE, JOINT, FORMS } form;

typedef struct setting {
    char name[TEXT], value[TEXT];
} setting;

typedef struct torture_case {
    uint64_t seed;
    int n, d, classes;     /* classes: 0 for a quantity */
    double x[MOST * MOST]; /* by rows, exactly what the library is given */
    double y[MOST];        /* the class's number, or the quantity */
    double weight[MOST];
    bool weighted, intercept, sparse, f32;
    int64_t group[MOST];
    loss loss;
    penalty penalty;
    kernel kernel;
    scaling scaling;
    form form;
    double lambda, mu, p, smoothing, epsilon, low, high, sigma2, kernel_offset, tol;
    int degree;
    int shape_rows;   /* of weights as a matrix or image */
    bool sane;        /* strengths that fit the data, columns of like size */
    int offset_class; /* of max |mean|/spread: below 1e1, 1e3, 1e6, 1e9, above */
    double offset;    /* that ratio */
    char solver[TEXT];
    int max_iter; /* 0: the default */
    int settings;
    setting setting[SETTINGS];
} torture_case;

extern const char *const loss_names[LOSSES],
    *const penalty_names[PENALTIES], *const kernel_names[KERNELS],
                                         *const scaling_names[SCALINGS],
                                             *const form_names[FORMS], *const offset_names[OFFSETS];

/* ovr: one for each class; ovo: for every two; else 1. */
int case_members(const torture_case *c);
/* Whether "not verified" is a fault: data and strengths that fit, offsets below 1e6, a tolerance
 * that float64 has room for. */
bool case_must_verify(const torture_case *c);
void case_make(uint64_t seed, torture_case *c);
void case_settings(torture_case *c);
/* Writes the data beside `prefix` and prints the command that shows the problem. */
void case_show(const torture_case *c, const char *prefix);
/* "hinge l1 std ovr dense f64 n=3 d=2 ..." */
void case_title(const torture_case *c, char *out, size_t size);

/* ---- What the library answers ---------------------------------------------------------------- */

typedef struct answer {
    mgv_status status;
    char error[400];
    char formula[200];
    mgv_run_info run;
    mgv_certificate all;
    int members; /* with certificates of their own: 1, or those of ovr and ovo */
    mgv_certificate member[OUTPUTS];
    int outputs;
    double coef[OUTPUTS * MOST], intercept[OUTPUTS]; /* as saved, in the user's units */
    bool has_coef;
    double kernel_coef[OUTPUTS][MOST]; /* of the rows, as saved */
    bool has_kernel_coef;
    bool shifted;        /* scores are sums of k(x, z) - k(x, o) - k(o, z) + k(o, o) */
    double origin[MOST]; /* o, in the user's units */
    double u[MOST * CLASSES];
    int64_t u_count;
    double seconds;
} answer;

/* False where the file is not as expected, or shows other points than the data. */
bool saved_kernel(mgv_ctx *ctx, const mgv_model *model, const torture_case *c, answer *a);
/* Called before every call of the library: what is then heard of for too long hangs. */
extern void (*library_begins)(void);
void library_solve(const torture_case *c, answer *a);

/* ---- The evaluation -------------------------------------------------------------------------- */

/* One problem of two classes, a quantity, or all classes at once, in scaled and centred columns. */
typedef struct member {
    const torture_case *c;
    int n, d, outputs;  /* rows that take part; outputs: classes of a problem of all at once */
    int row[MOST];      /* of the data */
    quad q[MOST][MOST]; /* (x - centre)/factor, or x/|x| */
    quad K[MOST][MOST]; /* of kernels */
    quad centre[MOST], factor[MOST];
    quad sign[MOST], target[MOST], s[MOST]; /* s: weights of sum 1; of hard losses 1 or 0 */
    int class_of[MOST];
    bool free; /* an intercept */
    double owl[MOST], group_weight[MOST];
} member;

/* Weights in the member's units: of columns, or of examples for a kernel. */
typedef struct point {
    quad w[CLASSES][MOST], b[CLASSES];
} point;

quad q_abs(quad x);
quad q_sqrt(quad x);
quad q_exp(quad x);
quad q_log(quad x);
quad q_log1p(quad x);
quad q_pow(quad x, quad p);
quad q_max(quad a, quad b);
quad q_min(quad a, quad b);

void member_make(const torture_case *c, int index, member *m);
/* Its kernel as the answer's scores are made of it. */
void member_shift(member *m, const answer *a);
/* The saved weights, as the member's. */
void point_from_user(const member *m, const double *coef, const double *intercept, point *p);
/* The weights of a library run on the member's own matrix. */
void point_from_own(const member *m, const double *coef, const double *intercept, point *p);
/* Weights of a kernel's rows: of the data, or of the member. False: some belong to no row of it. */
bool point_from_rows(const member *m, double coef[][MOST], const double *intercept, bool of_data,
                     point *p);
/* The intercept of weights that a run on the member's own matrix found, whose origin is another;
 * nearly right, as their sum is nearly 0. */
void point_rebase(const member *m, const answer *from, point *p);
void member_scores(const member *m, const point *p, quad z[MOST][CLASSES]);
quad penalty_value(const member *m, const point *p);
/* R + sum s G; for hard losses R alone. */
quad member_objective(const member *m, const point *p);
quad loss_sum(const member *m, quad z[MOST][CLASSES]);
quad loss_value(const torture_case *c, quad z, quad target);
/* The margin of the norm, at the point's own intercepts. */
quad member_margin(const member *m, const point *p);
/* The norm of the weights that a margin is measured in. */
quad member_norm(const member *m, const point *p);
/* The largest violation of z = y, |z - y| <= epsilon, relative to 1 + |y|, or of y z >= 1. */
quad member_violation(const member *m, const point *p);
/* How far weights lie outside w >= 0 or the box. */
quad member_outside(const member *m, const point *p);
/* D(u) of a u that is first made feasible; false: no such formula here. For margins the upper bound
 * of the margin instead. `size`: the sum of the absolute values of its terms. */
bool member_dual(const member *m, const double *u, quad *out, quad *size);
/* The parts of it that joint.c needs: the largest t <= 1 with t v in the domain of R*, -1 where
 * none helps, and R*(v). */
quad domain_scale(const member *m, const quad *v, quad mu);
bool penalty_conjugate(const member *m, const quad *v, quad lambda, quad mu, quad *out);
bool joint_dual(const member *m, const double *u, quad *out, quad *size);
bool point_from_joint(const member *m, const double *u, point *p);
/* The weights that u speaks for, penalty l2 alone. */
bool point_from_dual(const member *m, const double *u, point *p);

/* ---- Better weights -------------------------------------------------------------------------- */

/* Moves `p` to a lower objective (a larger margin) by exact line searches: along the intercepts,
 * its own length, and towards `other`. */
void point_improve(const member *m, point *p, const point *other);
/* Whether weights are confined; brings them back where they are. */
bool is_bounded(const torture_case *c);
bool has_margin(const torture_case *c);
bool point_is_rough(const member *m, const point *p);
void point_repair(const member *m, point *p);
/* Moves `p` to where the hard constraints hold; false: they do not. */
bool point_satisfy(const member *m, point *p);
quad point_value(const member *m, const point *p); /* objective, or minus the margin */

/* ---- Verdicts -------------------------------------------------------------------------------- */

typedef enum verdict {
    RIGHT,          /* verified, and nothing found against it */
    EXCUSED,        /* not verified, and something stood against it */
    OPEN,           /* not verified without a reason */
    REFUSED,        /* a status with a sentence */
    NUMERIC,        /* MGV_E_NUMERIC with a sentence */
    FALSE_PROVEN,   /* weights below the proven bound, or beyond the upper margin */
    FALSE_ATTAINED, /* the saved weights are worse than the attained value, or the margin */
    FALSE_OWN,      /* the bound is not what its own dual variables prove */
    FALSE_ORDER,    /* gap below 0, bound below 0 of a sum that is not, ... */
    FALSE_PROOF,    /* "no weights meet the constraints", but some do */
    OUTSIDE,        /* attained by weights that break their constraints */
    NO_SENTENCE,    /* a failure without one, or MGV_E_INTERNAL */
    CRASH,
    HANG,
    VERDICTS
} verdict;
extern const char *const verdict_names[VERDICTS];

/* Solves, judges, and prints what is wrong. A solver that refuses gives way to `auto`. */
verdict judge_case(torture_case *c, int talk);
#endif
