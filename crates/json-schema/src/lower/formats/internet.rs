//! Addresses and names of hosts, mailboxes, identifiers.

use super::{Texts, combined, concatenated, matching};
use crate::model::Count;
use formwork_automata::{BooleanOp, Dfa};
use std::sync::Arc;

pub(super) const IPV4: &str = concat!(
    "(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\\.){3}",
    "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])",
);

/// One label of a host name, of at most 63 characters.
pub(super) const LABEL: &str = "[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?";

/// The longest host name, in characters.
pub(super) const HOSTNAME: Count = Count { min: 1, max: Some(253) };

/// What an unquoted part of a mailbox may hold.
const ATEXT: &str = "A-Za-z0-9!#$%&'*+/=?^_`{|}~\\-";

/// RFC 3986, section 3.2.2; `::` may stand for one group and for more.
pub(super) fn ipv6_pattern() -> String {
    let (group, end) = ("[0-9A-Fa-f]{1,4}", format!("(?:H:H|{IPV4})"));
    let mut alternatives = vec!["(?:H:){6}E".to_owned(), "::(?:H:){5}E".to_owned()];
    for before in 0..=4 {
        let after = 4 - before;
        alternatives.push(format!("(?:(?:H:){{0,{before}}}H)?::(?:H:){{{after}}}E"));
    }
    alternatives.push("(?:(?:H:){0,5}H)?::H".to_owned());
    alternatives.push("(?:(?:H:){0,6}H)?::".to_owned());
    let pattern = alternatives.join("|").replace('E', &end).replace('H', group);
    format!("(?:{pattern})")
}

/// RFC 5321, section 4.1.3: `::` stands for two groups at least.
fn ipv6_of_mailbox() -> String {
    let mut alternatives = vec!["H(?::H){7}".to_owned(), format!("H(?::H){{5}}:{IPV4}")];
    for before in 0..=6 {
        let left = if before == 0 { String::new() } else { format!("H(?::H){{{}}}", before - 1) };
        let groups = 6 - before;
        let right = match groups {
            0 => String::new(),
            _ => format!("(?:H(?::H){{0,{}}})?", groups - 1),
        };
        alternatives.push(format!("{left}::{right}"));
        if before <= 4 {
            alternatives.push(format!("{left}::(?:H:){{0,{}}}{IPV4}", 4 - before));
        }
    }
    format!("(?:{})", alternatives.join("|").replace('H', "[0-9A-Fa-f]{1,4}"))
}

pub(super) fn ipv4() -> Dfa {
    matching(IPV4)
}

pub(super) fn ipv6() -> Dfa {
    matching(&ipv6_pattern())
}

pub(super) fn uuid() -> Dfa {
    matching(&"H{8}-H{4}-H{4}-H{4}-H{12}".replace('H', "[0-9A-Fa-f]"))
}

pub(super) fn hostname() -> Texts {
    Texts { dfa: Arc::new(names()), length: HOSTNAME }
}

/// Labels with dots between them, of any number. Two hyphens in the third and fourth place are for
/// encoded labels alone (RFC 5891, section 4.2.3.1).
fn names() -> Dfa {
    let encoded = matching(r"(?:[^]*\.)?[^.]{2}--[^]*");
    combined(&possible_names(), BooleanOp::Difference, &encoded)
}

fn possible_names() -> Dfa {
    matching(&format!(r"{LABEL}(?:\.{LABEL})*"))
}

pub(super) fn possible_hostname() -> Texts {
    Texts { dfa: Arc::new(possible_names()), length: HOSTNAME }
}

pub(super) fn email() -> Dfa {
    let literal = matching(&format!("\\[(?:{IPV4}|IPv6:{})\\]", ipv6_of_mailbox()));
    let domain = combined(&names(), BooleanOp::Union, &literal);
    concatenated(&before_domain(""), &domain)
}

/// A mailbox up to its sign: at most 64 characters, at most 31 between quotation marks, where only
/// those are escaped that must be. Beyond ASCII, the given class is allowed.
pub(super) fn before_domain(beyond: &str) -> Dfa {
    let plain = format!("[{ATEXT}{beyond}]+(?:\\.[{ATEXT}{beyond}]+)*");
    let quoted = format!("\"(?:[ !#-\\[\\]-~{beyond}]|\\\\[\"\\\\]){{0,31}}\"");
    let all = matching(&format!("(?:{plain}|{quoted})@"));
    combined(&all, BooleanOp::Intersection, &matching("(?:[^@\"]{1,64}@|\")[^]*"))
}
