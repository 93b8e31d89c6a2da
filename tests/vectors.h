/* vectors.h - the exact answers of tests/vectors, and a fit in one call. */
#ifndef MGV_TESTS_VECTORS_H
#define MGV_TESTS_VECTORS_H

#include "check.h"

#include <jansson.h>

json_t *mgv_vector_load(const char *name);     /* tests/vectors/NAME.json; json_decref it */
double mgv_vector_number(const json_t *value); /* JSON numbers or decimal strings */
/* A fresh array (free it) of the flattened numbers of `key`; *count may be NULL. */
double *mgv_vector_array(const json_t *object, const char *key, int64_t *count);

/* Data, problem, solver and model of one fit, freed by mgv_fit_free. */
typedef struct mgv_fit {
    mgv_ctx *ctx;
    double *X;
    mgv_data *data;
    mgv_settings *settings;
    mgv_problem *problem;
    mgv_solver *solver;
    mgv_certificate certificate;
    mgv_run_info run;
} mgv_fit;
/* `X` is n x d row-major (copied), `options` is "name=value name=value". Fails the test on error.
 */
void mgv_fit_start(mgv_fit *fit, const double *X, const double *y, int64_t n, int64_t d,
                   const char *options);
void mgv_fit_set(mgv_fit *fit, const char *options);
void mgv_fit_solve(mgv_fit *fit); /* problem, solver, run */
/* Instead of it: a started fit goes on from the checkpoint of the same run after `cut` iterations.
 */
void mgv_fit_continue(mgv_fit *fit, const double *X, const double *y, int64_t n, int64_t d,
                      const char *options, int64_t cut);
const double *mgv_fit_weights(const mgv_fit *fit); /* the problem's w */
void mgv_fit_free(mgv_fit *fit);
/* The law of every solver: 1, 2 and 3 threads, and a run broken off after `cut` iterations and
 * continued from its checkpoint, end in the same bits of w and u. */
void mgv_check_same_bits(const double *X, const double *y, int64_t n, int64_t d,
                         const char *options, int64_t cut);
/* Rows i of class i % classes around the unit vector of their class, labels 0, 1, ... */
void mgv_clouds(double *X, double *y, int64_t n, int64_t d, int classes);
/* Fits the same two-class rows with a loss of all classes at once and with its form for two: the
 * same optimum, and weights (linear, `d` of them) with w_1 - w_0 = w. */
void mgv_check_two_classes(const double *X, const double *y, int64_t n, int64_t d,
                           const char *joint, const char *single);
/* A random two-class set: labels from a plane plus noise. */
void mgv_random_set(uint64_t seed, int64_t n, int64_t d, double noise, double **X, double **y);
#endif
