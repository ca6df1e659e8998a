//! Bytes for people.

/// Bytes as text, with what cannot be printed escaped.
pub(crate) fn escaped(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.escape_debug().to_string(),
        Err(_) => bytes.escape_ascii().to_string(),
    }
}

/// A set of bytes as ranges, ascending: `"0"-"9" "a"`.
pub(crate) fn byte_ranges(bytes: &[u8]) -> String {
    let mut ranges: Vec<(u8, u8)> = Vec::new();
    for &byte in bytes {
        match ranges.last_mut() {
            Some((_, end)) if *end as u16 + 1 == u16::from(byte) => *end = byte,
            _ => ranges.push((byte, byte)),
        }
    }
    let shown: Vec<String> = ranges
        .into_iter()
        .map(|(start, end)| match start == end {
            true => format!("{:?}", char_of(start)),
            false => format!("{:?}-{:?}", char_of(start), char_of(end)),
        })
        .collect();
    shown.join(" ")
}

/// ASCII as it is, anything else as `\xHH`.
fn char_of(byte: u8) -> String {
    match byte.is_ascii() {
        true => char::from(byte).to_string(),
        false => format!("\\x{byte:02X}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_ranges() {
        assert_eq!(byte_ranges(b"0123x"), r#""0"-"3" "x""#);
        assert_eq!(byte_ranges(&[254, 255]), r#""\\xFE"-"\\xFF""#);
        assert_eq!(byte_ranges(b""), "");
    }

    #[test]
    fn text_stays_text() {
        assert_eq!(escaped("é\n".as_bytes()), "é\\n");
        assert_eq!(escaped(&[0xff]), "\\xff");
    }
}
