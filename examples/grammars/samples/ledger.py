#!/usr/bin/env python3
"""A ledger that knows "quotes" and 'apostrophes'.

It is here to be read by a grammar.
"""
from __future__ import annotations

import dataclasses, sys
from collections.abc import (
    Iterable,  # what is summed
    Mapping as Map,
)
from .  import tables as tab

__all__ = ["Entry", 'Ledger']
LIMIT: int = 0x1F_FF
RATE, *REST = 1.5e-3, .5, 10j, 1_000


@dataclasses.dataclass(frozen=True)
class Entry:
    """One line."""
    name: str
    amount: float = 0.0

    def __post_init__(self) -> None:
        if not self.name or self.amount != self.amount:
            raise ValueError(f"bad entry: {self!r:>{LIMIT}}") from None


class Ledger(dict, Map):
    def add(self, entry: Entry, /, *notes: str, sign=+1, **extra) -> Ledger:
        total = self.get(entry.name, 0) + sign * entry.amount
        self[entry.name] = total if total is not None else -0.0
        for note in notes: self.setdefault("notes", []).append(note.strip(' \t"'))
        return self

    @property
    def largest(self):
        try:
            return max(self.items(), key=lambda pair, *_, default=None: pair[1])
        except (ValueError, TypeError) as error:
            print("empty:", error, file=sys.stderr); return None
        else:
            pass
        finally:
            del error

    async def settle(self, rate=RATE, *, hard: bool = False):
        async with self.lock as lock, open(rb'x' "y", mode='rb') as file:
            while (line := await file.readline()):
                if line[:2] == b'#!' or line[-1] in {0, 10} and not hard:
                    continue
                yield [int(x, base=16) ** 2 // 3 for x in line.split() if x if x != b'']
            else:
                assert lock is not None, \
                    'no lock'


def sums(rows: Iterable[tuple[str, float]]) -> dict[str, float]:
    global LIMIT
    result = {}
    for number, (name, value) in enumerate(rows):
        result[name] = result.get(name, 0) + value
        if number >= LIMIT:
            break
    # Dictionaries and sets of everything.
    merged = {**result, 'all': sum(v for v in result.values()), "n": ~len(result)}
    matrix = [[i @ j for j in range(i)][::-1] for i in (1, 2, 3,)]
    text = '''one "two" ''three''
    \''' four''' """five\n"""
    return merged or {k: v for k, v in matrix} and {*text} or None


match sys.argv:
    case [_, "sum", *names] if names:
        sums([(name, 1.) for name in names])
    case _:
        print(*(x for x in REST), sep=', ', end="")

if __name__ == '__main__': sys.exit(0)
