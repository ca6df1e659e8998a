// Just enough of CUDA's execution model to run kernels on the processor.
//
// A block's threads are fibers of one operating-system thread. A fiber runs until it comes to
// something that concerns others, a shuffle, a vote or a barrier, and waits there until all of them
// have come; a round over all fibers in which nobody moves is a deadlock, which a device would hang
// in, and ends the process with a message. Blocks run one after another in an order of the caller's
// choosing. Only full warps and full masks are supported, which is all that the kernels use.
//
// Every read that the kernels announce by FORMWORK_READ is checked against the ranges that the
// caller has named, and its 32-byte sectors are counted where the range asks for it.

#pragma once

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <algorithm>
#include <vector>

namespace simt {

struct Dimensions {
    unsigned x, y, z;
};

struct Range {
    uintptr_t begin, end;
    bool counted;
};

struct Warp {
    uint64_t deposited[32];
    // What the lanes of the last exchange deposited.
    uint64_t settled[32];
    unsigned arrived;
    unsigned long generation;
};

struct Fiber {
    ucontext_t start;
    jmp_buf at;
    bool started, ended;
};

const unsigned STACK = 256 * 1024;

inline std::vector<Range> ranges;
inline std::vector<uintptr_t> sectors;
inline std::vector<Fiber> fibers;
inline std::vector<Warp> warps;
inline std::vector<char> stacks;
inline jmp_buf scheduler;
inline ucontext_t scheduler_context;
inline unsigned current;
inline unsigned barrier_arrived;
inline unsigned long barrier_generation;
inline bool moved;
inline void (*body)(const void *);
inline const void *body_arguments;

inline Dimensions thread, block, block_size, grid_size;

[[noreturn]] inline void fail(const char *what) {
    fprintf(stderr, "simt: %s (block %u, thread %u)\n", what, block.x, current);
    abort();
}

inline void check_read(const void *pointer, size_t bytes) {
    const uintptr_t begin = (uintptr_t)pointer;
    for (const Range &range : ranges) {
        if (begin < range.begin || begin + bytes > range.end) continue;
        if (begin % bytes != 0 && bytes <= 16) fail("a misaligned read");
        if (range.counted) sectors.push_back(begin / 32);
        return;
    }
    fail("a read of memory that is not the kernel's");
}

// Gives the others their turn.
inline void wait() {
    const Dimensions mine = thread;
    const unsigned self = current;
    if (_setjmp(fibers[self].at) == 0) _longjmp(scheduler, 1);
    current = self;
    thread = mine;
}

// Deposits a value and waits for the warp; the values are in `settled` until the next exchange.
inline const uint64_t *exchange(unsigned mask, uint64_t value) {
    if (mask != 0xffffffffu) fail("a mask that is not full");
    Warp &warp = warps[current / 32];
    const unsigned long generation = warp.generation;
    warp.deposited[current % 32] = value;
    moved = true;
    if (++warp.arrived == 32) {
        memcpy(warp.settled, warp.deposited, sizeof warp.settled);
        warp.arrived = 0;
        warp.generation++;
    }
    while (warp.generation == generation) wait();
    moved = true;
    return warp.settled;
}

inline void barrier() {
    const unsigned long generation = barrier_generation;
    moved = true;
    if (++barrier_arrived == block_size.x) {
        barrier_arrived = 0;
        barrier_generation++;
    }
    while (barrier_generation == generation) wait();
    moved = true;
}

inline void run_fiber() {
    body(body_arguments);
    fibers[current].ended = true;
    moved = true;
    _longjmp(scheduler, 1);
}

inline void run_block() {
    warps.assign(block_size.x / 32, Warp());
    fibers.assign(block_size.x, Fiber());
    barrier_arrived = 0;
    unsigned alive = block_size.x;
    while (alive) {
        moved = false;
        alive = 0;
        for (unsigned index = 0; index < block_size.x; index++) {
            Fiber &fiber = fibers[index];
            if (fiber.ended) continue;
            current = index;
            thread = {index, 0, 0};
            if (_setjmp(scheduler) == 0) {
                if (fiber.started) _longjmp(fiber.at, 1);
                fiber.started = true;
                getcontext(&fiber.start);
                fiber.start.uc_stack.ss_sp = stacks.data() + (size_t)index * STACK;
                fiber.start.uc_stack.ss_size = STACK;
                fiber.start.uc_link = &scheduler_context;
                makecontext(&fiber.start, run_fiber, 0);
                setcontext(&fiber.start);
            }
            if (!fibers[current].ended) alive++;
        }
        if (alive && !moved) fail("threads wait for each other");
    }
}

// Runs a kernel. `stride` visits the blocks in steps, and must have no divisor in common with
// their number.
inline void launch(void (*kernel)(const void *), const void *arguments, unsigned blocks,
                   unsigned threads, unsigned stride) {
    if (threads % 32) fail("a block of broken warps");
    body = kernel;
    body_arguments = arguments;
    block_size = {threads, 1, 1};
    grid_size = {blocks, 1, 1};
    stacks.resize((size_t)threads * STACK);
    for (unsigned at = 0; at < blocks; at++) {
        block = {(unsigned)((uint64_t)at * stride % blocks), 0, 0};
        run_block();
    }
}

template <typename Value>
Value as(uint64_t bits) {
    Value value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

template <typename Value>
uint64_t bits_of(Value value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}

}  // namespace simt

#define __global__
#define __device__
#define __forceinline__ inline
#define __noinline__
#define __shared__ static
#define __launch_bounds__(...)
#define threadIdx simt::thread
#define blockIdx simt::block
#define blockDim simt::block_size
#define gridDim simt::grid_size
#define FORMWORK_READ(pointer, bytes) simt::check_read((const void *)(pointer), bytes)

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float __uint_as_float(unsigned bits) { return simt::as<float>(bits); }
inline unsigned __float_as_uint(float value) { return (unsigned)simt::bits_of(value); }
inline int __ffs(int value) { return __builtin_ffs(value); }

template <typename Value>
Value __shfl_sync(unsigned mask, Value value, unsigned lane) {
    return simt::as<Value>(simt::exchange(mask, simt::bits_of(value))[lane % 32]);
}

template <typename Value>
Value __shfl_down_sync(unsigned mask, Value value, unsigned distance) {
    const unsigned from = simt::current % 32 + distance;
    const uint64_t *all = simt::exchange(mask, simt::bits_of(value));
    return from < 32 ? simt::as<Value>(all[from]) : value;
}

template <typename Value>
Value __shfl_xor_sync(unsigned mask, Value value, unsigned distance) {
    const unsigned from = simt::current % 32 ^ distance;
    return simt::as<Value>(simt::exchange(mask, simt::bits_of(value))[from % 32]);
}

inline unsigned __ballot_sync(unsigned mask, bool value) {
    const uint64_t *all = simt::exchange(mask, value);
    unsigned votes = 0;
    for (unsigned lane = 0; lane < 32; lane++) votes |= (unsigned)all[lane] << lane;
    return votes;
}

inline bool __any_sync(unsigned mask, bool value) { return __ballot_sync(mask, value) != 0; }
inline bool __all_sync(unsigned mask, bool value) { return __ballot_sync(mask, value) == 0xffffffffu; }
inline void __syncthreads() { simt::barrier(); }
inline void __threadfence() {}

template <typename Value>
Value atomicMax(Value *at, Value value) {
    const Value old = *at;
    *at = std::max(old, value);
    return old;
}

template <typename Value>
Value atomicAdd(Value *at, Value value) {
    const Value old = *at;
    *at += value;
    return old;
}

template <typename Value>
Value atomicExch(Value *at, Value value) {
    const Value old = *at;
    *at = value;
    return old;
}
