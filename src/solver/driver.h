/* solver/driver.h - a solver at work: the handle behind mgv_solver. */
#ifndef MGVI_SOLVER_DRIVER_H
#define MGVI_SOLVER_DRIVER_H

#include "certify/certify.h"
#include "solver/keeper.h"
#include "solver/solver_impl.h"
#include "stop/stop.h"

/* Everything but vectors that must survive a checkpoint: plain numbers only. */
typedef struct mgvi_driver_memory {
    int64_t iteration;
    double touched;  /* entries read in earlier sittings; whole, so that sums are exact */
    double streamed; /* those of them by products, in their order */
    double worked;   /* multiplications beside them, likewise */
    double seconds;
    double next_certificate; /* passes */
    double ratio;            /* certified gap / estimate, when both were last known */
    double residual_before;  /* of the iterate before the present one */
    int64_t next_proof;      /* hard margin: certificate count before the next attempt at a proof */
    int64_t certificates;
    int64_t certified; /* iteration of the last certificate */
    int64_t looks;     /* of the judge with all its care, in vain */
    int64_t far_looks; /* the same that found the pair too far away, rounding or not */
    double gain;       /* mgvi_driver_way() after the last certificate beside that before it */
    double since;      /* what was spent between the two (mgvi_driver_spent) */
    double spent;      /* until the last certificate */
    double seated;     /* until the present solver began, */
    double began;      /* and the passes until then */
    uint64_t tried;    /* mgvi_solver_mask of `auto`: those that had their turn, when saved; */
    uint64_t paused;   /* and those of them that gave way and may come back */
    int64_t comebacks; /* how often one has: each time all of them may spend twice as much */
    mgvi_verdict best; /* of the best pair */
    double sharpened;  /* sparsify.c: what was spent when it began to sharpen; 0: it has not */
    double sharp_gap;  /* the gap when it last went on for that */
    int64_t concluded; /* the iteration after which it was last found that the run goes on */
    mgvi_rng rng;
} mgvi_driver_memory;

/* The best w and the best u seen, which may come from different iterates, judged as a pair. */
typedef struct mgvi_pair {
    mgvi_vec w, u;
    mgvi_verdict *verdict;
} mgvi_pair;

typedef struct mgvi_family mgvi_family; /* solver/classes/family.h */

/* What a run, or a family of runs, has come to. */
typedef struct mgvi_summary {
    const char *solver;
    mgv_stop stop;
    int64_t iterations;
    double passes, seconds;
    mgv_certificate certificate;
} mgvi_summary;

struct mgv_solver {
    mgvi_family *family; /* more than two classes: the runs are its members', not this one's */
    mgvi_run run;
    mgv_settings settings; /* a copy: run.settings points here */
    mgvi_arena arena;      /* what the driver keeps: the pairs below */
    mgvi_arena judging;    /* the judge, while there is something to judge */
    mgvi_arena *best_room; /* of best.u */
    double noise;          /* of an early-stopped run: the residual to reach; NaN: none */
    int64_t planned;       /* or the number of iterations; 0: none */
    mgvi_judge *judge;
    mgvi_driver_memory memory;
    mgvi_pair best; /* of the certificates on schedule: part of the state */
    /* What the world gets: `best`, or better if the run ended between two certificates. It is kept
     * apart so that a resumed run takes the very steps of an unbroken one. */
    mgvi_pair answer;
    mgvi_verdict answer_verdict;
    mgv_stop stop;
    double touched_before; /* of the operator when this sitting began */
    /* Entries read by certificates after a run's end: reported, but no part of the state, or the
     * schedule of a resumed run would not be that of an unbroken one. */
    double settled;
    double started;
    mgvi_keeper keeper;
    double prepared; /* seconds its making took, of the first run's time */
    /* limits.c: the last step, or the setting up, was cut: the run's state is worth nothing, and
     * `answer` has the iterate of the last whole iteration that was kept. */
    bool cut;
    struct {
        double next_iterate; /* of the clock: when to keep it again */
        double longest;      /* step so far, in passes */
    } whole;
    /* Solver `auto`: those that have refused the problem or ended without a certificate. */
    mgvi_solver_mask tried;
    bool outspent;   /* the present one has spent far more than another promises to */
    double patience; /* what the present one may spend; 0: not asked for yet */
    bool shown;      /* to who looks at iterates (iterate.c) */
    struct mgvi_show *show;
    struct mgv_selection *selection; /* that chose this run's strength; NULL: nobody did */
    struct {
        const char *command; /* that the run is of, */
        uint64_t print;      /* and what decides its steps that its problem does not show */
    } of;
};

