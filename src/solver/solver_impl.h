/* solver/solver_impl.h - what a solver file sees: its run, and the table it fills.
 * driver.c owns the loop: steps, certificates, stopping rules, best iterate, trace, progress, time,
 * interrupts, checkpoints. A solver knows one step. */
#ifndef MGVI_SOLVER_SOLVER_IMPL_H
#define MGVI_SOLVER_SOLVER_IMPL_H

#include "base/event.h"
#include "base/rng.h"
#include "data/tensors.h"
#include "problem/problem.h"

typedef struct mgvi_run mgvi_run;

/* What certificates and callbacks may see; u in the subdifferential of the losses at A w, NULL when
 * the solver is primal_only. */
typedef struct mgvi_iterate {
    const mgvi_vec *w, *u;
} mgvi_iterate;

/* A step that is one product with a kernel's matrix K, taken apart, so that problems over the same
 * points take theirs together (family_products.c). Vectors are the coefficients of points, number i
 * of them at [i * lanes]. A run begins with join() at weights w (A's columns; NULL: at nothing). */
typedef struct mgvi_product_ops {
    void (*join)(mgvi_run *run, const double *w);
    /* g; false: not to be put into the metric. */
    bool (*ask)(mgvi_run *run, double *to, int64_t lanes);
    /* Whether a new metric would pay, and the curvature of every row to make one from. */
    bool (*is_due)(mgvi_run *run);
    const double *(*bow)(mgvi_run *run);
    /* The rest of the step, from g in the metric and its image under K, to float32 perhaps. */
    mgv_status (*take)(mgvi_run *run, const double *bent, const double *image, int64_t lanes);
    /* The weights seem good enough: it waits for their image in float64. Also after join(). */
    bool (*waits)(const mgvi_run *run);
    void (*tell)(mgvi_run *run, double *to, int64_t lanes);
    mgv_status (*settle)(mgvi_run *run, const double *image, int64_t lanes);
    bool (*is_there)(const mgvi_run *run); /* the weights are as good as they were asked to be: */
    void (*image)(mgvi_run *run, double *to); /* then K times them, in float64 */
} mgvi_product_ops;

/* What is known of the optimum: the best pair, and what the judge has found of it. */
typedef struct mgvi_optimum {
    const mgv_certificate *certificate;
    const mgvi_vec *u;
} mgvi_optimum;
enum { MGVI_BOUNDS = 6 };

/* A number that a method has chosen for itself, for reports. */
typedef struct mgvi_fact {
    const char *name;
    double value;
} mgvi_fact;
enum { MGVI_FACTS_MAX = 8 };

