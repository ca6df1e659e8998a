//! The backends there are, by the name that configuration selects them with.

use formwork_core::StructuredOutputBackend;
use formwork_dfa::DfaBackend;
use formwork_earley::EarleyBackend;
use formwork_pda::{PdaBackend, Precompute};
use std::{
    fmt,
    sync::{Arc, LazyLock},
};

/// A backend that several threads share.
pub type SharedBackend = Arc<dyn StructuredOutputBackend>;

/// Every backend of this build. A new one is a line here.
static BACKENDS: LazyLock<Vec<SharedBackend>> = LazyLock::new(|| {
    vec![
        Arc::new(DfaBackend),
        Arc::new(EarleyBackend),
        Arc::new(PdaBackend::new(Precompute::Nothing)),
        Arc::new(PdaBackend::new(Precompute::Everything)),
    ]
});

/// A name that no backend has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no backend named {name:?}; there are {}", Listed(&known()))]
pub struct UnknownBackend {
    /// The name that was asked for.
    pub name: Box<str>,
}

/// Every backend, in the order of preference.
#[must_use]
pub fn backends() -> &'static [SharedBackend] {
    &BACKENDS
}

/// The backend of a name.
///
/// # Errors
/// [`UnknownBackend`], whose text lists the names there are.
pub fn backend(name: &str) -> Result<SharedBackend, UnknownBackend> {
    let found = backends().iter().find(|backend| backend.name() == name);
    found.cloned().ok_or_else(|| UnknownBackend { name: name.into() })
}

fn known() -> Vec<&'static str> {
    backends().iter().map(|backend| backend.name()).collect()
}

/// Names as a list for people: `a, b`.
pub(crate) struct Listed<'a>(pub(crate) &'a [&'a str]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().enumerate() {
            write!(f, "{}`{name}`", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_name_leads_to_its_backend_and_is_there_once() {
        let names: HashSet<&str> = known().into_iter().collect();
        assert_eq!(names.len(), backends().len());
        for name in names {
            assert_eq!(backend(name).unwrap().name(), name);
        }
    }

    #[test]
    fn an_unknown_name_is_told_with_those_there_are() {
        let error = backend("dfas").unwrap_err().to_string();
        assert!(
            error.starts_with("there is no backend named \"dfas\"; there are `dfa`"),
            "{error}"
        );
    }
}
