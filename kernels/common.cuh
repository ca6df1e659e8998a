// What the kernels share: the arguments, the walk over a row's mask, and numbers.
//
// A row is cut into tiles of 1,024 tokens, which is 32 words of mask or one line of 128 bytes; a
// warp takes a tile, each lane loads one word once, and words go round by shuffles. Logits are
// moved in vectors of 16 bytes. A row need not begin at a multiple of 16 bytes: its first `lead`
// logits, up to the first that is so aligned, are its head and are moved singly; the tiles begin
// behind the head, and the mask's words are shifted to fit.
//
// Offsets into logits and masks are 64 bits wide. Nothing at or past `tokens` is read or written.
//
// The text includes no header, so that it compiles with NVRTC as it is. The layouts of the structs
// are those of `crates/apply/src/kernels.rs`. FORMWORK_READ is nothing here; the emulation on the
// processor uses it to check what is read.

#pragma once

#ifndef FORMWORK_READ
#define FORMWORK_READ(pointer, bytes)
#endif

namespace formwork {

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

const u32 WARP = 32;
const u32 EVERY_LANE = 0xffffffffu;
const u32 WORD_TOKENS = 32;
const u32 TILE_WORDS = 32;
const u32 TILE_TOKENS = 1024;
const u32 VECTOR_BYTES = 16;

// A mask as a resident row and its difference.
struct Message {
    int base;      // a row of `words`, or one of the two below
    u32 first;     // where the entries begin
    u32 added;     // entries that the mask allows
    u32 removed;   // entries behind them that it refuses
};
const int BASE_ONES = -1;
const int BASE_ZEROS = -2;

// The logits: `rows` entries of a batch, each one row.
struct Batch {
    void *logits;
    i64 stride;            // elements
    const int *logits_rows; // which row of logits an entry is; null: its own number; negative: none
    const u32 *live_rows;   // how many entries there are, at most `rows`; null: `rows`
    u32 rows;
    u32 tokens;
};

// The masks: packed rows, or messages about resident rows.
struct Masks {
    const u32 *words;
    const int *rows;         // which mask an entry has; null: its own number; negative: none
    const Message *messages; // null: masks are rows of `words`
    const u32 *entries;
    i64 stride;              // words
};

// One entry's mask: `words`, or `fill` everywhere when that is null, changed by the entries.
struct RowMask {
    const u32 *words;
    const u32 *entries;
    u32 fill;
    u32 added;
    u32 count;
};

__device__ __forceinline__ u32 lane_id() { return threadIdx.x % WARP; }

__device__ __forceinline__ u32 divide_up(u32 value, u32 by) { return (value + by - 1) / by; }

__device__ __forceinline__ u32 entries_in(const Batch &batch) {
    if (!batch.live_rows) return batch.rows;
    FORMWORK_READ(batch.live_rows, sizeof(u32));
    const u32 live = *batch.live_rows;
    return live < batch.rows ? live : batch.rows;
}

// The number that an entry has in a map; negative: leave it alone.
__device__ __forceinline__ i64 mapped(const int *map, u32 entry) {
    if (!map) return entry;
    FORMWORK_READ(map + entry, sizeof(int));
    return map[entry];
}

// The mask of an entry. False: it has none, everything is allowed.
__device__ __forceinline__ bool open_mask(const Masks &masks, u32 entry, RowMask &row) {
    row.words = 0;
    row.entries = 0;
    row.fill = 0xffffffffu;
    row.added = 0;
    row.count = 0;
    i64 index = mapped(masks.rows, entry);
    if (index < 0) return false;
    if (masks.messages) {
        FORMWORK_READ(masks.messages + index, sizeof(Message));
        const Message message = masks.messages[index];
        row.entries = masks.entries + message.first;
        row.added = message.added;
        row.count = message.added + message.removed;
        index = message.base;
        if (index == BASE_ONES) return message.removed != 0;
        row.fill = 0;
        if (index == BASE_ZEROS) return true;
    }
    row.words = masks.words + index * masks.stride;
    return true;
}

// The bits of a word that stand for tokens of the row.
__device__ __forceinline__ u32 token_bits(u32 word, u32 tokens) {
    const u32 first = word * WORD_TOKENS;
    if (first >= tokens) return 0;
    const u32 left = tokens - first;
    return left >= WORD_TOKENS ? 0xffffffffu : (1u << left) - 1;
}

// One word of a row before its entries are looked at; 0 past the row.
__device__ __forceinline__ u32 base_word(const RowMask &row, u32 word, u32 tokens) {
    const u32 bits = token_bits(word, tokens);
    if (bits == 0 || !row.words) return row.fill & bits;
    FORMWORK_READ(row.words + word, sizeof(u32));
    return row.words[word] & bits;
}

// The words of a tile: the lane's own, and in the last lane the one behind the tile.
struct TileWords {
    u32 own;
    u32 behind;
};

__device__ __forceinline__ TileWords load_tile(const RowMask &row, u32 tile, u32 tokens, u32 lead) {
    const u32 word = tile * TILE_WORDS + lane_id();
    TileWords words;
    words.own = base_word(row, word, tokens);
    words.behind = lead != 0 && lane_id() == WARP - 1 ? base_word(row, word + 1, tokens) : 0;
    return words;
}

// Changes a tile's words by the row's entries. All lanes of the warp take part.
__device__ __forceinline__ void patch_tile(const RowMask &row, u32 tile, u32 tokens, TileWords &words) {
    const u32 first_word = tile * TILE_WORDS;
    for (u32 begin = 0; begin < row.count; begin += WARP) {
        const u32 mine = begin + lane_id();
        u32 token = 0xffffffffu;
        if (mine < row.count) {
            FORMWORK_READ(row.entries + mine, sizeof(u32));
            token = row.entries[mine];
        }
        // One word more than the tile has: the one behind it.
        const bool near = token < tokens && token / WORD_TOKENS - first_word <= TILE_WORDS;
        for (u32 hits = __ballot_sync(EVERY_LANE, near); hits; hits &= hits - 1) {
            const u32 hit = __ffs(hits) - 1;
            const u32 changed = __shfl_sync(EVERY_LANE, token, hit);
            const u32 at = changed / WORD_TOKENS - first_word;
            const u32 bit = 1u << (changed % WORD_TOKENS);
            const bool add = begin + hit < row.added;
            if (at == lane_id()) words.own = add ? words.own | bit : words.own & ~bit;
            if (at == TILE_WORDS && lane_id() == WARP - 1) {
                words.behind = add ? words.behind | bit : words.behind & ~bit;
            }
        }
    }
}

// The words shifted so that bit 0 of the tile is the token `lead` behind its first.
__device__ __forceinline__ u32 shifted(const TileWords &words, u32 lead) {
    if (lead == 0) return words.own;
    const u32 below = __shfl_down_sync(EVERY_LANE, words.own, 1);
    const u32 next = lane_id() == WARP - 1 ? words.behind : below;
    return words.own >> lead | next << (WORD_TOKENS - lead);
}

// The bits of vector `round` of the lane, of a tile whose lanes hold its words.
template <u32 WIDTH>
__device__ __forceinline__ u32 vector_bits(u32 words, u32 round) {
    const u32 per_word = WORD_TOKENS / WIDTH;
    const u32 word = __shfl_sync(EVERY_LANE, words, round * WIDTH + lane_id() / per_word);
    return word >> (lane_id() % per_word * WIDTH) & ((1u << WIDTH) - 1);
}

// How many logits stand before the first that is aligned to a vector.
template <typename Bits>
__device__ __forceinline__ u32 lead_of(const Bits *logits) {
    return (u32)((VECTOR_BYTES - (u64)logits % VECTOR_BYTES) % VECTOR_BYTES / sizeof(Bits));
}

// The three types of logits: their bits, minus infinity, their value.
struct Float32 {
    typedef u32 Bits;
    enum : u32 { WIDTH = 4, REFUSED = 0xff800000u };
    static __device__ __forceinline__ float value(u32 bits) { return __uint_as_float(bits); }
};

struct Float16 {
    typedef u16 Bits;
    enum : u32 { WIDTH = 8, REFUSED = 0xfc00u };
    // As `half_to_f32` of crates/apply.
    static __device__ __forceinline__ float value(u32 bits) {
        const u32 magnitude = (bits & 0x7fff) << 13;
        const float two_pow_112 = __uint_as_float((127u + 112u) << 23);
        const u32 scaled = (bits & 0x7c00) == 0x7c00
            ? magnitude | 0x7f800000u
            : __float_as_uint(__uint_as_float(magnitude) * two_pow_112);
        return __uint_as_float(scaled | (bits & 0x8000) << 16);
    }
};

struct BFloat16 {
    typedef u16 Bits;
    enum : u32 { WIDTH = 8, REFUSED = 0xff80u };
    static __device__ __forceinline__ float value(u32 bits) { return __uint_as_float(bits << 16); }
};

// Logit `index` of a vector of WIDTH logits.
template <typename Type>
__device__ __forceinline__ float logit_in(const uint4 &vector, u32 index) {
    const u32 parts[4] = {vector.x, vector.y, vector.z, vector.w};
    if (Type::WIDTH == 4) return Type::value(parts[index % 4]);
    return Type::value(parts[index / 2] >> (index % 2 * 16) & 0xffff);
}

// As `rank` of crates/apply: a number whose order is the order of logits, never 0.
__device__ __forceinline__ u32 rank(float value) {
    if (value != value) return 1;
    const u32 bits = __float_as_uint(value + 0.0f);
    return bits ^ ((u32)((int)bits >> 31) | 0x80000000u);
}

}  // namespace formwork
