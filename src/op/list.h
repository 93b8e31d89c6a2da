/* op/list.h - the registered operators: NAME is src/op/NAME.c with its table mgvi_operator_NAME. */
OPERATOR(dense)
OPERATOR(csr)
OPERATOR(csc)
OPERATOR(view)
