/* base/choices.h - settings that pick one of several words are values: the words and their
 * enumerators, once. W(NAME, "word") is given every one in its order. */
#ifndef MGVI_BASE_CHOICES_H
#define MGVI_BASE_CHOICES_H

#define MGVI_TASK_WORDS(W)                                                                         \
    W(TASK_AUTO, "auto")                                                                           \
    W(TASK_CLASSIFY, "classify")                                                                   \
    W(TASK_REGRESS, "regress")

/* linear: no kernel operator, the problem stays in the data's columns; else k(x, z) is
 *   rbf      exp(-|x - z|^2 / (2 sigma2))
 *   laplace  exp(-|x - z| / sqrt(sigma2)), Euclidean distance
 *   poly     (x.z / sigma2 + offset)^degree */
#define MGVI_KERNEL_WORDS(W)                                                                       \
    W(KERNEL_LINEAR, "linear")                                                                     \
    W(KERNEL_RBF, "rbf")                                                                           \
    W(KERNEL_LAPLACE, "laplace")                                                                   \
    W(KERNEL_POLY, "poly")                                                                         \
    W(KERNEL_PRECOMPUTED, "precomputed")

#define MGVI_SCALE_WORDS(W)                                                                        \
    W(SCALE_NONE, "none")                                                                          \
    W(SCALE_STD, "std")                                                                            \
    W(SCALE_MAXABS, "maxabs")                                                                      \
    W(SCALE_ROWNORM, "rownorm")                                                                    \
    W(SCALE_SQRT, "sqrt")

#define MGVI_GROUP_WEIGHT_WORDS(W)                                                                 \
    W(GROUP_WEIGHT_SQRT, "sqrt")                                                                   \
    W(GROUP_WEIGHT_ONE, "one")

#define MGVI_MULTICLASS_WORDS(W)                                                                   \
    W(MULTICLASS_AUTO, "auto")                                                                     \
    W(MULTICLASS_OVR, "ovr")                                                                       \
    W(MULTICLASS_OVO, "ovo")                                                                       \
    W(MULTICLASS_JOINT, "joint")

#define MGVI_SCHEDULE_WORDS(W)                                                                     \
    W(SCHEDULE_LOG, "log")                                                                         \
    W(SCHEDULE_SQRT, "sqrt")                                                                       \
    W(SCHEDULE_LINEAR, "1/t")                                                                      \
    W(SCHEDULE_SQUARE, "1/t^2")                                                                    \
    W(SCHEDULE_GEOMETRIC, "2^-t")                                                                  \
    W(SCHEDULE_CONSTANT, "constant")

#define MGVI_STEPS_WORDS(W)                                                                        \
    W(STEPS_SCALAR, "scalar")                                                                      \
    W(STEPS_DIAGONAL, "diagonal")

#define MGVI_ITERATE_WORDS(W)                                                                      \
    W(ITERATE_LAST, "last")                                                                        \
    W(ITERATE_AVERAGE, "average")

#define MGVI_SURROGATE_WORDS(W)                                                                    \
    W(SURROGATE_EXPONENTIAL, "exponential")                                                        \
    W(SURROGATE_LOGISTIC, "logistic")

/* How a step theta_t goes, t = 1, 2, ...: theta; theta/sqrt(t); sqrt(ln n/max_iter), n rows */
#define MGVI_THETA_WORDS(W)                                                                        \
    W(THETA_CONSTANT, "constant")                                                                  \
    W(THETA_SQRT, "sqrt")                                                                          \
    W(THETA_HORIZON, "horizon")

/* lambda_t of Nesterov's method in the dual: 2/(t + 2), or the one that shrinks fastest */
#define MGVI_DUAL_LAMBDA_WORDS(W)                                                                  \
    W(DUAL_LAMBDA_HARMONIC, "harmonic")                                                            \
    W(DUAL_LAMBDA_NESTEROV, "nesterov")

#define MGVI_RHO_WORDS(W)                                                                          \
    W(RHO_ONE, "1")                                                                                \
    W(RHO_ROWS, "n")

