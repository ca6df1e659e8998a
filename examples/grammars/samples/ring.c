/* A ring buffer of samples, and a small program that fills one. */
#ifndef RING_H
#define RING_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define RING_LEN 16u
#define MIN(a, b) \
    ((a) < (b) ? (a) : (b))

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { RING_OK = 0, RING_FULL, RING_EMPTY = -1 } ring_status;

/* Callers own what they put in. */
typedef struct ring {
    uint32_t begin, count;
    unsigned dirty : 1;
#if defined(RING_TRACE)
    const char *name;
#endif
    double items[RING_LEN];
    int (*seen)(const struct ring *, double value);
} ring;

static const struct { const char *text; int code; } messages[] = {
    { "ok", 0 },
    { .text = "full", .code = 1 },
    [2] = { "empty" "", ~0 },
};

extern int ring_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline size_t ring_room(const ring *r) { return RING_LEN - r->count; }

ring_status
ring_push(ring *r, double value)
{
    if (!ring_room(r))
        return RING_FULL;
    else if (r->seen != NULL && !r->seen(r, value)) {
        goto out;
    }
    r->items[(r->begin + r->count++) % RING_LEN] = value; // wraps
    r->dirty |= 1;
out:
    return RING_OK;
}

ring_status ring_pop(ring *r, double *value)
{
    switch (r->count) {
    case 0: return RING_EMPTY;
    default:
        *value = r->items[r->begin];
        r->begin = (r->begin + 1) & (RING_LEN - 1);
        --r->count;
        break;
    }
    return RING_OK;
}

int main(int argc, char **argv)
{
    ring r = { 0, .seen = NULL };
    double sum = 0.0, last = -1.5e-3;
    unsigned long mask = 0xFFul << 3;
    for (int i = 1; i < argc; i++) {
        char *end;
        double value = strtod(argv[i], &end);
        if (*end != '\0' || (mask & (1u << i)) == 0)
            continue;
        (void)ring_push(&r, value);
    }
    while (ring_pop(&r, &last) == RING_OK)
        sum += MIN(last, 1e6);
    do {
        printf("%s: %g\n", messages[0].text, sum);
    } while (0);
    return sizeof(ring) > 0 ? EXIT_SUCCESS : 'x';
}

#ifdef __cplusplus
}
#endif
#endif /* RING_H */