typedef struct mgvi_solver_ops {
    const char *name, *summary;
    struct {
        unsigned penalty, loss, op; /* bits every term or operator must have */
    } needs;
    struct {
        unsigned penalty, loss;
    } any,             /* bits of which a term must have one, 0: none is asked for; */
        no;            /* and those that it must not have */
    bool no_intercept; /* the method knows no free column */
    bool bounds;       /* it keeps weights between low and high beside a norm of D w */
    bool smooth;       /* it follows the gradient of a caller's smooth F */
    bool primal_only;  /* no u: its iterates are chosen by validation (select/selection.h), and
                            * nothing of rows x lanes is allocated, the judge's memory included */
    bool uniform;      /* it penalises every column alike: no --penalty-weight */
    /* May be NULL. What else must hold of a problem; MGV_E_UNSUPPORTED and a sentence if it does
     * not. */
    mgv_status (*fits)(mgv_ctx *ctx, const mgv_problem *problem);
    bool joint;           /* losses of all classes at once too, beside those of rows */
    bool kernels;         /* columns may be coefficients: lengths by mgvi_op_length() alone */
    bool contrasts;       /* rows may be pairs of an example and a class (op/contrast.h) */
    const char *settings; /* NULL or the names of settings of its own that decide its steps */
    /* What `auto` goes by: the expected work, in multiplications, to reach the tolerance on a
     * problem that fits, from its shape and strengths alone. NULL or INFINITY: not known; a
     * solver that knows its own is preferred, and the list's order decides among the others. */
    double (*cost)(const mgv_problem *problem, const mgv_settings *settings);
    /* May be NULL. The work within which it ends where the problem is easy for it, which shape and
     * strengths cannot tell; INFINITY: no use. Where that is a part of the cheapest solver's cost
     * it goes first, and gives way when it has spent that part (mgvi_solver_tries). */
    double (*trial)(const mgv_problem *problem, const mgv_settings *settings);
    double
        trial_pays; /* of the cheapest's cost, below which the trial is worth its loss; 0: half */
    /* May be NULL. Its last steps gain the most digits, and it begins where another has ended: the
     * expected work from an answer within the tolerance to one that is exact but for rounding;
     * INFINITY: not for this problem. */
    double (*finish)(const mgv_problem *problem, const mgv_settings *settings);
    /* Whether it goes on from the best pair where it takes over from another solver; NULL: never. */
    bool (*inherits)(const mgv_problem *problem);
    bool anywhere;     /* its vectors may lie outside of host memory (backend/backend.h) */
    bool sweeps;       /* passes over columns, one at a time */
    bool means;        /* it can show the mean of its iterates (setting iterate) */
    bool shares_rows;  /* its runs over the same points need the same rows of a kernel's matrix */
    bool ascends;      /* its steps are those of lock-step (classes/lockstep.h), one lane of them */
    size_t state_size; /* zeroed memory at run->state */
    mgv_status (*init)(mgvi_run *run);
    /* May be NULL. Begins at w (A's columns) and, where it is not NULL, u (A's rows). */
    mgv_status (*start)(mgvi_run *run, const double *w, const double *u);
    /* One iteration. No allocation, printing, clock or stopping. */
    mgv_status (*step)(mgvi_run *run);
    mgvi_iterate (*expose)(mgvi_run *run);
    /* May be NULL. A guess of the present relative gap from what the step has seen, NaN: no idea,
     * INFINITY: nothing to certify yet, so not even on schedule. It only says when a certificate is
     * worth its passes. */
    double (*estimate)(const mgvi_run *run);
    /* May be NULL. |A w - y| of the exposed w, for the discrepancy principle; no products. */
    double (*residual)(const mgvi_run *run);
    /* May be NULL. Its step lengths and the like; how many, at most MGVI_FACTS_MAX. */
    int (*facts)(const mgvi_run *run, mgvi_fact *out);
    /* May be NULL. |A'(A w - y)| in units of |A| |A w - y|, once the run has ended without its
     * certificate; NaN: not known. */
    double (*normal)(const mgvi_run *run);
    /* May be NULL. The width of the smoothing that the last step worked with, for the trace. */
    double (*smoothing)(const mgvi_run *run);
    /* May be NULL. The run ends here without its certificate: the place for advice. */
    void (*ended)(mgvi_run *run);
    /* May be NULL. What its paper proves of the present iterate, written to `out`, at most
     * MGVI_BOUNDS of them; how many. */
    int (*theorems)(const mgvi_run *run, const mgvi_optimum *known, mgv_bound *out);
    /* May be NULL. Checks a state that came from a file. */
    mgv_status (*restored)(mgvi_run *run);
    const mgvi_product_ops *products; /* may be NULL */
} mgvi_solver_ops;

/* Part of what a checkpoint holds. */
typedef struct mgvi_kept {
    mgvi_tensor tensor;
    mgvi_vec *vec; /* its numbers where they lie elsewhere; NULL: in host memory */
} mgvi_kept;

struct mgvi_run {
    mgv_ctx *ctx;
    const mgv_problem *problem;
    const mgv_settings *settings;
    const mgvi_solver_ops *ops;
    mgvi_arena arena; /* the solver's: gone when another takes over */
    /* Two vectors of the rows that are the judge's while it judges and nobody's between: work space
     * within a step, and for the u that `expose` shows. Asked for when needed: they may move. */
    mgvi_vec lent[2];
    mgvi_rng rng;
    void *state;
    int64_t iteration; /* steps done */
    bool finished;     /* set by the solver: further steps would change nothing */
    bool scheduled;    /* the same beside it: a setting has told the method to end here */
    double goal;       /* relative gap aimed at: tol, and when it is certified perhaps less */
    bool early;        /* an iterate before convergence is the answer (setting `select`) */
    bool suspicious;   /* set by the solver: u looks like a proof that no w is feasible */
    double touched;    /* entries read by row kernels; operators count their own */
    double work;       /* multiplications that read none: factors and what is done with them */
    double allowance;  /* work after which a step that is long had better end, for another solver
                        * would be done: mgvi_entry_cost() an entry read; 0: none is set */
    mgvi_kept *kept;   /* what a checkpoint holds; NULL: there will be none */
    int kept_count;
};

/* Vectors of the run: mgvi_run_vec(run, MGVI_COLS, &s->w). */
mgv_status mgvi_run_vec(mgvi_run *run, mgvi_space space, mgvi_vec *out);
/* The same of a list, NULL at its end. */
mgv_status mgvi_run_vecs(mgvi_run *run, mgvi_space space, mgvi_vec *const *out);
#define MGVI_RUN_VECS(run, space, ...)                                                             \
    mgvi_run_vecs(run, space, (mgvi_vec *const[]){__VA_ARGS__, NULL})
void *mgvi_run_array(mgvi_run *run, size_t count, size_t size);
#define MGVI_RUN_ARRAY(run, pointer, count) MGVI_ARRAY(&(run)->arena, pointer, count)
/* Refuses problems whose rows 32 bits cannot number. */
mgv_status mgvi_run_check_rows(mgvi_run *run);
/* Of methods that draw `rows` rows at random: how many in an iteration (setting draws), and of how many
 * iterations a pass consists. */
