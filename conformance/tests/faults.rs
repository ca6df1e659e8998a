//! The suite finds what it looks for: a backend with one fault breaks the law in question.

use formwork_conformance::{
    random::{Construct, GrammarOptions, Recursion},
    sample::SampleBackend,
    suite::{Law, Options, run},
};
use formwork_core::{
    AcceptError, Assessment, CompileError, CompileRequest, CompiledGrammar, DeltaForm, Filled,
    Grammar, Limits, MaskDelta, RollbackError, RowId, StartError, StartOptions, StepError,
    StructuredOutputBackend, StructuredOutputGrammar, TokenId, Vocabulary,
};
use std::sync::Arc;

/// What is wrong with the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    OneTokenLess,
    PaddingIsSet,
    RowIsOnlyAddedTo,
    OneIdentityForAll,
    HeldRowIsWritten,
    DeltaIsAddedTo,
    CheckAllowsEverything,
    AcceptIsNotAtomic,
    ValidateCountsOneLess,
    ValidateChangesTheState,
    AcceptingTooOften,
    NeverTerminated,
    TokensAreCountedTwice,
    RollbackOneLess,
    RollbackTooFarIsIgnored,
    ResetForgetsTheLast,
    ForkStartsAfresh,
    ForcesMoreThanIsForced,
    ForcesNothing,
    IgnoresFixedBytes,
    EverythingIsSatisfiable,
}

impl Fault {
    const ALL: [(Self, &'static [Law]); 21] = [
        (Self::OneTokenLess, &[Law::Mask]),
        (Self::PaddingIsSet, &[Law::Mask]),
        (Self::RowIsOnlyAddedTo, &[Law::WholeRow]),
        (Self::OneIdentityForAll, &[Law::Identity]),
        (Self::HeldRowIsWritten, &[Law::Identity]),
        (Self::DeltaIsAddedTo, &[Law::Delta]),
        (Self::CheckAllowsEverything, &[Law::Agreement]),
        (Self::AcceptIsNotAtomic, &[Law::AtomicAccept]),
        (Self::ValidateCountsOneLess, &[Law::Agreement, Law::Validate]),
        (Self::ValidateChangesTheState, &[Law::Agreement, Law::Purity]),
        (Self::AcceptingTooOften, &[Law::Accepting]),
        (Self::NeverTerminated, &[Law::Termination]),
        (Self::TokensAreCountedTwice, &[Law::ProcessedTokens, Law::Agreement]),
        (Self::RollbackOneLess, &[Law::Rollback, Law::Agreement, Law::Purity, Law::Fork]),
        (Self::RollbackTooFarIsIgnored, &[Law::Rollback]),
        (Self::ResetForgetsTheLast, &[Law::Reset]),
        (Self::ForkStartsAfresh, &[Law::Agreement]),
        (Self::ForcesMoreThanIsForced, &[Law::ForcedBytes]),
        (Self::ForcesNothing, &[Law::ForcedBytes]),
        (Self::IgnoresFixedBytes, &[Law::FixedBytes, Law::Mask, Law::Accepting]),
        (Self::EverythingIsSatisfiable, &[Law::Satisfiability]),
    ];
}

#[derive(Debug)]
struct Faulty(Fault);

#[derive(Debug)]
struct Compiled {
    inner: Arc<dyn CompiledGrammar>,
    fault: Fault,
}

#[derive(Debug)]
struct Matcher {
    inner: Box<dyn StructuredOutputGrammar>,
    fresh: Box<dyn StructuredOutputGrammar>,
    fault: Fault,
}

impl StructuredOutputBackend for Faulty {
    fn name(&self) -> &str {
        "faulty"
    }

    fn assess(&self, grammar: &Grammar, vocabulary: &Vocabulary, limits: &Limits) -> Assessment {
        SampleBackend.assess(grammar, vocabulary, limits)
    }

    fn compile_blocking(
        &self,
        request: &CompileRequest,
    ) -> Result<Arc<dyn CompiledGrammar>, CompileError> {
        let inner = match SampleBackend.compile_blocking(request) {
            Err(CompileError::Unsatisfiable) if self.0 == Fault::EverythingIsSatisfiable => {
                let mut body = formwork_grammar::BodyBuilder::new();
                let root = body.empty();
                let grammar = Arc::new(Grammar::of_body(body.finish(root)));
                SampleBackend.compile_blocking(&CompileRequest { grammar, ..request.clone() })?
            }
            result => result?,
        };
        Ok(Arc::new(Compiled { inner, fault: self.0 }))
    }
}

impl CompiledGrammar for Compiled {
    fn start(
        self: Arc<Self>,
        options: &StartOptions,
    ) -> Result<Box<dyn StructuredOutputGrammar>, StartError> {
        let mut options = options.clone();
        if self.fault == Fault::IgnoresFixedBytes {
            options.fixed_bytes.clear();
        }
        let inner = self.inner.clone().start(&options)?;
        let fresh = inner.fork();
        Ok(Box::new(Matcher { inner, fresh, fault: self.fault }))
    }

    fn vocabulary(&self) -> &Arc<Vocabulary> {
        self.inner.vocabulary()
    }

    fn memory_bytes(&self) -> usize {
        self.inner.memory_bytes()
    }
}

impl Matcher {
    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }
}