mgv_status mgvi_driver_new(mgv_ctx *ctx, const mgv_problem *problem, const mgv_settings *settings,
                           mgv_solver **out);
/* Before the first run: begin at w (A's columns) and u (A's rows, or NULL) in place of 0. A solver
 * that has no use for them ignores them. */
mgv_status mgvi_driver_start(mgv_solver *solver, const double *w, const double *u);
/* The same for a run of a path: begin where `before`, a run of the same data under another
 * strength, has ended, which may give up what it kept for that; NULL: the path begins here. */
mgv_status mgvi_driver_follow(mgv_solver *solver, mgv_solver *before);
mgv_status mgvi_driver_run(mgv_solver *solver);
/* One step without certificates, stopping rules and events, and the end of a run made of such. A
 * step that the limit has cut leaves `cut` and the iteration as it was; the run can only be ended,
 * or mended to go on another time. */
mgv_status mgvi_driver_step(mgv_solver *solver);
mgv_status mgvi_driver_mend(mgv_solver *solver);
/* The present iterate; after a cut the last one that was kept, which lies in `answer`. */
mgvi_iterate mgvi_driver_present(mgv_solver *solver);
void mgvi_driver_begin_limits(mgv_solver *solver);
void mgvi_driver_end(mgv_solver *solver, mgv_stop stop);
/* Whether such steps change nothing any more: the solver is at its end, or within the tolerance by
 * its own estimate. */
bool mgvi_driver_done(const mgv_solver *solver);
/* Makes the present iterate the answer so far; and the end of a run whose answer was kept so: it
 * was chosen by validation and has no certificate. */
void mgvi_driver_keep(mgv_solver *solver);
void mgvi_driver_end_chosen(mgv_solver *solver, mgv_stop stop, double seconds);
/* The same with w and, unless it is NULL, u in place of the present iterate's. */
void mgvi_driver_adopt(mgv_solver *solver, const mgvi_vec *w, const mgvi_vec *u, mgv_stop stop);
/* The same for a pair that was judged already, for the very problem. */
void mgvi_driver_adopt_judged(mgv_solver *solver, const mgvi_vec *w, const mgvi_vec *u,
                              const mgvi_verdict *verdict, mgv_stop stop);
/* iterate.c: between the two what is read is no part of the run, and leaves nothing behind in the
 * operator that a later step would find. */
typedef struct mgvi_aside {
    double read, touched, work;
} mgvi_aside;
mgvi_aside mgvi_driver_step_aside(mgv_solver *solver);
void mgvi_driver_step_back(mgv_solver *solver, mgvi_aside aside);
/* Where it is the turn of the present iterate, it is shown to who looks at this run's, and
 * may ask to stop; what may be asked about it meanwhile. */
mgv_status mgvi_driver_show(mgv_solver *solver);
const mgvi_vec *mgvi_show_weights(const mgv_solver *solver); /* NULL: none is being shown */
mgv_status mgvi_show_certify(mgv_solver *solver, mgvi_verdict *out);
/* From the pair (w, u), of the problem's sizes, to it. */
mgv_status mgvi_show_divergence(mgv_solver *solver, const double *w, const double *u, double *out);
void mgvi_show_close(mgv_solver *solver);
/* bounds.c: how many; nothing of a family. */
int mgvi_driver_bounds(mgv_solver *solver, mgv_bound out[MGVI_BOUNDS + 1]);
/* certificates.c: whether one is due and taking it, if the limit lets it (`certified`); and the
 * answer of a run that ends here, with one more where the present iterate has none. Where a step
 * was cut `answer` has the last iterate that is known. */
enum {
    MGVI_FIRST_PASSES = 10, /* before the first certificate that no estimate asked for */
    MGVI_LOOKS = 3,         /* of the judge with all its care, in vain, that end a run */
    MGVI_FAR_LOOKS = 12     /* that found a gap: others would, too */
};
/* Seconds that the model may take when the run has ended: its weights are copied to memory that
 * nobody has touched, measured, written and read for its scores. Only millions of them take any. */
double mgvi_driver_aftermath(const mgv_solver *solver);
/* What the judge makes of (w, u); false: the limit has cut it short, and there is nothing. */
bool mgvi_driver_judge(mgv_solver *solver, const mgvi_vec *w, const mgvi_vec *u, mgvi_care care,
                       mgvi_verdict *found);
