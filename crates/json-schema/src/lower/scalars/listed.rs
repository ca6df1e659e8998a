//! Lists of numbers as a tree of their digits.
//!
//! Numbers with the same digits, zeros around them left out, end at the same place; which of them
//! is meant is a matter of sign and point. Zeros behind the last digit lead on to places with the same
//! ends.

use crate::decimal::Decimal;
use formwork_automata::{Exhausted, Fuel};

#[derive(Debug, Default)]
struct Place {
    /// By digit; 0 is nowhere.
    next: [u32; 10],
    /// Signs and powers of ten of the numbers that have these digits.
    ends: Vec<(bool, i64)>,
}

/// The numbers of a list.
#[derive(Debug)]
pub(super) struct Tree {
    places: Vec<Place>,
    zero: bool,
}

impl Tree {
    /// Before the first digit.
    pub(super) const ROOT: u32 = 1;

    /// One state of fuel for each digit at most.
    pub(super) fn new<'d>(
        values: impl Iterator<Item = &'d Decimal>,
        fuel: &mut Fuel,
    ) -> Result<Self, Exhausted> {
        let mut tree = Self { places: vec![Place::default(), Place::default()], zero: false };
        for value in values {
            tree.zero |= value.is_zero();
            if value.is_zero() {
                continue;
            }
            let mut at = Self::ROOT as usize;
            for &digit in value.scaled().0 {
                fuel.steps(1)?;
                let digit = usize::from(digit - b'0');
                if tree.places[at].next[digit] == 0 {
                    tree.places[at].next[digit] = tree.add(Vec::new(), fuel)?;
                }
                at = tree.places[at].next[digit] as usize;
            }
            tree.places[at].ends.push((value.is_negative(), value.point()));
        }
        // Places are made before those they lead to.
        let mut done = Self::ROOT as usize + 1;
        let made = tree.places.len();
        while done < made {
            let ends = tree.places[done].ends.clone();
            let zeros = tree.places[done].next[0];
            if !ends.is_empty() {
                fuel.steps(ends.len())?;
                if zeros == 0 {
                    let padded = tree.add(ends, fuel)?;
                    tree.places[padded as usize].next[0] = padded;
                    tree.places[done].next[0] = padded;
                } else {
                    tree.places[zeros as usize].ends.extend(ends);
                }
            }
            done += 1;
        }
        Ok(tree)
    }

    fn add(&mut self, ends: Vec<(bool, i64)>, fuel: &mut Fuel) -> Result<u32, Exhausted> {
        fuel.state()?;
        let place = u32::try_from(self.places.len())
            .map_err(|_| Exhausted::States { limit: u32::MAX as usize })?;
        self.places.push(Place { ends, ..Place::default() });
        Ok(place)
    }

    /// Where a digit leads; the first one is not 0.
    pub(super) fn next(&self, place: u32, digit: u8) -> u32 {
        self.places[place as usize].next[usize::from(digit)]
    }

    pub(super) fn has_zero(&self) -> bool {
        self.zero
    }

    /// Whether a number with these digits has this sign and power of ten.
    pub(super) fn ends(&self, place: u32, negative: bool, power: i64) -> bool {
        self.places[place as usize].ends.contains(&(negative, power))
    }

    /// The powers of ten of the numbers that have these digits.
    pub(super) fn points_at(&self, place: u32) -> impl Iterator<Item = i64> + '_ {
        self.places[place as usize].ends.iter().map(|end| end.1)
    }

    /// The powers of ten of all numbers.
    pub(super) fn points(&self) -> impl Iterator<Item = i64> + '_ {
        self.places.iter().flat_map(|place| &place.ends).map(|end| end.1)
    }
}
