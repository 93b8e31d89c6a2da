/* solver/classes/family.h - more than two classes by runs of two: each class against the rest, or every
 * two. Members are bound, solved and put away, several at once on the threads of the context, so
 * that only their weights stay. */
#ifndef MGVI_SOLVER_FAMILY_H
#define MGVI_SOLVER_FAMILY_H

#include "solver/driver.h"

#include <pthread.h>

/* A pair to begin at: w in the columns, u in the rows of a member's A. NULL: from nothing. */
typedef struct mgvi_member_start {
    double *w, *u;
} mgvi_member_start;
void mgvi_member_forget(mgv_ctx *ctx, mgvi_member_start *start);
/* Copies lane `lane` of w and u. */
mgv_status mgvi_member_note(mgv_ctx *ctx, const mgvi_vec *w, const mgvi_vec *u, int32_t lane,
                            mgvi_member_start *out);

/* What a path before it, lock-step or a checkpoint has left of a member, beside its weights and,
 * where it is certified, its summary. */
typedef struct mgvi_member_left {
    mgvi_member_start start; /* to go on from; w NULL: as the family's weights are; u NULL: it is
                              * done or was not begun */
    double *image;           /* K w of a kernel's matrix, in float64; NULL: not known */
    int64_t rounds;          /* of lock-step, */
    double passes;           /* and its share of the passes */
    void *state; /* a run without its certificate (mgvi_checkpoint_pack): before `start` */
    size_t state_size;
} mgvi_member_left;

void mgvi_member_forget_left(mgv_ctx *ctx, mgvi_member_left *left);

/* The intercept of a member that the limit has left without weights: no row is given to it. */
#define MGVI_NOT_REACHED (-1e300)

struct mgvi_family {
    int64_t members;
    mgvi_summary *member;   /* stop is MGV_STOP_NONE for one that has not run */
    double *coef;           /* members x mgvi_problem_coefs(), in the user's units */
    double *intercept;      /* members */
    double *length;         /* members: |w| in the operator's columns */
    int64_t impossible;     /* the member that proved there is no answer, -1: none */
    mgvi_vec proof;         /* its u */
    double seconds;         /* of all sittings; members overlap */
    mgvi_member_left *left; /* members */
    bool begun;             /* some are not to begin from nothing */
    int64_t lost;           /* members that the limit has left without weights */
    bool hasty;             /* lock-step was cut short: what follows is no part of a checkpoint */
    mgvi_member_start *end; /* where they ended; NULL: not kept */
};

/* Makes `solver` the head of a family; its problem stands for every class of its data. */
mgv_status mgvi_family_new(mgv_solver *solver);
void mgvi_family_free(mgv_solver *solver);
/* Keeps where the members end, unless that is too much, and takes over where those of `before`
 * (NULL: nobody) did. */
mgv_status mgvi_family_follow(mgv_solver *solver, mgv_solver *before);
/* Whether there is room for a pair (w, u) of every member. */
bool mgvi_family_has_room(const mgv_solver *solver);
/* What every member may still read, in passes over the data, whichever thread runs it. */
double mgvi_family_passes_left(const mgv_solver *solver);
/* family_run.c: runs the members that have no certificate yet. */
mgv_status mgvi_family_run(mgv_solver *solver);
/* A checkpoint of the family: what is certified, and what is left of the others. */
mgv_status mgvi_family_put(const mgv_solver *solver, mgv_ctx *ctx, mgvi_checkpoint_goal *to);
/* Where a member or a run begins, as checkpoints have it: the arrays there are, and how many; and
 * back, of so many rows and columns. */
int mgvi_member_start_put(const mgvi_member_start *start, int64_t c, int64_t rows, int64_t cols,
                          mgvi_tensor out[2]);
mgv_status mgvi_member_start_take(mgv_ctx *ctx, const mgvi_tensors *file, int64_t c, int64_t rows,
                                  int64_t cols, mgvi_member_start *out);
/* After a failure the solver may only be freed. */
mgv_status mgvi_family_restore(mgv_solver *solver, const char *path, const mgvi_tensors *file);
/* Ends the family with weights (members x mgvi_problem_coefs()) and intercepts of another's making,
 * in the user's units, for members that have none of their own. */
mgv_status mgvi_family_adopt(mgv_solver *solver, const double *coef, const double *intercept,
                             mgv_stop stop);
/* Counts and values are sums; the seconds are the family's; gaps and margins those of the worst
 * member. The proof that one has no answer is the certificate of all. */
mgvi_summary mgvi_family_summary(const mgv_solver *solver);
/* Of two problems together: the pair that promises less. A certificate that was not verified
 * promises nothing. */
void mgvi_family_add_certificate(mgv_certificate *sum, const mgv_certificate *one);
/* What a thread works with. Events belong to that which called the library: others are silent. */
static inline mgv_ctx mgvi_family_ctx(const mgv_solver *head, pthread_t caller)
{
    mgv_ctx child = mgvi_ctx_child(head->run.ctx);
    if (pthread_equal(caller, pthread_self())) {
        child.on_event = head->run.ctx->on_event;
        child.event_user = head->run.ctx->event_user;
    }
    return child;
}
#endif