/* Whether u, or one beside it, proves that there is no w; then it is the pair's. */
bool mgvi_driver_prove(mgv_solver *solver, const mgvi_vec *u, int most, mgvi_pair *pair);
bool mgvi_driver_certificate_due(mgv_solver *solver);
/* Takes what a constant alone attains, where that is the optimum. */
mgv_status mgvi_driver_try_constant(mgv_solver *solver);
/* Shows `answer` to the judge before the first step; where it has the certificate, the run ends. */
mgv_status mgvi_driver_offer(mgv_solver *solver);
mgv_status mgvi_driver_certify(mgv_solver *solver, bool *certified);
void mgvi_driver_settle(mgv_solver *solver, bool certified);
enum { MGVI_MOST_KEPT = 32 }; /* arrays of a run's state */
/* relay.c: the state of `ops` in place of any other; what the driver keeps stays. After a failure
 * the run is as it was. */
mgv_status mgvi_driver_seat(mgv_solver *solver, const mgvi_solver_ops *ops);
/* Solver `auto`: whether the run has read several times what it promised, and what the next solver
 * promises: it is then ended for the next one's sake. */
bool mgvi_driver_outspent(mgv_solver *solver);
/* The work of the run so far, in multiplications of a matrix product. */
double mgvi_driver_spent(const mgv_solver *solver);
double mgvi_driver_own_spent(const mgv_solver *solver); /* by the present solver */
/* How far it is to an optimum: the relative gap, beside the dual value. */
double mgvi_driver_way(double relative_gap);
/* What is left to it before another takes over, in its measure. */
double mgvi_driver_allowance(mgv_solver *solver);
/* sparsify.c: a penalty with kinks, and the certificate holds: whether the run goes on for a little
 * while, until zeros and nonzeros lie far apart; the goal of a run that was resumed in between; and
 * at the end of a run the answer without its dust, as far as the certificate stays valid. */
bool mgvi_driver_sharpen(mgv_solver *solver);
double mgvi_driver_goal(const mgv_solver *solver);
mgv_status mgvi_driver_sparsify(mgv_solver *solver);
/* Solver `auto`: where one solver sees no way on another begins, and the best pair so far stays.
 * false: nobody is left, and the run is as it was. */
bool mgvi_driver_relay(mgv_solver *solver, mgv_status *st);
/* The numbers of a run have failed, and nobody takes over: the best pair that was judged before is
 * its answer, where one says something. The iterates are worth nothing. */
bool mgvi_driver_fall_back(mgv_solver *solver, mgv_status *st);
/* Hard margin, when a run has ended: whether the weights as saved separate, and if they do not and
 * nothing is proven, what can be decided in scaled columns (confirm.c). */
mgv_status mgvi_driver_confirm(mgv_solver *solver);
/* Solver `auto`: a checkpoint may be of one that took over. Does nothing for other names. */
mgv_status mgvi_driver_take_over(mgv_solver *solver, const char *name);
void mgvi_driver_free(mgv_solver *solver);
/* The judge and what it lends to solvers; between runs, when nothing is to be judged, it may be put
 * away: its vectors of the rows are a good part of all memory. */
mgv_status mgvi_driver_open_judge(mgv_solver *solver);
void mgvi_driver_close_judge(mgv_solver *solver);
/* A run that has ended and will not go on: its answer stays, and what is known about it. */
void mgvi_driver_retire(mgv_solver *solver);
/* Room for the dual point of the best pair, from the first certificate on. */
mgv_status mgvi_driver_open_best(mgv_solver *solver);
mgvi_summary mgvi_driver_summary(const mgv_solver *solver);
double mgvi_driver_passes(const mgv_solver *solver);
/* The passes of the run's own steps and certificates: the clock of the schedule. */
double mgvi_driver_schedule(const mgv_solver *solver);
/* Entries read in all sittings, without `settled`; and those of them by products with A. */
double mgvi_driver_touched(const mgv_solver *solver);
double mgvi_driver_streamed(const mgv_solver *solver);

uint64_t mgvi_problem_print(const mgv_problem *problem, const mgv_settings *settings);
mgvi_checkpoint_id mgvi_checkpoint_of(const mgv_solver *solver);
/* The state of one run, for its keeper; and into fresh memory, for mgvi_release. */
mgv_status mgvi_checkpoint_put_run(void *solver, mgvi_checkpoint_goal *to);
mgv_status mgvi_checkpoint_pack(const mgv_solver *solver, void **bytes, size_t *size);
mgv_status mgvi_checkpoint_write(const mgv_solver *solver, const char *path);
mgv_status mgvi_checkpoint_read(mgv_solver *solver, const char *path);
/* From bytes in memory, as a fuzzer has them. After a failure the solver may only be freed. */
mgv_status mgvi_checkpoint_parse(mgv_solver *solver, const char *path, const void *bytes,
                                 size_t size);
#endif
