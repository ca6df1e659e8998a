//! Random numbers that are a function of where they are used, the same on every machine.
//!
//! # Idea
//! A generator with a state would have to be asked for the tokens of a row in one fixed order, and
//! for those that a mask refuses too. A counter-based one is asked for (seed, step, row, token)
//! directly: skipping a token costs nothing and changes nothing. The generator is Philox4x32-10
//! (Salmon, Moraes, Dror, Shaw: *Parallel random numbers: as easy as 1, 2, 3*, 2011); one block
//! serves four neighbouring tokens.
//!
//! Adding Gumbel noise `-ln(-ln u)` to logits and taking the greatest draws from their softmax. Two
//! departures from the textbook: the exponential `-ln u` is computed from the near end of the unit
//! interval where it is small, because the large noise that decides for rare tokens comes from
//! there; and the logarithm is our own, out of single additions and multiplications that IEEE 754
//! rounds in one way, because every library's and every device's logarithm differs in its last bit.

/// No noise is greater.
pub(crate) const GREATEST: f32 = 23.0;

const ROUNDS: u32 = 10;
const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];

/// One block of Philox4x32-10.
#[inline]
pub(crate) fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..ROUNDS {
        let first = u64::from(MULTIPLIERS[0]) * u64::from(counter[0]);
        let second = u64::from(MULTIPLIERS[1]) * u64::from(counter[2]);
        counter = [
            (second >> 32) as u32 ^ counter[1] ^ key[0],
            second as u32,
            (first >> 32) as u32 ^ counter[3] ^ key[1],
            first as u32,
        ];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

/// ln(1 + f) = f - f²/2 + f³P(f) for f from sqrt(1/2) - 1 to sqrt(2) - 1; the coefficients of P,
/// highest first, are a weighted least-squares fit at Chebyshev nodes, relative error below 7e-9.
const LOGARITHM: [f32; 8] = [
    -0.073_628_68,
    0.126_203_27,
    -0.132_021_04,
    0.142_271_15,
    -0.166_213_7,
    0.199_998_26,
    -0.250_008_52,
    0.333_333_55,
];
/// ln 2 in two parts; the first has few enough bits that its product with an exponent is exact.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
/// Bits of sqrt(1/2).
const ROOT_HALF: u32 = 0x3f35_04f3;

/// The natural logarithm of a positive normal number.
#[inline]
fn ln(value: f32) -> f32 {
    let bits = value.to_bits();
    let exponent = bits.wrapping_sub(ROOT_HALF).cast_signed() >> 23;
    let f = f32::from_bits(bits.wrapping_sub((exponent << 23).cast_unsigned())) - 1.0;
    let mut p = LOGARITHM[0];
    for &coefficient in &LOGARITHM[1..] {
        p = p * f + coefficient;
    }
    let square = f * f;
    let exponent = exponent as f32;
    let tail = square * f * p + exponent * LN_2[1] - 0.5 * square;
    exponent * LN_2[0] + (f + tail)
}

const TWO_POW_MINUS_32: f32 = f32::from_bits((127 - 32) << 23);
/// Below this the series is exact to the last bits; above it the logarithm is.
const SERIES_BELOW: u32 = 1 << 26;

/// An exponentially distributed number out of 32 uniform bits: -ln(1 - (bits + 1/2) / 2^32).
#[inline]
fn exponential(bits: u32) -> f32 {
    if bits < SERIES_BELOW {
        let v = (bits as f32 + 0.5) * TWO_POW_MINUS_32;
        v * (1.0 + v * (0.5 + v * (0.333_333_34 + v * 0.25)))
    } else {
        -ln((!bits as f32 + 0.5) * TWO_POW_MINUS_32)
    }
}

/// Gumbel noise out of 32 uniform bits.
#[inline]
pub(crate) fn gumbel(bits: u32) -> f32 {
    -ln(exponential(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philox_gives_the_published_vectors() {
        // From the tests of the authors' Random123 library.
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox(
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0]
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn the_logarithm_is_one() {
        let step = if cfg!(miri) { 0x40_0001 } else { 997 };
        for bits in (0x2f00_0000_u32..0x4200_0000).step_by(step) {
            let value = f32::from_bits(bits);
            let (ours, exact) = (f64::from(ln(value)), f64::from(value).ln());
            assert!(
                (ours - exact).abs() <= 1.5e-7 * exact.abs().max(1e-3),
                "{value}: {ours} {exact}"
            );
        }
    }

    #[test]
    fn the_noise_is_gumbel_noise_and_bounded() {
        let step = if cfg!(miri) { 0x40_0001 } else { 0x1001 };
        let few = [0, 1, 2, SERIES_BELOW - 1, SERIES_BELOW, u32::MAX - 1, u32::MAX];
        for bits in (0..=u32::MAX).step_by(step).chain(few) {
            let v = (f64::from(bits) + 0.5) / 4_294_967_296.0;
            let exact = -(-(-v).ln_1p()).ln();
            let ours = f64::from(gumbel(bits));
            assert!((ours - exact).abs() < 4e-6, "{bits}: {ours} {exact}");
            assert!(ours < f64::from(GREATEST) && ours > -3.2);
        }
    }
}
