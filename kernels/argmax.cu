// The allowed token with the greatest logit, per row.

#include "choose.cuh"

namespace formwork {

// Chooses by the logit alone.
struct Greedy {
    // Vectors on their way at a time.
    enum : u32 { ROUNDS = 8 };

    __device__ __forceinline__ explicit Greedy(const SampleKey *) {}

    template <typename Type>
    __device__ __forceinline__ void meet(const uint4 &logits, u32 bits, u32 first, Best &best) const {
#pragma unroll
        for (u32 index = 0; index < Type::WIDTH; index++) {
            if (bits >> index & 1) best.meet(logit_in<Type>(logits, index), first + index);
        }
    }

    __device__ __forceinline__ void meet_one(float logit, u32 token, Best &best) const {
        best.meet(logit, token);
    }

    __device__ __forceinline__ void share(Best &) const {}
};

}  // namespace formwork

extern "C" __global__ void formwork_argmax_f32(const formwork::ChooseArguments arguments) {
    formwork::choose<formwork::Float32, formwork::Greedy>(arguments);
}

extern "C" __global__ void formwork_argmax_f16(const formwork::ChooseArguments arguments) {
    formwork::choose<formwork::Float16, formwork::Greedy>(arguments);
}

extern "C" __global__ void formwork_argmax_bf16(const formwork::ChooseArguments arguments) {
    formwork::choose<formwork::BFloat16, formwork::Greedy>(arguments);
}
