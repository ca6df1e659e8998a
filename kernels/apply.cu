// Masks onto logits: minus infinity where a token is refused.
//
// The logits are never read. A tile without a refused token costs its line of mask and one vote. A
// tile without an allowed one is 16-byte stores only. In others each lane stores whole vectors where
// all tokens of a vector are refused, and single logits where some are.
//
// The grid is as large as the device can hold at once; warps stride over the groups of tiles. A
// group has several tiles when there is work for all warps, so that several lines of mask are on
// their way at a time.

#include "common.cuh"

namespace formwork {

struct ApplyArguments {
    Batch batch;
    Masks masks;
    u32 group; // tiles of a group: 1 or 4
};

template <typename Type>
__device__ __forceinline__ void refuse(typename Type::Bits *logits, u32 token) {
    logits[token] = (typename Type::Bits)Type::REFUSED;
}

// Stores under a tile's refused tokens; `base` is the tile's first token behind the head. A function
// of its own: inlined wherever a group calls it, it would be most of the code.
template <typename Type>
__device__ __noinline__ void store_tile(typename Type::Bits *logits, u32 base, u32 refused) {
    const u32 WIDTH = Type::WIDTH;
    const u32 all = (1u << WIDTH) - 1;
    const u32 pattern = WIDTH == 4 ? Type::REFUSED : Type::REFUSED * 0x10001u;
    const uint4 vector = make_uint4(pattern, pattern, pattern, pattern);
    if (__all_sync(EVERY_LANE, refused == 0xffffffffu)) {
#pragma unroll
        for (u32 round = 0; round < TILE_TOKENS / (WARP * WIDTH); round++) {
            *(uint4 *)(logits + base + (round * WARP + lane_id()) * WIDTH) = vector;
        }
        return;
    }
#pragma unroll
    for (u32 round = 0; round < TILE_TOKENS / (WARP * WIDTH); round++) {
        const u32 bits = vector_bits<WIDTH>(refused, round);
        const u32 first = base + (round * WARP + lane_id()) * WIDTH;
        if (bits == all) {
            *(uint4 *)(logits + first) = vector;
        } else if (bits) {
#pragma unroll
            for (u32 index = 0; index < WIDTH; index++) {
                if (bits >> index & 1) refuse<Type>(logits, first + index);
            }
        }
    }
}

template <typename Type, u32 GROUP>
__device__ __forceinline__ void apply_groups(const ApplyArguments &arguments) {
    typedef typename Type::Bits Bits;
    const u32 tokens = arguments.batch.tokens;
    const u32 tiles = divide_up(tokens, TILE_TOKENS);
    const u32 groups = divide_up(tiles, GROUP);
    const u32 total = entries_in(arguments.batch) * groups;
    const u32 warps = gridDim.x * (blockDim.x / WARP);
    for (u32 at = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP; at < total; at += warps) {
        const u32 entry = at / groups;
        const u32 first_tile = at % groups * GROUP;
        RowMask row;
        const i64 logits_row = mapped(arguments.batch.logits_rows, entry);
        if (logits_row < 0 || !open_mask(arguments.masks, entry, row)) continue;
        Bits *logits = (Bits *)arguments.batch.logits + logits_row * arguments.batch.stride;
        const u32 lead = lead_of(logits);
        TileWords words[GROUP];
#pragma unroll
        for (u32 k = 0; k < GROUP; k++) words[k] = load_tile(row, first_tile + k, tokens, lead);
#pragma unroll
        for (u32 k = 0; k < GROUP; k++) {
            const u32 tile = first_tile + k;
            if (tile >= tiles) break;
            patch_tile(row, tile, tokens, words[k]);
            // Refused, and a token of the row.
            const u32 word = tile * TILE_WORDS + lane_id();
            TileWords refused;
            refused.own = ~words[k].own & token_bits(word, tokens);
            refused.behind = ~words[k].behind & token_bits(word + 1, tokens);
            if (tile == 0 && lead != 0) {
                const u32 head = __shfl_sync(EVERY_LANE, refused.own, 0);
                if (lane_id() < lead && head >> lane_id() & 1) refuse<Type>(logits, lane_id());
            }
            const u32 window = shifted(refused, lead);
            if (__any_sync(EVERY_LANE, window != 0)) {
                store_tile<Type>(logits, lead + tile * TILE_TOKENS, window);
            }
        }
    }
}

template <typename Type>
__device__ __forceinline__ void apply(const ApplyArguments &arguments) {
    if (arguments.group == 1) {
        apply_groups<Type, 1>(arguments);
    } else {
        apply_groups<Type, 4>(arguments);
    }
}

}  // namespace formwork

extern "C" __global__ void formwork_apply_f32(const formwork::ApplyArguments arguments) {
    formwork::apply<formwork::Float32>(arguments);
}

extern "C" __global__ void formwork_apply_f16(const formwork::ApplyArguments arguments) {
    formwork::apply<formwork::Float16>(arguments);
}

extern "C" __global__ void formwork_apply_bf16(const formwork::ApplyArguments arguments) {
    formwork::apply<formwork::BFloat16>(arguments);
}
