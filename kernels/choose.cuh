// A token per row under its mask: what argmax.cu and sample.cu share.
//
// Nothing is written but the token. Of the logits only vectors that hold an allowed token are read.
// Several blocks share a row where rows are few: each reduces its tiles to the best (rank, token),
// the row's blocks meet in one 64-bit maximum, and the last to arrive writes the token and leaves
// the meeting place as it found it, zero, so that the kernel can be replayed.
//
// A Chooser says what a logit is worth; `keys` are its business alone.

#pragma once

#include "common.cuh"

namespace formwork {

// Where the blocks of an entry meet: zero before and after.
struct Meeting {
    u64 best;
    u32 arrived;
    u32 unused;
};

struct SampleKey {
    u64 seed;
    u64 step;
    u32 row;
    float scale; // one over the temperature; 0: the greatest logit
    u64 unused;
};

struct ChooseArguments {
    Batch batch;
    Masks masks;
    int *chosen;           // per entry; -1: no token is allowed
    Meeting *meetings;     // per entry
    const SampleKey *keys; // per entry; argmax has none
    u32 splits;            // blocks per entry
};

const u32 MOST_WARPS = 32;
// What a lane has found. A lane meets its tokens in ascending order, so that the first of
// equals stays.
struct Best {
    u32 rank;
    u32 token;
    // The score of the best of the warp, or less.
    float score;

    __device__ __forceinline__ void meet(float value, u32 at) {
        const u32 found = formwork::rank(value);
        if (found > rank) {
            rank = found;
            token = at;
            // A score of NaN stays below every other.
            score = value == value && value > score ? value : score;
        }
    }
};

// The allowed logits of the row's last vector when it would end past the row, one by one.
template <typename Type>
__device__ __forceinline__ uint4 load_singly(const typename Type::Bits *logits, u32 bits) {
    u32 parts[4] = {0, 0, 0, 0};
    const u32 per_part = Type::WIDTH / 4;
#pragma unroll
    for (u32 index = 0; index < Type::WIDTH; index++) {
        if (bits >> index & 1) {
            FORMWORK_READ(logits + index, sizeof(typename Type::Bits));
            parts[index / per_part] |= (u32)logits[index] << (index % per_part * 16);
        }
    }
    return make_uint4(parts[0], parts[1], parts[2], parts[3]);
}

// Meets the allowed tokens of a tile; `base` is its first token behind the head.
template <typename Type, typename Chooser>
__device__ __forceinline__ void meet_tile(const typename Type::Bits *logits, u32 base, u32 allowed,
                                          u32 tokens, const Chooser &chooser, Best &best) {
    const u32 WIDTH = Type::WIDTH;
    const u32 ROUNDS = TILE_TOKENS / (WARP * WIDTH);
    const u32 MOST = Chooser::ROUNDS;
    const u32 AT_ONCE = MOST < ROUNDS ? MOST : ROUNDS;
#pragma unroll 1
    for (u32 begin = 0; begin < ROUNDS; begin += AT_ONCE) {
        u32 bits[AT_ONCE];
        uint4 vectors[AT_ONCE];
        // All loads before the first use of any.
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++) {
            bits[k] = vector_bits<WIDTH>(allowed, begin + k);
            vectors[k] = make_uint4(0, 0, 0, 0);
            const u32 first = base + ((begin + k) * WARP + lane_id()) * WIDTH;
            if (!bits[k]) continue;
            if (first + WIDTH <= tokens) {
                FORMWORK_READ(logits + first, VECTOR_BYTES);
                vectors[k] = *(const uint4 *)(logits + first);
            } else {
                vectors[k] = load_singly<Type>(logits + first, bits[k]);
            }
        }
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++) {
            const u32 first = base + ((begin + k) * WARP + lane_id()) * WIDTH;
            if (bits[k]) chooser.template meet<Type>(vectors[k], bits[k], first, best);
        }
    }
    chooser.share(best);
}

