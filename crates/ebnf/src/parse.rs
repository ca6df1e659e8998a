//! The text, read once: rules to bodies.
//!
//! # Idea
//! Groups are on a stack, and what they hold so far on two more, shared by all of them: elements of
//! the alternative in hand, and alternatives that are complete. So closing a group that is nothing
//! but a sequence, or nothing but an alternative among others, moves nothing: what it holds is its
//! parent's from then on. Without this, flattening 30,000 nested groups would copy what is inside
//! 30,000 times.
//!
//! # Why by hand
//! Whether a name begins a rule, and whether a bracket is a class or a list of attributes, depends
//! on what stands behind it, any number of blanks and comments later; dialects share most tokens
//! and differ in how some are cut. A generated parser would need a lexer that already knows all
//! this, and what then remains is the small loop below.

use crate::{
    Dialect, EbnfError, EbnfErrorKind as Kind, Options,
    attributes::{self, Attributes},
    characters,
    cursor::{Cursor, is_name_character},
    macros::{self, Macro},
};
use formwork_automata::{CancellationToken, Fuel};
use formwork_grammar::{
    Body, BodyBuilder, ExprId, GrammarBuilder, Limits, RuleId, TokenRef, TokenSet,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// What the text says, rule by rule.
#[derive(Debug)]
pub(crate) struct Parsed<'t> {
    /// Declares the rules, in the order of `rules`.
    pub(crate) grammar: GrammarBuilder,
    pub(crate) rules: Vec<Rule<'t>>,
    /// By name, the index of a rule.
    pub(crate) names: FxHashMap<&'t str, usize>,
    /// Rules that must be regular, since an operator is applied to them.
    pub(crate) operands: Vec<Operand>,
    pub(crate) fuel: Fuel,
    /// Nodes of all bodies.
    pub(crate) nodes: usize,
}

/// A rule that is mentioned.
#[derive(Debug)]
pub(crate) struct Rule<'t> {
    pub(crate) id: RuleId,
    pub(crate) name: &'t str,
    /// Offset of the first mention.
    pub(crate) mentioned: usize,
    pub(crate) definition: Option<Definition>,
}

/// What a rule is defined as.
#[derive(Debug)]
pub(crate) struct Definition {
    /// Offset of the name.
    pub(crate) at: usize,
    pub(crate) body: Body,
    /// What is promised to follow, and where it is.
    pub(crate) assertion: Option<(usize, Body)>,
    pub(crate) attributes: Attributes,
}

/// The operand of an operator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    /// Index of the rule.
    pub(crate) rule: usize,
    pub(crate) construct: &'static str,
    pub(crate) at: usize,
    pub(crate) length: usize,
}

/// An open group; the first of the stack is the rule itself.
#[derive(Debug)]
struct Group {
    /// Offset of the parenthesis.
    at: usize,
    /// Where its elements begin.
    elements: usize,
    /// Where its alternatives begin.
    alternatives: usize,
    /// Whether the alternative in hand is among `alternatives` already.
    spliced: bool,
}

pub(crate) struct Parser<'t, 'p> {
    pub(crate) cursor: Cursor<'t>,
    pub(crate) options: &'p Options,
    pub(crate) limits: &'p Limits,
    pub(crate) parsed: Parsed<'t>,
    /// The body of the rule in hand.
    pub(crate) body: BodyBuilder,
    /// Constructs whose names are rules of this grammar, and so mean those.
    shadowed: FxHashSet<&'static str>,
    groups: Vec<Group>,
    elements: Vec<ExprId>,
    alternatives: Vec<ExprId>,
}

/// Reads a text.
pub(crate) fn parse<'t>(
    text: &'t str,
    options: &Options,
    limits: &Limits,
) -> Result<Parsed<'t>, EbnfError> {
    let cursor = Cursor::new(text);
    if text.len() > limits.source_bytes {
        return Err(cursor.error_of(0, 0, Kind::SourceBytes { limit: limits.source_bytes }));
    }
    let parsed = Parsed {
        grammar: GrammarBuilder::new(),
        rules: Vec::new(),
        names: FxHashMap::default(),
        operands: Vec::new(),
        fuel: limits.fuel(&CancellationToken::new()),
        nodes: 0,
    };
    let mut parser = Parser {
        cursor,
        options,
        limits,
        parsed,
        body: BodyBuilder::new(),
        shadowed: macros::defined_as_rules(text),
        groups: Vec::new(),
        elements: Vec::new(),
        alternatives: Vec::new(),
    };
    parser.cursor.skip_blank();
    while parser.cursor.peek().is_some() {
        parser.rule()?;
    }
    Ok(parser.parsed)
}

