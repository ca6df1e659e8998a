//! Names to definitions, and what may stand where.
//!
//! Named grammars are read when they are first referred to, so that they may refer to each other.

use crate::{
    Options, SubGrammar,
    ast::{
        Ast, DefId, Definition, Kind as DefinitionKind, Marker, ModuleId, Node, NodeId, PartIndex,
    },
    error::LarkErrorKind as Kind,
    fault::{Fault, Sources, fault},
    guidance,
    parse::parse,
};
use formwork_grammar::Limits;
use rustc_hash::FxHashMap;

/// What a name in [`Options::grammars`] has become.
#[derive(Clone, Copy)]
enum Resolved {
    Module(ModuleId),
    Part(PartIndex),
}

/// Resolves all names, reading named grammars on the way, and checks every body.
pub(crate) fn resolve(
    ast: &mut Ast,
    sources: &mut Sources,
    options: &Options,
    limits: &Limits,
) -> Result<(), Fault> {
    let mut named: FxHashMap<Box<str>, Resolved> = FxHashMap::default();
    let mut next: DefId = 0;
    while (next as usize) < ast.definitions.len() {
        for id in nodes_of(ast.definition(next)) {
            match ast.node(id) {
                Node::Name { .. } => resolve_name(ast, next, id)?,
                Node::Named(name) => {
                    let name = name.clone();
                    let resolved = match named.get(&name) {
                        Some(&known) => known,
                        None => {
                            let span = ast.span(id);
                            read((ast, sources), (&name, span), options, limits)?
                        }
                    };
                    named.insert(name, resolved);
                    ast.nodes[id as usize] = match resolved {
                        Resolved::Module(module) => Node::Module(module),
                        Resolved::Part(part) => Node::Part(part),
                    };
                }
                _ => {}
            }
        }
        check(ast, ast.definition(next))?;
        next += 1;
    }
    let starts = ast.modules.iter().map(|module| ast.definition(module.start));
    match starts.into_iter().find(|start| start.is_parametric) {
        Some(start) => {
            Err(fault(Kind::Parameter { what: "`start` cannot have a parameter" }, start.span))
        }
        None => Ok(()),
    }
}

/// The nodes of a definition, that of its marker included.
fn nodes_of(definition: &Definition) -> impl Iterator<Item = NodeId> + use<> {
    let marker = match definition.attributes.lazy {
        Some(Marker::Node(marker)) => Some(marker),
        _ => None,
    };
    definition.nodes().chain(marker)
}

fn resolve_name(ast: &mut Ast, user: DefId, id: NodeId) -> Result<(), Fault> {
    let span = ast.span(id);
    let module = ast.module(ast.definition(user).module);
    let Node::Name { name, argument } = ast.node(id) else { return Ok(()) };
    let Some(&definition) = module.by_name.get(name) else {
        return Err(fault(Kind::Undefined { name: name.clone() }, span));
    };
    let problem = match (argument, ast.definition(definition).is_parametric) {
        (None, true) => Some("this rule needs a parameter"),
        (Some(_), false) => Some("this rule has no parameter"),
        (Some(argument), true) if argument.is_relative() && !ast.definition(user).is_parametric => {
            Some("the rule around this has no parameter to pass on")
        }
        _ => None,
    };
    if let Some(what) = problem {
        return Err(fault(Kind::Parameter { what }, span));
    }
    let argument = *argument;
    ast.nodes[id as usize] = Node::Reference { definition, argument };
    Ok(())
}

fn read(
    (ast, sources): (&mut Ast, &mut Sources),
    (name, span): (&str, crate::ast::Span),
    options: &Options,
    limits: &Limits,
) -> Result<Resolved, Fault> {
    let grammar = match options.grammars.get(name) {
        None => return Err(fault(Kind::UnknownGrammar { name: name.into() }, span)),
        Some(SubGrammar::Lark(text)) => {
            let source = u32::try_from(sources.texts.len()).expect("fewer texts than names");
            sources.texts.push((Some(name.into()), text.clone()));
            return parse(text, source, ast, &options.json, limits).map(Resolved::Module);
        }
        Some(SubGrammar::JsonSchema(text)) => guidance::schema(text, &options.json, limits),
        Some(SubGrammar::Regex(pattern)) => {
            formwork_regex::compile(pattern, &formwork_regex::Options::default(), limits)
                .map_err(|error| Kind::Regex(Box::new(error)))
        }
    };
    let part = u32::try_from(ast.parts.len()).expect("fewer parts than names");
    ast.parts.push((grammar.map_err(|kind| fault(kind, span))?, span));
    Ok(Resolved::Part(part))
}

/// What may stand in a body.
fn check(ast: &Ast, definition: &Definition) -> Result<(), Fault> {
    let attributes = &definition.attributes;
    let has_conflict = definition.is_parametric
        && (attributes.lazy.is_some()
            || attributes.temperature.is_some()
            || attributes.max_tokens.is_some());
    if has_conflict {
        let what = "a rule with a parameter has none of `lazy`, `stop`, `suffix`, `temperature` \
                    and `max_tokens`";
        return Err(fault(Kind::AttributeConflict { what }, definition.span));
    }
    for id in nodes_of(definition) {
        let what = match ast.node(id) {
            Node::And(_) | Node::Not(_) if definition.kind == DefinitionKind::Rule => {
                let what = match ast.node(id) {
                    Node::And(_) => "`&`",
                    _ => "`~`",
                };
                return Err(fault(Kind::NotInRule { what }, ast.span(id)));
            }
            Node::Guarded { condition, .. }
                if !definition.is_parametric && condition.is_relative() =>
            {
                let what = match definition.kind {
                    DefinitionKind::Rule => "the rule around this condition has no parameter",
                    DefinitionKind::Terminal => "a terminal has no parameter",
                };
                return Err(fault(Kind::Parameter { what }, ast.span(id)));
            }
            Node::Reference { definition, .. } => match ast.definition(*definition).kind {
                DefinitionKind::Rule => "a rule",
                DefinitionKind::Terminal => continue,
            },
            Node::Tokens(_) => "a token reference",
            Node::Part(_) | Node::Module(_) => "a grammar",
            Node::Guarded { .. } => "a condition",
            _ => continue,
        };
        if definition.is_lexeme() {
            return Err(fault(Kind::NotInTerminal { what }, ast.span(id)));
        }
    }
    Ok(())
}

/// The terminals, those that others refer to first.
pub(crate) fn terminal_order(ast: &Ast) -> Result<Vec<DefId>, Fault> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; ast.definitions.len()];
    let mut order = Vec::new();
    for root in (0..).take(ast.definitions.len()) {
        if ast.definition(root).kind != DefinitionKind::Terminal {
            continue;
        }
        // A terminal is on the stack twice: to be opened, and to be closed.
        let mut stack = vec![(root, false)];
        while let Some((id, is_end)) = stack.pop() {
            if is_end {
                marks[id as usize] = Mark::Done;
                order.push(id);
                continue;
            }
            if marks[id as usize] != Mark::New {
                continue;
            }
            marks[id as usize] = Mark::Open;
            stack.push((id, true));
            for node in ast.definition(id).nodes() {
                let Node::Reference { definition, .. } = *ast.node(node) else { continue };
                match marks[definition as usize] {
                    Mark::Open => {
                        let name = ast.definition(definition).name.clone();
                        return Err(fault(Kind::RecursiveTerminal { name }, ast.span(node)));
                    }
                    Mark::New => stack.push((definition, false)),
                    Mark::Done => {}
                }
            }
        }
    }
    Ok(order)
}
