/* model/about.h - where a model comes from: the JSON object that its file has under `model`. Shown
 * by reports, never needed to predict. */
#ifndef MGVI_MODEL_ABOUT_H
#define MGVI_MODEL_ABOUT_H

#include "solver/driver.h"

/* NULL, NaN and -1: the file does not say. */
typedef struct mgvi_about {
    const char *version, *formula, *loss, *penalty, *scale, *solver, *stop;
    const char *rule, *method; /* of a selection, and the path that won it */
    double lambda, mu, primal, dual, relative_gap, margin, margin_upper;
    int64_t iterations, runs, point; /* point: the chosen one, from 0 */
    bool verified;
} mgvi_about;

/* The text, from the arena. */
mgv_status mgvi_about_write(mgvi_arena *arena, const mgv_solver *solver, char **text);
/* What of it can be understood: a text that says nothing is no error. */
mgv_status mgvi_about_read(mgvi_arena *arena, const char *text, mgvi_about *out);
#endif
