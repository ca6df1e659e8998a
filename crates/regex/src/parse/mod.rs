//! Text to tree.
//!
//! # Idea
//! One loop over the pattern with a stack of open groups; nothing recurses. Literal characters run
//! together until something else ends the run. A quantifier takes the last node of the sequence in
//! hand.

mod class;
mod cursor;
mod escape;
mod group;
mod quantifier;
mod sets;

use crate::{
    Case, Options, RegexError, RegexErrorKind as Kind,
    tree::{NodeId, SetId, Tree, TreeNode},
};
use cursor::Cursor;
use escape::{Escape, Place, QUOTED};
use formwork_automata::Fuel;
use formwork_grammar::{Limits, Polarity};
use group::{Anchors, Flags, Opened};
use sets::{Name, Sets, Sign};

/// Reads a pattern.
pub(crate) fn parse(
    pattern: &str,
    options: &Options,
    limits: &Limits,
    fuel: &mut Fuel,
) -> Result<Tree, RegexError> {
    if pattern.len() > limits.source_bytes {
        return Err(crate::whole(pattern, Kind::SourceBytes { limit: limits.source_bytes }));
    }
    let flags = Flags { case: options.case, dot: options.dot, anchors: Anchors::Output };
    let parser = Parser {
        cursor: Cursor::new(pattern),
        options: *options,
        limits,
        flags,
        tree: Tree::default(),
        sets: Sets::new(*options, fuel),
        open: Vec::new(),
        group: Group::new(0, flags),
        run: 0,
        nested: None,
    };
    parser.pattern()
}

/// The state of the loop.
struct Parser<'p, 'f> {
    cursor: Cursor<'p>,
    options: Options,
    limits: &'p Limits,
    /// Those that hold here.
    flags: Flags,
    tree: Tree,
    sets: Sets<'f>,
    /// The groups around the one in hand.
    open: Vec<Group>,
    group: Group,
    /// Where in the tree's text the run of literal characters in hand begins.
    run: usize,
    /// A lone `[` in a class, which some dialects read as a class in a class: were it one, a lone
    /// `]` would follow.
    nested: Option<usize>,
}

/// A group that is open.
struct Group {
    /// Where its parenthesis stands.
    start: usize,
    /// The flags that hold after it.
    outer: Flags,
    look: Option<Polarity>,
    alternatives: Vec<NodeId>,
    sequence: Vec<NodeId>,
    last: Last,
}

/// What a quantifier would find before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    /// Nothing, or what cannot be repeated.
    Nothing,
    /// A node, or the last character of the run.
    Atom,
    /// A repetition.
    Quantified,
}

impl Group {
    fn new(start: usize, outer: Flags) -> Self {
        let (alternatives, sequence) = (Vec::new(), Vec::new());
        Self { start, outer, look: None, alternatives, sequence, last: Last::Nothing }
    }
}

impl Parser<'_, '_> {
    fn pattern(mut self) -> Result<Tree, RegexError> {
        loop {
            let start = self.cursor.offset();
            let Some(next) = self.cursor.bump() else { break };
            self.token(start, next)?;
        }
        if !self.open.is_empty() {
            return Err(self.cursor.error_of(self.group.start, 1, Kind::UnclosedGroup));
        }
        self.finish_group()?;
        self.tree.sets = self.sets.finish();
        Ok(self.tree)
    }

    fn token(&mut self, start: usize, token: char) -> Result<(), RegexError> {
        match token {
            '(' => self.open_group(start),
            ')' => self.close_group(start),
            '|' => {
                let alternative = self.finish_sequence()?;
                self.group.alternatives.push(alternative);
                Ok(())
            }
            '[' => {
                let class = self.class(start)?;
                let set = self.sets.intern(&class);
                let set = set.map_err(|error| self.cursor.error(start, error.into()))?;
                self.atom_node(TreeNode::Set(set))
            }
            '.' => self.named(start, Name::Dot(self.flags.dot), Sign::Plain),
            '^' => self.anchor(start, TreeNode::Start),
            '$' => self.anchor(start, TreeNode::End),
            '*' | '+' | '?' | '{' => self.quantifier(start, token),
            '\\' => match self.escape(start, Place::Outside)? {
                Escape::Character(character) => self.character(start, character),
                Escape::Set(name, sign) => self.named(start, name, sign),
                Escape::Start => self.plain_anchor(TreeNode::Start),
                Escape::End => self.plain_anchor(TreeNode::End),
            },
            ']' => match self.nested {
                Some(at) if self.options.dialect == crate::Dialect::Shared => {
                    Err(self.cursor.error_of(at, 1, Kind::AmbiguousBrackets))
                }
                _ => self.character(start, ']'),
            },
            character => self.character(start, character),
        }
    }

