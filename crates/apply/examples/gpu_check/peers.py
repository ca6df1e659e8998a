"""Times what PyTorch and XGrammar do for the same ends; prints JSON, microseconds."""

import json

import torch

try:
    from xgrammar.kernels.apply_token_bitmask_inplace_triton import (
        apply_token_bitmask_inplace_triton as triton_apply,
    )
except Exception:
    triton_apply = None


def timed(work, times=20):
    medians = []
    for round_number in range(6):
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(times):
            work()
        end.record()
        end.synchronize()
        if round_number > 0:
            medians.append(begin.elapsed_time(end) * 1e3 / times)
    return sorted(medians)[len(medians) // 2]


def shape(rows, tokens, kind, fraction):
    logits = torch.randn(rows, tokens, device="cuda").to(kind)
    refused = torch.rand(tokens, device="cuda") < fraction
    words = (tokens + 31) // 32
    bits = torch.zeros(words * 32, dtype=torch.int64, device="cuda")
    bits[:tokens] = (~refused).long()
    weights = 1 << torch.arange(32, device="cuda")
    packed = (bits.view(words, 32) * weights).sum(1)
    packed = packed.where(packed < 2**31, packed - 2**32).to(torch.int32)
    packed = packed.expand(rows, words).contiguous()
    refused = refused.expand(rows, tokens).contiguous()
    times = {
        "rows": rows,
        "tokens": tokens,
        "kind": str(kind),
        "masked": fraction,
        "masked_fill": timed(lambda: logits.masked_fill_(refused, float("-inf"))),
        "argmax": timed(lambda: logits.argmax(-1)),
        "softmax_multinomial": timed(
            lambda: torch.multinomial(torch.softmax(logits.float(), -1), 1)
        ),
    }
    if triton_apply is not None:
        times["xgrammar_triton"] = timed(lambda: triton_apply(logits, packed))
    return times


def main():
    if not torch.cuda.is_available():
        raise SystemExit(1)
    kinds = (torch.float32, torch.bfloat16)
    fractions = (0.0001, 0.15, 0.5, 0.98, 0.999)
    print(
        json.dumps(
            [
                shape(rows, 128256, kind, fraction)
                for rows in (1, 64, 512, 4096)
                for kind in kinds
                for fraction in fractions
            ]
        )
    )


main()
