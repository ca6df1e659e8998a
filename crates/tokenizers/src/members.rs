//! JSON objects as they were written.

use formwork_vocab::Vocabulary;
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};
use std::{fmt, marker::PhantomData};

/// The members of a JSON object in their order. A map would keep the last of two members of one
/// name and lose the other.
#[derive(Debug)]
pub(crate) struct Members<T>(pub(crate) Vec<(String, T)>);

impl<T> Default for Members<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Members<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor(PhantomData))
    }
}

struct MembersVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for MembersVisitor<T> {
    type Value = Members<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object from names to ids")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<T>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            if members.len() == Vocabulary::MAX_TOKENS {
                return Err(A::Error::custom("more members than a vocabulary has ids"));
            }
            members.push(member);
        }
        Ok(Members(members))
    }
}
