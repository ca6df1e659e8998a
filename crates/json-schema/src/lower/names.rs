//! Names of members, interned: the same text is the same name, whatever schema has it.

use std::{collections::HashMap, sync::Arc};

/// A name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NameId(u32);

/// All names met so far. Schemas choose them: the hashes are keyed at random.
#[derive(Debug, Default)]
pub(super) struct Names {
    texts: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, NameId>,
}

impl Names {
    pub(super) fn intern(&mut self, name: &str) -> NameId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = NameId(u32::try_from(self.texts.len()).expect("fewer than 2^32 names"));
        let name: Arc<str> = name.into();
        self.texts.push(name.clone());
        self.ids.insert(name, id);
        id
    }

    pub(super) fn text(&self, id: NameId) -> Arc<str> {
        self.texts[id.0 as usize].clone()
    }
}
