// A token per row, drawn with the probabilities of the softmax over its allowed logits.
//
// The noise of a draw is a function of (seed, step, row, token); see crates/apply/src/noise.rs,
// whose functions stand here again. Both must be compiled without contraction of multiplications
// and additions.

#include "choose.cuh"

namespace formwork {

const float GREATEST_NOISE = 23.0f;

// One block of Philox4x32-10.
__device__ __forceinline__ uint4 philox(uint4 counter, u32 key0, u32 key1) {
#pragma unroll
    for (int round = 0; round < 10; round++) {
        const u64 first = (u64)0xd2511f53u * counter.x;
        const u64 second = (u64)0xcd9e8d57u * counter.z;
        counter = make_uint4((u32)(second >> 32) ^ counter.y ^ key0, (u32)second,
                             (u32)(first >> 32) ^ counter.w ^ key1, (u32)first);
        key0 += 0x9e3779b9u;
        key1 += 0xbb67ae85u;
    }
    return counter;
}

// The natural logarithm of a positive normal number.
__device__ __forceinline__ float logarithm(float value) {
    const u32 bits = __float_as_uint(value);
    const int exponent_bits = (int)(bits - 0x3f3504f3u) >> 23;
    const float f = __uint_as_float(bits - ((u32)exponent_bits << 23)) - 1.0f;
    float p = -0.07362868f;
    p = p * f + 0.12620327f;
    p = p * f + -0.13202104f;
    p = p * f + 0.14227115f;
    p = p * f + -0.1662137f;
    p = p * f + 0.19999826f;
    p = p * f + -0.25000852f;
    p = p * f + 0.33333355f;
    const float square = f * f;
    const float exponent = (float)exponent_bits;
    const float tail = square * f * p + exponent * -2.1219444e-4f - 0.5f * square;
    return exponent * 0.6933594f + (f + tail);
}

__device__ __forceinline__ float exponential(u32 bits) {
    const float two_pow_minus_32 = __uint_as_float((127u - 32u) << 23);
    if (bits < 1u << 26) {
        const float v = ((float)bits + 0.5f) * two_pow_minus_32;
        return v * (1.0f + v * (0.5f + v * (0.33333334f + v * 0.25f)));
    }
    return -logarithm(((float)~bits + 0.5f) * two_pow_minus_32);
}

__device__ __forceinline__ float gumbel(u32 bits) { return -logarithm(exponential(bits)); }

__device__ __forceinline__ uint4 noise_of(const SampleKey &key, u32 group) {
    const uint4 counter = make_uint4(group, key.row, (u32)key.step, (u32)(key.step >> 32));
    return philox(counter, (u32)key.seed, (u32)(key.seed >> 32));
}

__device__ __forceinline__ float noise_in(const uint4 &noise, u32 index) {
    const u32 low = index & 1 ? noise.y : noise.x;
    const u32 high = index & 1 ? noise.w : noise.z;
    return gumbel(index & 2 ? high : low);
}

// Logit `index` of a vector, where the index is known to the running thread only.
template <typename Type>
__device__ __forceinline__ float logit_at(const uint4 &vector, u32 index) {
    const u32 part = index * 4 / Type::WIDTH;
    const u32 low = part & 1 ? vector.y : vector.x;
    const u32 high = part & 1 ? vector.w : vector.z;
    const u32 bits = part & 2 ? high : low;
    if (Type::WIDTH == 4) return Type::value(bits);
    return Type::value(bits >> (index % 2 * 16) & 0xffff);
}

// Chooses by the scaled logit and its noise; by the logit alone where the key has no temperature.
struct Random {
    // Vectors on their way at a time.
    enum : u32 { ROUNDS = 4 };

    SampleKey key;
    bool greedy;

    __device__ __forceinline__ explicit Random(const SampleKey *at) {
        FORMWORK_READ(at, sizeof(SampleKey));
        key = *at;
        greedy = key.scale == 0.0f;
        if (greedy) key.scale = 1.0f;
    }

    // Whether the greatest noise could still make the token the best. NaN may.
    __device__ __forceinline__ bool may_win(float scaled, const Best &best) const {
        return !(scaled + GREATEST_NOISE < best.score);
    }

    __device__ __forceinline__ float score(float logit, const uint4 &noise, u32 token) const {
        const float scaled = logit * key.scale;
        return greedy ? scaled : scaled + noise_in(noise, token % 4);
    }

    template <typename Type>
    __device__ __forceinline__ void meet(const uint4 &logits, u32 bits, u32 first, Best &best) const {
        u32 open = 0;
#pragma unroll
        for (u32 index = 0; index < Type::WIDTH; index++) {
            const float scaled = logit_in<Type>(logits, index) * key.scale;
            if (bits >> index & 1 && may_win(scaled, best)) open |= 1u << index;
        }
        // A block of the generator serves four neighbours; no token is in this one.
        u32 group = 0xffffffffu;
        uint4 noise = make_uint4(0, 0, 0, 0);
#pragma unroll 1
        for (; open; open &= open - 1) {
            const u32 index = __ffs(open) - 1;
            const u32 token = first + index;
            if (token / 4 != group && !greedy) {
                group = token / 4;
                noise = noise_of(key, group);
            }
            best.meet(score(logit_at<Type>(logits, index), noise, token), token);
        }
    }

    __device__ __forceinline__ void meet_one(float logit, u32 token, Best &best) const {
        best.meet(score(logit, noise_of(key, token / 4), token), token);
    }

    // Lets every lane know the warp's best, so that more is passed over.
    __device__ __forceinline__ void share(Best &best) const {
#pragma unroll
        for (u32 distance = WARP / 2; distance; distance /= 2) {
            const float other = __shfl_xor_sync(EVERY_LANE, best.score, distance);
            best.score = other > best.score ? other : best.score;
        }
    }
};

}  // namespace formwork

extern "C" __global__ void formwork_sample_f32(const formwork::ChooseArguments arguments) {
    formwork::choose<formwork::Float32, formwork::Random>(arguments);
}

extern "C" __global__ void formwork_sample_f16(const formwork::ChooseArguments arguments) {
    formwork::choose<formwork::Float16, formwork::Random>(arguments);
}

extern "C" __global__ void formwork_sample_bf16(const formwork::ChooseArguments arguments) {
    formwork::choose<formwork::BFloat16, formwork::Random>(arguments);
}
