# peer_glmnet.R FOLDER INTERCEPT END LIMIT ALPHA POINTS - cv.glmnet on what bench_lasso left in FOLDER; prints
# "result SECONDS CV_ERROR TEST_ERROR NONZEROS", summed (seconds) and averaged over the repeats.
suppressMessages(library(glmnet))
suppressMessages(library(Matrix))
a <- commandArgs(trailingOnly = TRUE)
raw <- function(name, what, n) readBin(file.path(a[1], name), what, n, size = if (what == "integer") 4 else 8)
shape <- raw("shape", "integer", 4)
n <- shape[1]; d <- shape[2]; nnz <- shape[3]
X <- if (shape[4]) matrix(raw("val", "double", nnz), n, d) else
    new("dgCMatrix", p = raw("ptr", "integer", d + 1), i = raw("idx", "integer", nnz),
        x = raw("val", "double", nnz), Dim = c(n, d))
y <- raw("y", "double", n)
fold <- raw("fold", "integer", 1e7)
repeats <- length(fold) / n
# glmnet divides y by its spread, and with it the part of l2 by as much: this alpha is ALPHA for the others
alpha_of <- function(y) {
    alpha <- as.numeric(a[5])
    alpha / (alpha + (1 - alpha) * sqrt(mean((y - if (a[2] == "1") mean(y) else 0)^2)))
}
total <- error <- test <- nonzeros <- 0
for (r in seq_len(repeats)) {
    f <- fold[(r - 1) * n + seq_len(n)]
    own <- f > 0
    A <- if (all(own)) X else X[own, , drop = FALSE]
    seconds <- system.time(m <- cv.glmnet(A, y[own], foldid = f[own], intercept = a[2] == "1",
                                          standardize = FALSE, alpha = alpha_of(y[own]),
                                          nlambda = as.integer(a[6]),
                                          lambda.min.ratio = as.numeric(a[3])))[["elapsed"]]
    total <- total + seconds
    error <- error + min(m$cvm) / repeats
    nonzeros <- nonzeros + sum(coef(m, s = "lambda.min")[-1] != 0) / repeats
    if (!all(own))
        test <- test + mean((predict(m, X[!own, , drop = FALSE], s = "lambda.min") - y[!own])^2) / repeats
}
cat("result", total, error, test, nonzeros, "\n")
