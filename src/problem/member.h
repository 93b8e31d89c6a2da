/* problem/member.h - one problem of two classes out of many: a class against the rest, or one
 * against one. */
#ifndef MGVI_PROBLEM_MEMBER_H
#define MGVI_PROBLEM_MEMBER_H

#include "problem/problem.h"

/* Pair `index` of k classes, in the order (0, 1), (0, 2), ..., (0, k-1), (1, 2), ... */
typedef struct mgvi_class_pair {
    int64_t first, second;
} mgvi_class_pair;
int64_t mgvi_class_pairs(int64_t classes);
mgvi_class_pair mgvi_class_pair_at(int64_t classes, int64_t index);
/* The scores that a model of the problem has for an example: one, one of each class, or of every
 * two; where the problem stands for many each has a member of its own. */
int64_t mgvi_model_outputs(const mgv_problem *problem);

typedef struct mgvi_member {
    mgv_problem *problem;
    mgv_data *data; /* of a pair: its rows, else NULL */
    int64_t *rows;  /* where they are in the whole */
} mgvi_member;

/* `settings` with the strengths of the head's problem, which a path changes. */
mgv_settings mgvi_member_settings(const mgv_problem *head, const mgv_settings *settings);
/* Rows that member `index` has. */
int64_t mgvi_member_row_count(const mgv_problem *head, int64_t index);
/* Whether the member has rows with weight: folds of a cross-validation may leave two rare classes
 * none. */
bool mgvi_member_weighs(const mgv_problem *head, int64_t index);
/* Member `index` of the family that `head` stands for, under its strengths. */
mgv_status mgvi_member_new(mgv_ctx *ctx, const mgv_problem *head, const mgv_settings *settings,
                           int64_t index, mgvi_member *out);
/* The rows of some classes of the head's data (numbers, increasing) and where they are; weights are
 * those of the whole, class weights included. No problem is bound; mgvi_member_free() all the same.
 */
mgv_status mgvi_member_rows(mgv_ctx *ctx, const mgv_problem *head, const int64_t *classes,
                            int64_t class_count, mgvi_member *out);
/* `count` lanes as one problem over those rows, their classes numbered as they were listed; where
 * `member` has none of its own, over all of the head's. Borrows `lane`. */
mgv_status mgvi_member_block(mgv_ctx *ctx, const mgvi_member *member, const mgv_problem *head,
                             const mgv_settings *settings, const mgvi_lane *lane, int32_t count,
                             mgv_problem **out);
void mgvi_member_free(mgv_ctx *ctx, mgvi_member *member);
/* Numbers of the member's rows to those of the whole, 0 elsewhere. */
void mgvi_member_spread(const mgvi_member *member, const double *from, int64_t whole, double *to);
/* The member's model: weights of the features, or of all examples with a kernel. */
mgv_status mgvi_member_weights(mgv_ctx *ctx, const mgvi_member *member, const mgv_problem *head,
                               const double *w, double *coef, double *intercept);
#endif
