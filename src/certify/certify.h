/* certify/certify.h - the judge: recomputes primal, dual, gap and margin bounds in float64 from
 * (w, u) alone. Nothing a solver has summed up is believed. docs/algorithms/certificates.md. */
#ifndef MGVI_CERTIFY_CERTIFY_H
#define MGVI_CERTIFY_CERTIFY_H

#include "problem/problem.h"

/* What was found for one pair (w, u). */
typedef struct mgvi_judge mgvi_judge;

typedef struct mgvi_verdict {
    mgv_certificate certificate;
    double residual;     /* hard losses: largest distance of (A w)_i to its set, relative */
    double train_score;  /* accuracy, or the mean squared error of a quantity */
    double primal_score; /* smaller is a better w: for keeping the best */
    double dual_score;   /* larger is a better u */
    /* By how much rounding has moved the primal value (the margin) and the dual value (its upper
     * bound) outwards. */
    double primal_rounding, dual_rounding;
    /* Equalities and intervals, which w meets only nearly: R(w), the length of what it misses, and
     * |u|, what a unit of that is worth. */
    double objective, missing, price;
    double missing_rounding; /* how much of `missing` is owed to rounding, at most */
    double shrunk; /* u was multiplied with it, to be in the domain of R* whatever was rounded */
    double unit;   /* what the relative gap is measured in; 0: the primal value */
} mgvi_verdict;

/* A relative gap that is certainly no larger than if nothing was rounded. */
double mgvi_verdict_sharp_gap(const mgv_problem *problem, const mgvi_verdict *verdict);

/* For a pair whose gap is but rounding: where it is nothing (2^-40) beside the objective of zero
 * weights it is measured in that. So an optimum of 0, which rounded weights miss by a hair, is
 * known; one that is small because of the data's unit is not touched, its gap is no rounding. */
void mgvi_verdict_excuse(const mgvi_judge *judge, mgvi_verdict *verdict);

/* How hard the judge looks. */
typedef enum mgvi_care {
    MGVI_CARE_NONE = -1,   /* as if nothing was rounded: no certificate, but what one could be */
    MGVI_CARE_PLAIN = 0,   /* plain products, rounding bounded by the largest entry of the data */
    MGVI_CARE_COLUMNS = 1, /* by the largest of every column: the data is read once more */
    MGVI_CARE_TWOFOLD = 2, /* products in twofold numbers, some ten times the work */
    MGVI_CARES = 3
} mgvi_care;

/* Nothing was judged. */
mgvi_verdict mgvi_verdict_none(void);

mgv_status mgvi_judge_new(mgvi_arena *arena, const mgv_problem *problem, mgvi_judge **out);

/* Nobody's optimal weights are further from these than this, |w - w*|_p of the penalised columns in
 * the problem's units: sqrt(2 gap / m), m the modulus of R's strong convexity (A. Raj, F. Bach:
 * Explicit Regularization of Stochastic Gradient Methods through Duality, proposition 1). NaN: R has
 * none, or the weights do not meet the constraints. */
double mgvi_verdict_distance(const mgv_problem *p, const mgv_certificate *c);

/* R(w) - R(w_0) + <A'u_0, w - w_0> over the penalised columns: how far w is from w_0 in the eyes of
 * R, of which -A'u_0 is a slope there. No kernel. */
double mgvi_judge_divergence(mgvi_judge *judge, const mgvi_vec *w_0, const mgvi_vec *u_0,
                             const mgvi_vec *w);

/* Two products with A and A'. `w` and `u` are not changed; the feasible dual point made from u
 * can be read with mgvi_judge_dual() until the next call. */
mgvi_verdict mgvi_judge_certify(mgvi_judge *judge, const mgvi_vec *w, const mgvi_vec *u);
/* The same with more care, for the weights w as they are (a margin's intercept is not moved).
 * Care that the operator does not allow is left out. */
mgvi_verdict mgvi_judge_certify_with(mgvi_judge *judge, const mgvi_vec *w, const mgvi_vec *u,
                                     mgvi_care care);
/* The same of w alone, beside the dual side of another verdict: half the work. */
mgvi_verdict mgvi_judge_certify_primal(mgvi_judge *judge, const mgvi_vec *w, mgvi_care care,
                                       const mgvi_verdict *dual);
/* The least care that may know more than a plain look. */
mgvi_care mgvi_judge_next_care(const mgvi_judge *judge);
const mgvi_vec *mgvi_judge_dual(const mgvi_judge *judge);
/* The judge's own vectors of the rows, A w and the dual point, for others to work in between two
 * calls. The second may come back as the u to be judged. */
void mgvi_judge_lend(mgvi_judge *judge, mgvi_vec lent[2]);
/* w: where the penalty is least, its intercept 0; z = A w. */
void mgvi_judge_least_weights(mgvi_judge *judge, mgvi_vec *w, mgvi_vec *z);
/* Every lane is a problem of its own (mgvi_problem_new_block): one certificate for each. Soft
 * losses only. */
void mgvi_judge_certify_lanes(mgvi_judge *judge, const mgvi_vec *w, const mgvi_vec *u,
                              mgv_certificate *out);
/* Hard margin: makes of w, which is that just judged, the weights that the verdict speaks of: their
 * intercepts are moved, and where the penalty is no power of a norm they are scaled to feasibility.
 */
void mgvi_judge_repair(const mgvi_judge *judge, mgvi_vec *w);
/* After a look with more care, which leaves the intercept where it is: what w must be multiplied
 * with to meet the margin, 1 where it does. What was judged is that other w: judge it again. */
double mgvi_judge_stretch(const mgvi_judge *judge);
/* The verdict on the pair (w of `primal`, u of `dual`): the primal side depends on w alone, the
 * dual side on u alone. */
mgvi_verdict mgvi_verdict_combine(const mgv_problem *problem, const mgvi_verdict *primal,
                                  const mgvi_verdict *dual);

/* Whether the w of `found` is better than that of `kept`, beside the u of `dual`. */
bool mgvi_verdict_improves(const mgv_problem *problem, const mgvi_verdict *found,
                           const mgvi_verdict *kept, const mgvi_verdict *dual);

/* Hard losses: tries to turn u into one with A'u = 0 and a negative support value (8), which proves
 * that no w satisfies the constraints, in at most 4 x `most` conjugate gradient steps of two
 * products each; 0: u is taken as it is. It is believed only when it is shown that an exact one
 * exists (proof.c). On success the verdict's certificate says so and mgvi_judge_dual() is that u to
 * 53 bits, with sum |u_i| = 1: for a margin -q with convex weights q. */
bool mgvi_judge_prove(mgvi_judge *judge, const mgvi_vec *u, int most, mgvi_verdict *verdict);
/* After an attempt that failed: mgvi_judge_dual() holds up to rounding, which is no proof. One on
 * fewer rows may become one. */
bool mgvi_judge_nearly_proven(const mgvi_judge *judge);
/* Hard losses: a lower bound of min_i y_i (x_i.w + b) over the rows with weight, for the weights as
 * a model saves them and the data as it is; minus infinity with a kernel. MGV_E_MEMORY. */
mgv_status mgvi_judge_least_score(mgvi_judge *judge, const mgvi_vec *w, double *least);
/* The largest |a_i|: the unit of margins. Hard losses only. */
double mgvi_judge_radius(mgvi_judge *judge);
#endif