    /// A literal character.
    fn character(&mut self, start: usize, character: char) -> Result<(), RegexError> {
        if self.flags.case == Case::Insensitive {
            let mut folded = sets::single(character);
            let set = self.sets.fold(&mut folded, Case::Insensitive);
            set.map_err(|error| self.cursor.error(start, error.into()))?;
            if folded.ranges().len() > 1 || folded.ranges()[0].len() > 1 {
                let set = self.sets.intern(&folded);
                let set = set.map_err(|error| self.cursor.error(start, error.into()))?;
                return self.atom_node(TreeNode::Set(set));
            }
        }
        self.tree.text.push(character);
        self.group.last = Last::Atom;
        Ok(())
    }

    fn named(&mut self, start: usize, name: Name, sign: Sign) -> Result<(), RegexError> {
        let set: Option<SetId> = self
            .sets
            .intern_named(name.clone(), sign, self.flags.case)
            .map_err(|error| self.cursor.error(start, error.into()))?;
        let set = set.ok_or_else(|| self.unknown(start, &name))?;
        self.atom_node(TreeNode::Set(set))
    }

    fn unknown(&self, start: usize, name: &Name) -> RegexError {
        let name = match name {
            Name::Property(name) => name.chars().take(QUOTED).collect(),
            _ => String::new(),
        };
        self.cursor.error(start, Kind::UnknownProperty { name })
    }

    /// `^` or `$`.
    fn anchor(&mut self, start: usize, node: TreeNode) -> Result<(), RegexError> {
        match self.flags.anchors {
            Anchors::Lines => Err(self.cursor.error(start, Kind::MultiLineAnchor)),
            Anchors::Output => self.plain_anchor(node),
        }
    }

    fn plain_anchor(&mut self, node: TreeNode) -> Result<(), RegexError> {
        self.atom_node(node)?;
        self.group.last = Last::Nothing;
        Ok(())
    }

    fn open_group(&mut self, start: usize) -> Result<(), RegexError> {
        match self.opening(start)? {
            Opened::Flags(flags) => {
                self.flags = flags;
                self.group.last = Last::Nothing;
            }
            Opened::Group(flags) => {
                self.nest(start)?;
                self.flags = flags;
            }
            Opened::Look(look) => {
                self.nest(start)?;
                self.group.look = Some(look);
                self.tree.first_look.get_or_insert(start);
            }
        }
        Ok(())
    }

    /// Makes a new group the one in hand.
    fn nest(&mut self, start: usize) -> Result<(), RegexError> {
        if self.open.len() >= self.limits.nesting {
            let kind = Kind::Nesting { limit: self.limits.nesting };
            return Err(self.cursor.error_of(start, 1, kind));
        }
        self.flush_run()?;
        let group = Group::new(start, self.flags);
        self.open.push(std::mem::replace(&mut self.group, group));
        Ok(())
    }

    fn close_group(&mut self, start: usize) -> Result<(), RegexError> {
        let Some(outer) = self.open.pop() else {
            return Err(self.cursor.error(start, Kind::UnopenedGroup));
        };
        let mut node = self.finish_group()?;
        let look = self.group.look;
        if let Some(look) = look {
            node = self.node(TreeNode::Look(node, look))?;
        }
        self.flags = self.group.outer;
        self.group = outer;
        self.group.sequence.push(node);
        self.group.last = if look.is_some() { Last::Nothing } else { Last::Atom };
        Ok(())
    }

    /// The node of the group in hand.
    fn finish_group(&mut self) -> Result<NodeId, RegexError> {
        let last = self.finish_sequence()?;
        let mut alternatives = std::mem::take(&mut self.group.alternatives);
        if alternatives.is_empty() {
            return Ok(last);
        }
        alternatives.push(last);
        self.node(TreeNode::Alt(alternatives.into()))
    }

    /// The node of the sequence in hand, which becomes empty.
    fn finish_sequence(&mut self) -> Result<NodeId, RegexError> {
        self.flush_run()?;
        self.group.last = Last::Nothing;
        let sequence = std::mem::take(&mut self.group.sequence);
        match sequence[..] {
            [only] => Ok(only),
            _ => self.node(TreeNode::Seq(sequence.into())),
        }
    }

    /// Makes a node of the run of literal characters in hand.
    fn flush_run(&mut self) -> Result<(), RegexError> {
        let run = self.run..self.tree.text.len();
        self.run = run.end;
        if !run.is_empty() {
            let node = self.node(TreeNode::Text(run))?;
            self.group.sequence.push(node);
        }
        Ok(())
    }

    fn atom_node(&mut self, node: TreeNode) -> Result<(), RegexError> {
        self.flush_run()?;
        let node = self.node(node)?;
        self.group.sequence.push(node);
        self.group.last = Last::Atom;
        Ok(())
    }

    fn node(&mut self, node: TreeNode) -> Result<NodeId, RegexError> {
        let limit = self.limits.nodes.min(NodeId::MAX as usize);
        if self.tree.nodes.len() >= limit {
            return Err(self.cursor.error(self.cursor.offset(), Kind::Nodes { limit }));
        }
        let id = NodeId::try_from(self.tree.nodes.len()).expect("below the limit");
        self.tree.nodes.push(node);
        Ok(id)
    }
}
