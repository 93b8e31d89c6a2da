/* base/formula.h - the common part of C and CUDA in which losses and penalties are written once.
 * A formula is a static inline function of scalars; the loops over it live in backend/. */
#ifndef MGVI_BASE_FORMULA_H
#define MGVI_BASE_FORMULA_H

#include <math.h>
#include <stdbool.h>

#if defined(__CUDACC__)
#define MGVI_FORMULA static inline __host__ __device__
#else
#define MGVI_FORMULA static inline
#endif

typedef double real;
#define R_INF ((real)INFINITY)

MGVI_FORMULA real r_abs(real a) { return fabs(a); }
/* The second argument is returned when either is NaN: write r_max(0, x), and a NaN in x is seen. */
MGVI_FORMULA real r_max(real a, real b) { return a > b ? a : b; }
MGVI_FORMULA real r_min(real a, real b) { return a < b ? a : b; }
MGVI_FORMULA real r_clip(real a, real lo, real hi) { return r_min(hi, r_max(lo, a)); }
/* min(0, a) where a changes sign at random: gcc makes a jump of a comparison with the constant 0,
 * and its misses cost more than the formula. `finite` is any finite number at hand. */
MGVI_FORMULA real r_negative_part(real a, real finite) { return r_min(0 * finite, a); }
/* a / b for b >= 0, where 0/0 is 0 and a/0 is infinite. */
MGVI_FORMULA real r_ratio(real a, real b) { return a == 0 ? 0 : a / b; }
MGVI_FORMULA real r_copysign(real a, real sign) { return copysign(a, sign); }
MGVI_FORMULA real r_sign(real a) { return (real)((a > 0) - (a < 0)); }

/* Formulas that need a root use Newton from the side where it is monotone: 7 evaluations are the
 * most ever seen, the bound only says that no argument can loop. */
enum { R_NEWTON_MOST = 30 };

/* What a term's formula is told about one coordinate (penalty) or one row (loss).
 *   penalty: scale = strength * weight_j,  a and b are the penalty's own parameters
 *   loss:    scale = s_i,                  a and b are the target, the bounds or the shape */
typedef struct mgvi_coef {
    real scale, a, b;
} mgvi_coef;

/* What a term can do; solvers state what they need in the same bits. */
enum {
    MGVI_VALUE = 1 << 0,
    MGVI_PROX = 1 << 1,        /* argmin_v  f(v) + (v - x)^2 / (2 step) */
    MGVI_KKT = 1 << 2,         /* distance of -g to the subdifferential at w */
    MGVI_CONJ = 1 << 3,        /* f*(u) */
    MGVI_GRAD = 1 << 4,        /* f'(x), a subgradient where there is a kink */
    MGVI_CURV = 1 << 5,        /* f''(x) */
    MGVI_MIRROR = 1 << 6,      /* the gradient of f* */
    MGVI_DUAL_CLIP = 1 << 7,   /* the nearest u with f*(u) finite */
    MGVI_SMOOTH = 1 << 8,      /* f' is Lipschitz */
    MGVI_HARD = 1 << 9,        /* 0 or infinite: a constraint */
    MGVI_MARGIN = 1 << 10,     /* a loss of y x.w: the labels' signs are folded into A */
    MGVI_STRONG = 1 << 11,     /* strongly convex: f* is smooth */
    MGVI_SEPARABLE = 1 << 12,  /* a penalty with a formula per coordinate */
    MGVI_NORM = 1 << 13,       /* f(t x) = t f(x), t >= 0: its strength is mu */
    MGVI_JOINT = 1 << 14,      /* a loss of all the scores of a row, one per class */
    MGVI_LIKELIHOOD = 1 << 15, /* minus the log of a probability, which scores therefore tell */
    MGVI_HALVED = 1 << 16,     /* the 1/2 of a square that the C of LIBLINEAR is spelled without */
    MGVI_CANCELS = 1 << 17,    /* a penalty whose terms cancel: differences of weights, entropy */
    MGVI_KINK = 1 << 18,       /* a penalty with a kink at 0, where optimal weights are exactly 0 */
    MGVI_LEVEL = 1 << 19,      /* a penalty that a constant added to all weights does not change */
    MGVI_EVEN = 1 << 20,       /* f(-x) = f(x): f* grows with |u| */
    MGVI_BETWEEN = 1 << 21,    /* a and b are places of z, which data gives: ends of an interval */
    MGVI_BENT = 1 << 22,       /* f'' is 0 in places and not in others, or infinite at a kink */
    /* What penalties are made of. Those with one of the first two bits are lambda/2 w_j^2, mu |w_j|
     * or their sum, column by column, and nothing else (mgvi_problem_strengths). */
    MGVI_SQUARE = 1 << 23, /* lambda/2 w_j^2 */
    MGVI_ABS = 1 << 24,    /* mu |w_j| */
    MGVI_LENGTH = 1 << 25, /* a power of one norm |w|_p: beside a hard margin, its unit */
    /* What duals of losses are made of: (s G)*(u) = t u + q u^2/(2 s) where it is finite, */
    MGVI_QUADRATIC_DUAL = 1 << 26,
    MGVI_LINEAR_DUAL = 1 << 27, /* with q = 0; */
    MGVI_WIDTH = 1 << 28,       /* b is the width over which a kink is smoothed: q = b, else 1 */
    MGVI_BOUNDED = 1 << 29      /* |G'| is bounded: where it is finite, u lies in a box */
};

/* Says that a term lacks a function: its bit is not in NAME_can and tables hold NULL. */
#define MGVI_ABSENT(name, function)                                                                \
    MGVI_FORMULA real name##_##function(mgvi_coef c, real x)                                       \
    {                                                                                              \
        (void)c;                                                                                   \
        (void)x;                                                                                   \
        return (real)NAN;                                                                          \
    }
#endif