impl<'t> Parser<'t, '_> {
    fn rule(&mut self) -> Result<(), EbnfError> {
        let at = self.cursor.offset();
        if !self.cursor.is_first_on_line() {
            return Err(self.cursor.expected("a new line"));
        }
        let name = self.name()?.ok_or_else(|| self.cursor.expected("the name of a rule"))?;
        let rule = self.mention(name, at)?;
        if self.parsed.rules[rule].definition.is_some() {
            return Err(self.cursor.error(at, Kind::DefinedTwice { name: name.into() }));
        }
        self.cursor.skip_blank();
        let attributes = match self.cursor.peek() {
            Some('[') => attributes::attributes(&mut self.cursor, name, self.options.dialect)?,
            _ => Attributes::default(),
        };
        self.cursor.expect("::=", "`::=`")?;
        self.body = BodyBuilder::new();
        let root = self.alternatives_up_to_the_end()?;
        let assertion = self.assertion()?;
        self.parsed.nodes += self.body.len();
        let builder = std::mem::take(&mut self.body);
        let assertion = assertion.map(|(at, expr)| (at, builder.clone().finish(expr)));
        let definition = Definition { at, body: builder.finish(root), assertion, attributes };
        self.parsed.rules[rule].definition = Some(definition);
        Ok(())
    }

    /// The alternatives of a rule, up to the next rule, an assertion or the end.
    fn alternatives_up_to_the_end(&mut self) -> Result<ExprId, EbnfError> {
        self.open(self.cursor.offset())?;
        while self.element()? {}
        match &self.groups[..] {
            [_] => self.finish_group(),
            [.., group] => Err(self.cursor.error_of(group.at, 1, Kind::UnclosedGroup)),
            [] => unreachable!("the rule's own group is closed here alone"),
        }
    }

    /// `(= …)` behind the alternatives: what is promised to follow the rule.
    fn assertion(&mut self) -> Result<Option<(usize, ExprId)>, EbnfError> {
        let at = self.cursor.offset();
        if !self.cursor.eat("(=") {
            return Ok(None);
        }
        // The group of what is asserted stands for a rule's own, and the one parenthesis that
        // closes it is left over.
        let asserted = self.alternatives_up_to_parenthesis(at)?;
        self.cursor.skip_blank();
        if self.cursor.peek().is_some() && !self.begins_rule() {
            return Err(self.cursor.expected("the next rule"));
        }
        Ok(Some((at, asserted)))
    }

    fn alternatives_up_to_parenthesis(&mut self, at: usize) -> Result<ExprId, EbnfError> {
        self.open(at)?;
        loop {
            self.cursor.skip_blank();
            if self.groups.len() == 1 && self.cursor.eat(")") {
                return self.finish_group();
            }
            if !self.element()? {
                let at = self.groups.last().map_or(at, |group| group.at);
                return Err(self.cursor.error_of(at, 1, Kind::UnclosedGroup));
            }
        }
    }

    /// Reads what comes next; `false` at the end of the alternatives, where nothing is read.
    fn element(&mut self) -> Result<bool, EbnfError> {
        self.cursor.skip_blank();
        let Some(next) = self.cursor.peek() else { return Ok(false) };
        let at = self.cursor.offset();
        match next {
            '|' => {
                self.cursor.bump();
                self.end_alternative()?;
            }
            '(' if self.cursor.rest().starts_with("(=") => {
                return match self.groups.len() {
                    1 => Ok(false),
                    _ => Err(self.cursor.error_of(at, 2, Kind::AssertionInside)),
                };
            }
            '(' => {
                self.cursor.bump();
                self.open(at)?;
            }
            ')' => self.close()?,
            '*' | '+' | '?' | '{' => self.quantifier()?,
            _ if is_name_character(next) || self.begins_dotted(next) => {
                if self.begins_rule() {
                    return Ok(false);
                }
                self.name_or_macro()?;
            }
            _ => {
                let element = self.terminal(next)?;
                self.elements.push(element);
            }
        }
        self.check_nodes()?;
        Ok(true)
    }

    fn terminal(&mut self, next: char) -> Result<ExprId, EbnfError> {
        let dialect = self.options.dialect;
        match next {
            '"' => {
                let text = characters::string(&mut self.cursor, dialect)?;
                Ok(self.body.literal(text.as_bytes()))
            }
            '[' => {
                let ranges = characters::class(&mut self.cursor, dialect)?;
                Ok(self.body.characters(&ranges))
            }
            '.' => {
                self.cursor.bump();
                Ok(self.body.characters(&characters::ANY))
            }
            '<' | '!' => self.token(),
            '/' => macros::regex_literal(self),
            ':' if self.cursor.rest().starts_with("::=") => {
                let at = self.cursor.offset();
                Err(self.cursor.error_of(at, 3, Kind::RuleInsideLine))
            }
            _ => Err(self.cursor.expected("a string, a class, a rule, a group or a token")),
        }
    }

    /// `<[id]>`, `<name>`, and `!` before it for every other token.
    fn token(&mut self) -> Result<ExprId, EbnfError> {
        let negated = self.cursor.eat("!");
        let start = self.cursor.offset();
        if !self.cursor.eat("<") {
            return Err(self.cursor.expected("`<`"));
        }
        let token = if self.cursor.eat("[") {
            let id = attributes::number(&mut self.cursor)?;
            if !self.cursor.eat("]>") {
                return Err(self.cursor.expected("`]>`"));
            }
            TokenRef::Ids(id, id)
        } else {
            self.cursor.eat_while(|character| !matches!(character, '>' | '\n' | '\r'));
            if !self.cursor.eat(">") {
                return Err(self.cursor.expected("`>`"));
            }
            TokenRef::Name(self.cursor.text()[start..self.cursor.offset()].into())
        };
        let set = if negated { TokenSet::all_except([token]) } else { TokenSet::of([token]) };
        Ok(self.body.tokens(set))
    }

    fn open(&mut self, at: usize) -> Result<(), EbnfError> {
        let limit = self.limits.nesting;
        if self.groups.len() > limit {
            return Err(self.cursor.error_of(at, 1, Kind::Nesting { limit }));
        }
        let (elements, alternatives) = (self.elements.len(), self.alternatives.len());
        self.groups.push(Group { at, elements, alternatives, spliced: false });
        Ok(())
    }

    /// Reads the `)` that comes next.
    fn close(&mut self) -> Result<(), EbnfError> {
        let at = self.cursor.offset();
        self.cursor.bump();
        let [.., parent, group] = &mut self.groups[..] else {
            return Err(self.cursor.error_of(at, 1, Kind::UnopenedGroup));
        };
        let is_sequence = self.alternatives.len() == group.alternatives;
        let is_first = group.elements == parent.elements && !parent.spliced;
        self.cursor.skip_blank();
        match self.cursor.peek() {
            Some('*' | '+' | '?' | '{') => {}
            _ if is_sequence => {
                self.groups.pop();
                return Ok(());
            }
            Some('|' | ')') if is_first => {
                parent.spliced = true;
                self.end_alternative()?;
                self.groups.pop();
                return Ok(());
            }
            _ => {}
        }
        let element = self.finish_group()?;
        self.elements.push(element);
        Ok(())
    }

    /// Makes an alternative of the elements in hand.
    fn end_alternative(&mut self) -> Result<(), EbnfError> {
        let Some(group) = self.groups.last_mut() else { unreachable!("a rule is a group") };
        if std::mem::take(&mut group.spliced) {
            return Ok(());
        }
        let sequence = self.body.seq(&self.elements[group.elements..]);
        self.elements.truncate(group.elements);
        self.alternatives.push(sequence);
        self.check_nodes()
    }

    /// Pops a group, and makes one expression of it.
    fn finish_group(&mut self) -> Result<ExprId, EbnfError> {
        self.end_alternative()?;
        let Some(group) = self.groups.pop() else { unreachable!("a group is finished once") };
        let choice = self.body.alt(&self.alternatives[group.alternatives..]);
        self.alternatives.truncate(group.alternatives);
        self.check_nodes()?;
        Ok(choice)
    }

    fn quantifier(&mut self) -> Result<(), EbnfError> {
        let at = self.cursor.offset();
        let (min, max) = match self.cursor.bump() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            _ => self.counts(at)?,
        };
        let first = self.groups.last().map_or(0, |group| group.elements);
        match self.elements[first..].last_mut() {
            None => Err(self.cursor.error(at, Kind::DanglingQuantifier)),
            Some(element) => {
                *element = self.body.repeat(*element, min, max);
                Ok(())
            }
        }
    }

    /// The counts of a quantifier whose brace has been read.
    fn counts(&mut self, at: usize) -> Result<(u32, Option<u32>), EbnfError> {
        self.cursor.skip_blank();
        let min = attributes::number(&mut self.cursor)?;
        self.cursor.skip_blank();
        let mut max = Some(min);
        if self.cursor.eat(",") {
            self.cursor.skip_blank();
            // XGrammar prints "no bound" as -1.
            max = match self.cursor.rest().starts_with('}') || self.cursor.eat("-1") {
                true => None,
                false => Some(attributes::number(&mut self.cursor)?),
            };
        }
        self.cursor.expect("}", "`}`")?;
        match max {
            Some(max) if max < min => {
                Err(self.cursor.error(at, Kind::ReversedQuantifier { min, max }))
            }
            _ => Ok((min, max)),
        }
    }

    fn name_or_macro(&mut self) -> Result<(), EbnfError> {
        let at = self.cursor.offset();
        let Some(name) = self.name()? else { unreachable!("a name was seen to begin here") };
        let after = self.cursor;
        self.cursor.skip_blank();
        let construct = Macro::named(name).filter(|construct| {
            self.cursor.rest().starts_with('(') && !self.shadowed.contains(construct.name())
        });
        let element = match construct {
            Some(construct) => macros::read(self, construct, at)?,
            None => {
                self.cursor = after;
                self.reference(name, at)?
            }
        };
        self.elements.push(element);
        Ok(())
    }

    /// A reference to a rule that need not be defined yet.
    pub(crate) fn reference(&mut self, name: &'t str, at: usize) -> Result<ExprId, EbnfError> {
        let rule = self.mention(name, at)?;
        Ok(self.body.rule(self.parsed.rules[rule].id))
    }

    /// The index of a rule that is mentioned at `at`.
    pub(crate) fn mention(&mut self, name: &'t str, at: usize) -> Result<usize, EbnfError> {
        if let Some(&rule) = self.parsed.names.get(name) {
            return Ok(rule);
        }
        let (rule, limit) = (self.parsed.rules.len(), self.limits.rules);
        if rule >= limit {
            return Err(self.cursor.error_of(at, name.len(), Kind::Rules { limit }));
        }
        let id = self.parsed.grammar.declare(name);
        self.parsed.rules.push(Rule { id, name, mentioned: at, definition: None });
        self.parsed.names.insert(name, rule);
        Ok(rule)
    }

    /// Reads the name that comes next, if one does.
    fn name(&mut self) -> Result<Option<&'t str>, EbnfError> {
        let dotted = self.options.dialect == Dialect::XGrammar;
        let at = self.cursor.offset();
        let name = self.cursor.eat_while(|next| is_name_character(next) || (dotted && next == '.'));
        if self.options.dialect == Dialect::Shared && self.cursor.rest().starts_with('.') {
            return Err(self.cursor.error_of(at, name.len() + 1, Kind::AmbiguousDot));
        }
        Ok(Some(name).filter(|name| !name.is_empty()))
    }

    /// Whether a dot comes next that begins a name: XGrammar's names have dots, and a dot alone is
    /// no name there.
    fn begins_dotted(&self, next: char) -> bool {
        let second = self.cursor.rest().chars().nth(1);
        self.options.dialect == Dialect::XGrammar
            && next == '.'
            && second.is_some_and(|second| second == '.' || is_name_character(second))
    }

    /// Whether the name that comes next is defined here: `::=` follows, perhaps after attributes.
    fn begins_rule(&self) -> bool {
        if !self.cursor.is_first_on_line() {
            return false;
        }
        let mut ahead = self.cursor;
        let name = ahead.eat_while(|next| is_name_character(next) || next == '.');
        ahead.skip_blank();
        if ahead.rest().starts_with('[') {
            skip_attributes(&mut ahead);
            ahead.skip_blank();
        }
        !name.is_empty() && ahead.rest().starts_with("::=")
    }

    pub(crate) fn check_nodes(&self) -> Result<(), EbnfError> {
        let limit = self.limits.nodes;
        match self.parsed.nodes + self.body.len() > limit {
            true => Err(self.cursor.error_of(0, self.cursor.text().len(), Kind::Nodes { limit })),
            false => Ok(()),
        }
    }
}

/// Skips what could be attributes: up to the `]` on this line that stands in no string.
fn skip_attributes(cursor: &mut Cursor<'_>) {
    let mut quoted = false;
    while let Some(next) = cursor.peek() {
        match next {
            '\n' | '\r' => return,
            ']' if !quoted => {
                cursor.bump();
                return;
            }
            '\\' if quoted => {
                cursor.bump();
            }
            '"' => quoted = !quoted,
            _ => {}
        }
        cursor.bump();
    }
}