// The best of the block's tiles of a row, in every lane of the first warp; 0 when there is none.
__device__ __forceinline__ u64 best_of_block(const Best &best, u64 *shared) {
    // Of equal ranks the lower token has the greater key.
    u64 key = best.rank ? (u64)best.rank << 32 | (u32)~best.token : 0;
#pragma unroll
    for (u32 distance = WARP / 2; distance; distance /= 2) {
        const u64 other = __shfl_xor_sync(EVERY_LANE, key, distance);
        key = other > key ? other : key;
    }
    if (lane_id() == 0) shared[threadIdx.x / WARP] = key;
    __syncthreads();
    if (threadIdx.x >= WARP) return 0;
    key = lane_id() < blockDim.x / WARP ? shared[lane_id()] : 0;
#pragma unroll
    for (u32 distance = WARP / 2; distance; distance /= 2) {
        const u64 other = __shfl_xor_sync(EVERY_LANE, key, distance);
        key = other > key ? other : key;
    }
    return key;
}

// One thread of each of an entry's blocks: the last to arrive writes the token.
__device__ __forceinline__ void conclude(const ChooseArguments &arguments, u32 entry, u64 key) {
    if (arguments.splits > 1) {
        Meeting *meeting = arguments.meetings + entry;
        if (key) atomicMax(&meeting->best, key);
        __threadfence();
        if (atomicAdd(&meeting->arrived, 1u) + 1 != arguments.splits) return;
        __threadfence();
        key = atomicExch(&meeting->best, (u64)0);
        atomicExch(&meeting->arrived, 0u);
    }
    arguments.chosen[entry] = key ? (int)~(u32)key : -1;
}

template <typename Type, typename Chooser>
__device__ __forceinline__ Best best_of_row(const ChooseArguments &arguments, i64 logits_row, u32 entry,
                                            u32 split) {
    typedef typename Type::Bits Bits;
    const u32 tokens = arguments.batch.tokens;
    const Bits *logits = (const Bits *)arguments.batch.logits + logits_row * arguments.batch.stride;
    const u32 lead = lead_of(logits);
    const Chooser chooser(arguments.keys + entry);
    RowMask row;
    open_mask(arguments.masks, entry, row);
    Best best;
    best.rank = 0;
    best.token = 0;
    best.score = __uint_as_float(0xff800000u);
    const u32 warps = blockDim.x / WARP;
    const u32 tiles = divide_up(tokens, TILE_TOKENS);
    for (u32 tile = split * warps + threadIdx.x / WARP; tile < tiles; tile += arguments.splits * warps) {
        TileWords words = load_tile(row, tile, tokens, lead);
        patch_tile(row, tile, tokens, words);
        if (tile == 0 && lead != 0) {
            const u32 head = __shfl_sync(EVERY_LANE, words.own, 0);
            if (lane_id() < lead && head >> lane_id() & 1) {
                FORMWORK_READ(logits + lane_id(), sizeof(Bits));
                chooser.meet_one(Type::value(logits[lane_id()]), lane_id(), best);
            }
        }
        const u32 allowed = shifted(words, lead);
        if (__any_sync(EVERY_LANE, allowed != 0)) {
            meet_tile<Type>(logits, lead + tile * TILE_TOKENS, allowed, tokens, chooser, best);
        }
    }
    return best;
}

template <typename Type, typename Chooser>
__device__ __forceinline__ void choose(const ChooseArguments &arguments) {
    __shared__ u64 shared[MOST_WARPS];
    const u32 entry = blockIdx.x / arguments.splits;
    const u32 split = blockIdx.x % arguments.splits;
    if (entry >= entries_in(arguments.batch)) return;
    const i64 logits_row = mapped(arguments.batch.logits_rows, entry);
    if (logits_row < 0) {
        if (split == 0 && threadIdx.x == 0) arguments.chosen[entry] = -1;
        return;
    }
    const Best best = best_of_row<Type, Chooser>(arguments, logits_row, entry, split);
    const u64 key = best_of_block(best, shared);
    if (threadIdx.x == 0) conclude(arguments, entry, key);
}

}  // namespace formwork
