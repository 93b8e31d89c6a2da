/* judging.h - a problem with its judge, and room for the weights and multipliers brought before it. */
#ifndef MGV_TESTS_JUDGING_H
#define MGV_TESTS_JUDGING_H

#include "vectors.h"

#include "base/rng.h"
#include "certify/certify.h"

typedef struct mgv_judged {
    mgv_fit fit;
    mgvi_arena arena;
    mgvi_judge *judge;
    mgvi_vec w, u;
} mgv_judged;

/* Fails the test on error; freed by mgv_judged_close. */
void mgv_judged_open(mgv_judged *j, const double *X, const double *y, int64_t n, int64_t d,
                     const char *options);
/* The same with sample weights (n of them). */
void mgv_judged_open_weighted(mgv_judged *j, const double *X, const double *y,
                              const double *weights, int64_t n, int64_t d, const char *options);
void mgv_judged_close(mgv_judged *j);
/* One lane's weights of the columns as they are given, an intercept last, and one number per row. */
void mgv_judged_bring(mgv_judged *j, const double *w, const double *u);
mgvi_verdict mgv_judged_look(mgv_judged *j, mgvi_care care);
/* Of data, settings and one pair: opened, judged and closed. */
mgv_certificate mgv_judge_once(const double *X, const double *y, const double *weights, int64_t n,
                               int64_t d, const char *options, const double *w, const double *u,
                               mgvi_care care);
#endif
