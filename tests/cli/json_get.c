/* json_get.c - `json_get FILE PATH`: the value at a dotted path, for test scripts. The file must be
 * one JSON object and nothing else. "#" is the length of an array; "" only checks the file. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print(const json_t *v)
{
    switch (json_typeof(v)) {
    case JSON_STRING:
        puts(json_string_value(v));
        break;
    case JSON_INTEGER:
        printf("%lld\n", (long long)json_integer_value(v));
        break;
    case JSON_REAL:
        printf("%.17g\n", json_real_value(v));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        puts(json_is_true(v) ? "true" : "false");
        break;
    case JSON_NULL:
        puts("null");
        break;
    default:
        puts(json_is_array(v) ? "array" : "object");
    }
}

int main(int argc, char **argv)
{
    json_error_t error;
    if (argc != 3)
        return 2;
    json_t *root = json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(root)) {
        fprintf(stderr, "json_get: %s: line %d: %s\n", argv[1], error.line, error.text);
        return 1;
    }
    const json_t *v = root;
    for (char *key = strtok(argv[2], "."); key; key = strtok(NULL, ".")) {
        if (strcmp(key, "#") == 0) {
            printf("%zu\n", json_array_size(v));
            return 0;
        }
        v = json_is_array(v) ? json_array_get(v, (size_t)atoi(key)) : json_object_get(v, key);
        if (!v) {
            fprintf(stderr, "json_get: %s: there is no '%s'\n", argv[1], key);
            return 1;
        }
    }
    print(v);
    json_decref(root);
    return 0;
}
