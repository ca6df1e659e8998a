//! A definition compiled by one backend, and found to do what the definition says before anything
//! is measured.

use crate::{Definition, Outcome, definitions};
use anyhow::{Context, Result, bail, ensure};
use formwork::{
    CompilationError, CompiledGrammar, Compiler, SharedBackend, StartOptions,
    StructuredOutputGrammar, TokenId, Vocabulary,
};
use std::sync::Arc;

/// A definition with one backend.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The definition.
    pub definition: Arc<Definition>,
    /// `BACKEND/DEFINITION`, for the benches' output.
    pub name: String,
    /// Vocabulary and backend, to compile it again.
    pub compiler: Compiler,
    /// What it compiled to.
    pub compiled: Arc<dyn CompiledGrammar>,
}

/// Every definition with every backend that can do it, all checked.
///
/// # Errors
/// When a definition cannot be read, or something does not do what its definition says.
pub fn subjects(vocabulary: &Arc<Vocabulary>) -> Result<Vec<Subject>> {
    let mut subjects = Vec::new();
    for definition in definitions()? {
        let definition = Arc::new(definition);
        for backend in formwork::backends() {
            let name = format!("{}/{}", backend.name(), definition.name);
            let subject = Subject::new(&definition, backend, vocabulary).with_context(|| name)?;
            subjects.extend(subject);
        }
    }
    Ok(subjects)
}

impl Subject {
    /// Compiles and checks; `None` when the backend cannot do it and the definition knows.
    ///
    /// # Errors
    /// When the compile fails, or the grammar does not do what the definition says.
    pub fn new(
        definition: &Arc<Definition>,
        backend: &SharedBackend,
        vocabulary: &Arc<Vocabulary>,
    ) -> Result<Option<Self>> {
        let compiler = Compiler::new(vocabulary.clone()).with_backend(backend.clone());
        let is_known = definition.expect.unsupported_by.iter().any(|name| name == backend.name());
        let compiled = match (compiler.compile(&definition.constraint), is_known) {
            (Ok(compiled), false) => compiled,
            (Ok(_), true) => bail!("`unsupported_by` is stale: the backend can do it"),
            (Err(error), true) if is_unsupported(&error) => return Ok(None),
            (Err(error), _) => return Err(error.into()),
        };
        let name = format!("{}/{}", backend.name(), definition.name);
        let subject = Self { definition: definition.clone(), name, compiler, compiled };
        subject.check_text()?;
        subject.check_counts(backend.name())?;
        Ok(Some(subject))
    }

    /// A matcher after the greedy tokens of `text`, and those tokens.
    ///
    /// # Errors
    /// When the text cannot be spelled or is not taken.
    pub fn after(&self, text: &str) -> Result<(Box<dyn StructuredOutputGrammar>, Vec<TokenId>)> {
        let mut matcher = self.compiled.clone().start(&StartOptions::default())?;
        let tokens = greedy_tokens(self.compiled.vocabulary(), text)?;
        matcher.accept_tokens(&tokens).with_context(|| format!("after {text:?}"))?;
        Ok((matcher, tokens))
    }

    fn check_text(&self) -> Result<()> {
        let expect = &self.definition.expect;
        let text = &self.definition.text;
        let mut matcher = self.compiled.clone().start(&StartOptions::default())?;
        let taken = text.bytes().position(|byte| {
            let token = self.compiled.vocabulary().tokens_with_bytes(&[byte]).next();
            token.is_none_or(|token| matcher.accept_tokens(&[token]).is_err())
        });
        let taken = taken.unwrap_or(text.len());
        let wanted = expect.bytes_taken.unwrap_or(text.len());
        ensure!(taken == wanted, "{taken} bytes of the text are taken, {wanted} expected");
        let outcome = match taken == text.len() && matcher.is_accepting() {
            true => Outcome::Accepted,
            false => Outcome::Refused,
        };
        ensure!(outcome == expect.outcome, "the text is {outcome:?}");
        for place in &self.definition.places {
            self.after(&place.after).with_context(|| format!("place `{}`", place.name))?;
        }
        Ok(())
    }

    fn check_counts(&self, backend: &str) -> Result<()> {
        let stats = self.compiled.stats();
        for count in self.definition.expect.counts.iter().filter(|count| count.backend == backend) {
            let value = stats.value(&count.counter);
            let value = value.with_context(|| format!("no counter `{}`", count.counter))?;
            ensure!(
                value.abs_diff(count.about) <= count.give_or_take,
                "{value} {}, expected {} give or take {}",
                count.counter,
                count.about,
                count.give_or_take
            );
        }
        Ok(())
    }
}

/// A grammar that is sound and that the backend lacks something for.
fn is_unsupported(error: &CompilationError) -> bool {
    matches!(error, CompilationError::Compile(formwork::CompileError::Unsupported(_)))
}

/// The longest token that the text begins with, and so on.
///
/// # Errors
/// When no token fits.
pub fn greedy_tokens(vocabulary: &Vocabulary, text: &str) -> Result<Vec<TokenId>> {
    let mut rest = text.as_bytes();
    let mut tokens = Vec::new();
    while !rest.is_empty() {
        let longest = (1..=rest.len().min(vocabulary.longest_token()))
            .rev()
            .find_map(|len| Some((vocabulary.tokens_with_bytes(&rest[..len]).next()?, len)));
        let (token, len) = longest.with_context(|| format!("no token begins {text:?}"))?;
        tokens.push(token);
        rest = &rest[len..];
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests;
