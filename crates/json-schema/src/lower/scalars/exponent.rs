//! Exponents whose value lies in given intervals.
//!
//! An exponent is a sign, or none, and digits, zeros in front included. Values are counted one by one
//! up to the farthest end of an interval; all beyond are alike.

use crate::lower::text::automaton;
use formwork_automata::{ByteSet, Dfa, Exhausted, Fuel};

/// Exponents beyond this are not compared with.
pub(super) const FARTHEST: i64 = 2_000;

/// The texts behind the letter `e` whose value is in one of the intervals; an end that is missing is
/// without bound. One state for each value up to the farthest end, fewer when minimal.
pub(super) fn exponents(
    intervals: &[(Option<i64>, Option<i64>)],
    fuel: &mut Fuel,
) -> Result<Dfa, Exhausted> {
    let ends = intervals.iter().flat_map(|&(low, high)| [low, high]).flatten();
    let beyond = ends.map(i64::abs).max().unwrap_or(0) + 1;
    let inside = |value: i64| {
        intervals.iter().any(|&(low, high)| {
            low.is_none_or(|low| low <= value) && high.is_none_or(|high| value <= high)
        })
    };
    automaton(
        |nfa, from, to| {
            for sign in [1, -1] {
                let begin = nfa.state()?;
                if sign == 1 {
                    nfa.empty(from, begin)?;
                }
                let mark = if sign == 1 { b'+' } else { b'-' };
                nfa.byte(from, ByteSet::single(mark), begin)?;
                let mut states = Vec::new();
                for value in 0..=beyond {
                    let state = nfa.state()?;
                    if inside(sign * value) {
                        nfa.empty(state, to)?;
                    }
                    states.push(state);
                }
                for (value, &state) in (0_i64..).zip(&states) {
                    for digit in 0..10_u8 {
                        let next = (value * 10 + i64::from(digit)).min(beyond);
                        let next = states[usize::try_from(next).expect("not negative")];
                        nfa.byte(state, ByteSet::single(b'0' + digit), next)?;
                        if value == 0 {
                            nfa.byte(begin, ByteSet::single(b'0' + digit), next)?;
                        }
                    }
                }
            }
            Ok(())
        },
        fuel,
    )
}