int64_t mgvi_run_draws(const mgvi_run *run, int64_t rows);
int64_t mgvi_run_pass(const mgvi_run *run, int64_t rows);
/* Every step multiplies with all of A: a kernel's matrix is kept where memory (setting `cache`)
 * allows. */
void mgvi_run_expect_products(mgvi_run *run);
/* Whether steps of a dual coordinate method can move u_i. A constraint on a row of zeros, one without
 * curvature, holds or does not: where it does not, the row alone is the proof that no w is feasible,
 * and run->suspicious is set. */
bool mgvi_run_row_moves(mgvi_run *run, int64_t row, bool curved, double *u);
/* Declares `count` numbers at `data` as part of the state that a checkpoint saves and restores. */
mgv_status mgvi_run_keep(mgvi_run *run, const char *name, mgvi_tensor_type type, void *data,
                         int64_t count);
/* The same of a vector, which stays where it is. */
mgv_status mgvi_run_keep_vec(mgvi_run *run, const char *name, mgvi_vec *x);
/* Of several: MGVI_RUN_KEEP_VECS(run, {"w", &s->w}, {"u", &s->u}). */
typedef struct mgvi_named_vec {
    const char *name; /* NULL: the end of a list */
    mgvi_vec *vec;
} mgvi_named_vec;
mgv_status mgvi_run_keep_vecs(mgvi_run *run, const mgvi_named_vec *list);
#define MGVI_RUN_KEEP_VECS(run, ...)                                                               \
    mgvi_run_keep_vecs(run, (const mgvi_named_vec[]){__VA_ARGS__, {NULL, NULL}})
/* Refuses weights in host memory, restored from a checkpoint, that are not finite. */
mgv_status mgvi_run_check_kept(mgvi_run *run, const mgvi_vec *x);
/* Refuses a list of rows that would lead outside our arrays. */
mgv_status mgvi_run_check_list(mgvi_run *run, const int32_t *list, int64_t count, int64_t most);

int mgvi_solver_count(void);
const mgvi_solver_ops *mgvi_solver_at(int index);
const mgvi_solver_ops *mgvi_solver_find(const char *name); /* NULL: unknown */
/* Fails with MGV_E_UNSUPPORTED and a sentence: what the solver lacks, and which solvers fit. */
mgv_status mgvi_solver_fits(mgv_ctx *ctx, const mgvi_solver_ops *ops, const mgv_problem *problem);
/* The same without a word. */
bool mgvi_solver_suits(mgv_ctx *ctx, const mgvi_solver_ops *ops, const mgv_problem *problem);
/* Solvers by their number in the list. */
typedef uint64_t mgvi_solver_mask;
/* What an entry read in a pass costs, in multiplications of a matrix product. */
double mgvi_entry_cost(const mgv_problem *problem);
/* The same in a product, whose rows follow each other; an entry of a kernel is made first. */
double mgvi_product_cost(const mgv_problem *problem);
/* What a fit with a kernel costs that reads the matrix a few times. */
double mgvi_kernel_cost(const mgv_problem *problem);
/* Whether there are more columns than rows, or of full ones nearly as many: nearly dependent, so
 * that passes over them do not end unless few are wanted. */
bool mgvi_columns_crowd(const mgv_problem *problem);
/* What `ops` may spend before the cheapest, which costs so much; 0: it had better not begin. */
double mgvi_solver_tries(const mgvi_solver_ops *ops, const mgv_problem *problem,
                         const mgv_settings *settings, double cost);
/* The solver `auto` stands for: of those that fit the cheapest, the first of the list among equals;
 * `tried` are left out. The sentence of the nearest one when none fits. */
mgv_status mgvi_solver_auto(mgv_ctx *ctx, const mgv_problem *problem, const mgv_settings *settings,
                            mgvi_solver_mask tried, const mgvi_solver_ops **out);
/* The same without a sentence, of those that know their cost and can end; NULL: nobody is left. */
const mgvi_solver_ops *mgvi_solver_next(mgv_ctx *ctx, const mgv_problem *problem,
                                        const mgv_settings *settings, mgvi_solver_mask tried);
mgvi_solver_mask mgvi_solver_bit(const mgvi_solver_ops *ops);
/* The k-th of the settings of its own, in `name`; false: there are no more. */
bool mgvi_solver_setting(const mgvi_solver_ops *ops, int k, char name[64]);
bool mgvi_solver_owns(const mgvi_solver_ops *ops, const char *setting);
/* Warns of every setting that was given, is a solver's own, and not this one's. */
void mgvi_solver_warn(mgv_ctx *ctx, const mgvi_solver_ops *ops, const mgv_settings *settings);
#endif
