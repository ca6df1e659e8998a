//! References to other documents: RFC 3986, section 5, on text.
//!
//! Bases may be relative themselves: a schema without an identifier has the empty one, and what it
//! refers to is then named as it is written.

/// A URI reference without its fragment, in its parts (RFC 3986, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parts<'t> {
    scheme: Option<&'t str>,
    authority: Option<&'t str>,
    path: &'t str,
    query: Option<&'t str>,
}

impl<'t> Parts<'t> {
    /// The expression of appendix B; every text matches it.
    fn of(text: &'t str) -> Self {
        let (scheme, rest) = match text.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
            _ => (None, text),
        };
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                (Some(authority), path)
            }
            None => (None, rest),
        };
        Self { scheme, authority, path, query }
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// A reference in two: what it names, and the fragment behind `#`, if there is one.
pub(crate) fn split_fragment(reference: &str) -> (&str, Option<&str>) {
    match reference.split_once('#') {
        Some((uri, fragment)) => (uri, Some(fragment)),
        None => (reference, None),
    }
}

/// What a reference without fragment means against a base without fragment (section 5.2.2), with
/// scheme and host in lower case. Linear in both.
pub(crate) fn resolve(base: &str, reference: &str) -> String {
    let (base, reference) = (Parts::of(base), Parts::of(reference));
    let path;
    let target = if reference.scheme.is_some() {
        path = without_dots(reference.path);
        Parts { path: &path, ..reference }
    } else if reference.authority.is_some() {
        path = without_dots(reference.path);
        Parts { scheme: base.scheme, path: &path, ..reference }
    } else if reference.path.is_empty() {
        Parts { query: reference.query.or(base.query), ..base }
    } else {
        path = match reference.path.starts_with('/') {
            true => without_dots(reference.path),
            false => without_dots(&merged(base, reference.path)),
        };
        Parts { path: &path, query: reference.query, ..base }
    };
    let mut text = String::new();
    if let Some(scheme) = target.scheme {
        text.push_str(&scheme.to_ascii_lowercase());
        text.push(':');
    }
    if let Some(authority) = target.authority {
        text.push_str("//");
        text.push_str(&authority.to_ascii_lowercase());
    }
    text.push_str(target.path);
    if let Some(query) = target.query {
        text.push('?');
        text.push_str(query);
    }
    text
}

/// A path in place of the last segment of the base's (section 5.2.3).
fn merged(base: Parts<'_>, path: &str) -> String {
    if base.authority.is_some() && base.path.is_empty() {
        return format!("/{path}");
    }
    let kept = base.path.rfind('/').map_or(0, |slash| slash + 1);
    format!("{}{path}", &base.path[..kept])
}

/// A path without its segments `.` and `..` (section 5.2.4).
fn without_dots(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    let segments = path.strip_prefix('/').unwrap_or(path).split('/');
    let mut ends_in_dots = false;
    for segment in segments {
        ends_in_dots = matches!(segment, "." | "..");
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            _ => kept.push(segment),
        }
    }
    if ends_in_dots {
        kept.push("");
    }
    let start = if absolute { "/" } else { "" };
    format!("{start}{}", kept.join("/"))
}

/// Undoes percent-encoding (section 2.1); none when that is not UTF-8 or not an encoding.
pub(crate) fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            u8::try_from(high * 16 + low).expect("two digits")
        } else {
            byte
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_resolve_as_in_the_examples_of_the_standard() {
        // Sections 5.4.1 and 5.4.2, without fragments.
        for (reference, target) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("g;x?y", "http://a/b/c/g;x?y"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"),
            ("g/../h", "http://a/b/c/h"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("http:g", "http:g"),
        ] {
            assert_eq!(resolve("http://a/b/c/d;p?q", reference), target, "{reference}");
        }
    }

    #[test]
    fn other_bases() {
        for (base, reference, target) in [
            ("", "other.json", "other.json"),
            ("", "", ""),
            ("a/b.json", "c.json", "a/c.json"),
            ("a/b.json", "../c.json", "c.json"),
            ("http://host", "c", "http://host/c"),
            ("urn:uuid:dead?=x", "", "urn:uuid:dead?=x"),
            ("urn:uuid:dead", "http://a/b", "http://a/b"),
            ("file:///folder/file.json", "../x", "file:///x"),
            ("HTTP://Example.COM/A", "B", "http://example.com/B"),
        ] {
            assert_eq!(resolve(base, reference), target, "{base} {reference}");
        }
    }
}