#define MGVI_PERCEPTRON_WORDS(W)                                                                   \
    W(PERCEPTRON_COUNTING, "counting")                                                             \
    W(PERCEPTRON_PROJECTED, "projected")

#define MGVI_EDGES_WORDS(W)                                                                        \
    W(EDGES_REFLECT, "reflect")                                                                    \
    W(EDGES_PERIODIC, "periodic")

#define MGVI_ALONG_WORDS(W)                                                                        \
    W(ALONG_AUTO, "auto")                                                                          \
    W(ALONG_MU, "mu")                                                                              \
    W(ALONG_LAMBDA, "lambda")

#define MGVI_BASE_WORDS(W)                                                                         \
    W(BASE_AUTO, "auto")                                                                           \
    W(BASE_0, "0")                                                                                 \
    W(BASE_1, "1")

#define MGVI_PRECISION_WORDS(W)                                                                    \
    W(PRECISION_AUTO, "auto")                                                                      \
    W(PRECISION_F32, "f32")                                                                        \
    W(PRECISION_F64, "f64")

#define MGVI_WISH_WORDS(W)                                                                         \
    W(WISH_AUTO, "auto")                                                                           \
    W(WISH_YES, "yes")                                                                             \
    W(WISH_NO, "no")

#define MGVI_CHOICE(NAME, word) MGVI_##NAME,
typedef enum mgvi_task { MGVI_TASK_WORDS(MGVI_CHOICE) } mgvi_task;
typedef enum mgvi_kernel_kind { MGVI_KERNEL_WORDS(MGVI_CHOICE) } mgvi_kernel_kind;
typedef enum mgvi_scaling { MGVI_SCALE_WORDS(MGVI_CHOICE) } mgvi_scaling;
typedef enum mgvi_group_weight { MGVI_GROUP_WEIGHT_WORDS(MGVI_CHOICE) } mgvi_group_weight;
typedef enum mgvi_multiclass { MGVI_MULTICLASS_WORDS(MGVI_CHOICE) } mgvi_multiclass;
typedef enum mgvi_schedule { MGVI_SCHEDULE_WORDS(MGVI_CHOICE) } mgvi_schedule;
typedef enum mgvi_step_kind { MGVI_STEPS_WORDS(MGVI_CHOICE) } mgvi_step_kind;
typedef enum mgvi_which_iterate { MGVI_ITERATE_WORDS(MGVI_CHOICE) } mgvi_which_iterate;
typedef enum mgvi_surrogate { MGVI_SURROGATE_WORDS(MGVI_CHOICE) } mgvi_surrogate;
typedef enum mgvi_theta_kind { MGVI_THETA_WORDS(MGVI_CHOICE) } mgvi_theta_kind;
typedef enum mgvi_dual_lambda { MGVI_DUAL_LAMBDA_WORDS(MGVI_CHOICE) } mgvi_dual_lambda;
typedef enum mgvi_rho { MGVI_RHO_WORDS(MGVI_CHOICE) } mgvi_rho;
typedef enum mgvi_perceptron_form { MGVI_PERCEPTRON_WORDS(MGVI_CHOICE) } mgvi_perceptron_form;
typedef enum mgvi_edges { MGVI_EDGES_WORDS(MGVI_CHOICE) } mgvi_edges;
typedef enum mgvi_along { MGVI_ALONG_WORDS(MGVI_CHOICE) } mgvi_along;
typedef enum mgvi_index_base { MGVI_BASE_WORDS(MGVI_CHOICE) } mgvi_index_base;
typedef enum mgvi_wanted_precision { MGVI_PRECISION_WORDS(MGVI_CHOICE) } mgvi_wanted_precision;
typedef enum mgvi_wish { MGVI_WISH_WORDS(MGVI_CHOICE) } mgvi_wish;
#undef MGVI_CHOICE

/* {MGVI_SCALE_WORDS(MGVI_WORD)}: the words as an array. */
#define MGVI_WORD(NAME, word) word,
#endif