impl StructuredOutputGrammar for Matcher {
    fn vocabulary(&self) -> &Arc<Vocabulary> {
        self.inner.vocabulary()
    }

    fn stop_ids(&self) -> &[TokenId] {
        self.inner.stop_ids()
    }

    fn fill_bitmask(&mut self, row: &mut [i32], held: RowId) -> Result<Filled, StepError> {
        let before = row.to_vec();
        let filled = self.inner.fill_bitmask(row, held)?;
        match self.fault {
            Fault::OneTokenLess if !self.inner.is_terminated() => {
                if let Some(word) = row.iter_mut().find(|word| **word != 0) {
                    *word &= *word - 1;
                }
            }
            Fault::PaddingIsSet => *row.last_mut().unwrap() |= i32::MIN,
            Fault::RowIsOnlyAddedTo => {
                row.iter_mut().zip(before).for_each(|(word, before)| *word |= before);
            }
            Fault::OneIdentityForAll => return Ok(Filled::Written(RowId::ZEROS)),
            Fault::HeldRowIsWritten if filled == Filled::Unchanged => row[0] = 0,
            _ => {}
        }
        Ok(filled)
    }

    fn accept_tokens(&mut self, tokens: &[TokenId]) -> Result<(), AcceptError> {
        let result = self.inner.accept_tokens(tokens);
        if let (Fault::AcceptIsNotAtomic, Err(error)) = (self.fault, &result) {
            self.inner.accept_tokens(&tokens[..error.index])?;
        }
        result
    }

    fn rollback(&mut self, tokens: usize) -> Result<(), RollbackError> {
        match self.fault {
            Fault::RollbackOneLess if tokens > 1 => self.inner.rollback(tokens - 1),
            Fault::RollbackTooFarIsIgnored => {
                self.inner.rollback(tokens.min(self.inner.num_processed_tokens()))
            }
            _ => self.inner.rollback(tokens),
        }
    }

    fn fork(&self) -> Box<dyn StructuredOutputGrammar> {
        let from = if self.is(Fault::ForkStartsAfresh) { &self.fresh } else { &self.inner };
        let (inner, fresh) = (from.fork(), self.fresh.fork());
        Box::new(Self { inner, fresh, fault: self.fault })
    }

    fn is_accepting(&self) -> bool {
        self.inner.is_accepting() || self.is(Fault::AcceptingTooOften)
    }

    fn is_terminated(&self) -> bool {
        self.inner.is_terminated() && !self.is(Fault::NeverTerminated)
    }

    fn processed_tokens(&self) -> Vec<TokenId> {
        self.inner.processed_tokens()
    }

    fn num_processed_tokens(&self) -> usize {
        let processed = self.inner.num_processed_tokens();
        if self.is(Fault::TokensAreCountedTwice) { 2 * processed } else { processed }
    }

    fn fixed_bytes(&self) -> &[u8] {
        self.inner.fixed_bytes()
    }

    fn validate_tokens(&mut self, tokens: &[TokenId]) -> usize {
        let valid = self.inner.validate_tokens(tokens);
        match self.fault {
            Fault::ValidateCountsOneLess => valid.saturating_sub(1),
            Fault::ValidateChangesTheState => {
                self.inner.accept_tokens(&tokens[..valid]).expect("these are valid");
                valid
            }
            _ => valid,
        }
    }

    fn check_token(&mut self, token: TokenId) -> bool {
        self.inner.check_token(token) || self.is(Fault::CheckAllowsEverything)
    }

    fn fill_delta(
        &mut self,
        row: &mut [i32],
        delta: &mut MaskDelta,
    ) -> Result<DeltaForm, StepError> {
        let before = delta.add.clone();
        let form = self.inner.fill_delta(row, delta)?;
        if self.is(Fault::DeltaIsAddedTo) {
            delta.add.extend(before);
        }
        Ok(form)
    }

    fn forced_bytes(&mut self, limit: usize, bytes: &mut Vec<u8>) {
        match self.fault {
            Fault::ForcesNothing => {}
            Fault::ForcesMoreThanIsForced if limit > 0 => bytes.push(b'a'),
            _ => self.inner.forced_bytes(limit, bytes),
        }
    }

    fn reset(&mut self) {
        match self.is(Fault::ResetForgetsTheLast) {
            true => self.inner.rollback(1).unwrap_or_default(),
            false => self.inner.reset(),
        }
    }
}

fn options() -> Options {
    let constructs = vec![Construct::Permute, Construct::Tokens];
    let recursion = Recursion::Linear;
    let grammars = vec![GrammarOptions { constructs, recursion, ..GrammarOptions::regular() }];
    Options { data: None, skips: None, grammars, cases: 120, ..Options::default() }
}

#[test]
fn every_fault_breaks_its_law() {
    assert!(run(&Faulty(Fault::None), &options()).is_clean());
    for (fault, laws) in Fault::ALL {
        let report = run(&Faulty(fault), &options());
        let violation = report.failures.first().and_then(|failure| failure.violation.as_ref());
        let law = violation.map(|violation| violation.law);
        assert!(law.is_some_and(|law| laws.contains(&law)), "{fault:?} was found as {law:?}");
    }
}
