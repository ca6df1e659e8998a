//! What was written is what is read, and nothing else can be read.

use formwork_archive::{ArchiveError, Fault, Kind, Reader, Writer, read_archive};
use proptest::prelude::*;

const KIND: Kind = Kind::new(b"a-sample");
const HEADER: usize = 60;

/// One section.
#[derive(Clone, Debug, PartialEq)]
enum Section {
    Small(u32),
    Large(u64),
    Fixed([u8; 5]),
    Bytes(Vec<u8>),
    Text(String),
    U16s(Vec<u16>),
    U32s(Vec<u32>),
    I32s(Vec<i32>),
    U64s(Vec<u64>),
}

fn sections() -> impl Strategy<Value = Vec<Section>> {
    let section = prop_oneof![
        any::<u32>().prop_map(Section::Small),
        any::<u64>().prop_map(Section::Large),
        any::<[u8; 5]>().prop_map(Section::Fixed),
        any::<Vec<u8>>().prop_map(Section::Bytes),
        ".*".prop_map(Section::Text),
        any::<Vec<u16>>().prop_map(Section::U16s),
        any::<Vec<u32>>().prop_map(Section::U32s),
        any::<Vec<i32>>().prop_map(Section::I32s),
        any::<Vec<u64>>().prop_map(Section::U64s),
    ];
    prop::collection::vec(section, 0..8)
}

fn write(sections: &[Section]) -> Vec<u8> {
    let mut writer = Writer::new(KIND, 3);
    for section in sections {
        match section {
            Section::Small(value) => writer.u32(*value),
            Section::Large(value) => writer.u64(*value),
            Section::Fixed(values) => writer.fixed(values),
            Section::Bytes(values) => writer.bytes(values),
            Section::Text(value) => writer.str(value),
            Section::U16s(values) => writer.u16s(values),
            Section::U32s(values) => writer.u32s(values),
            Section::I32s(values) => writer.i32s(values),
            Section::U64s(values) => writer.u64s(values),
        }
    }
    writer.finish()
}

/// Reads sections of the same types.
fn read(bytes: &[u8], like: &[Section]) -> Result<Vec<Section>, ArchiveError> {
    let mut reader = Reader::open(bytes, KIND, 3)?;
    let sections = like.iter().map(|section| {
        Ok(match section {
            Section::Small(_) => Section::Small(reader.u32("small")?),
            Section::Large(_) => Section::Large(reader.u64("large")?),
            Section::Fixed(_) => Section::Fixed(reader.fixed("fixed")?),
            Section::Bytes(_) => Section::Bytes(reader.bytes("bytes")?.to_vec()),
            Section::Text(_) => Section::Text(reader.str("text")?.to_owned()),
            Section::U16s(_) => Section::U16s(reader.u16s("u16s")?),
            Section::U32s(_) => Section::U32s(reader.u32s("u32s")?),
            Section::I32s(_) => Section::I32s(reader.i32s("i32s")?),
            Section::U64s(_) => Section::U64s(reader.u64s("u64s")?),
        })
    });
    let sections = sections.collect::<Result<_, ArchiveError>>()?;
    reader.finish()?;
    Ok(sections)
}

fn sample() -> Vec<u8> {
    let text = Section::Text("text".to_owned());
    write(&[Section::Small(7), text, Section::U16s(vec![1, 2]), Section::I32s(vec![-1, 5])])
}

fn open(bytes: &[u8]) -> Result<Reader<'_>, ArchiveError> {
    Reader::open(bytes, KIND, 3)
}

proptest! {
    #[test]
    fn what_was_written_is_read(sections in sections()) {
        let bytes = write(&sections);
        prop_assert_eq!(read(&bytes, &sections).unwrap(), sections.clone());
        let streamed = read_archive(&*bytes, (KIND, 3), bytes.len() as u64).unwrap();
        prop_assert_eq!(streamed, bytes);
    }

    #[test]
    fn sections_read_as_others_are_errors_or_values_but_never_more_than_there_is(
        written in sections(),
        asked in sections(),
    ) {
        let bytes = write(&written);
        match read(&bytes, &asked) {
            Ok(read) => prop_assert_eq!(write(&read), bytes, "the same bytes, read another way"),
            Err(error) => prop_assert!(matches!(error, ArchiveError::Malformed { .. }), "{}", error),
        }
    }

    #[test]
    fn bytes_of_anything_are_no_archive(bytes in any::<Vec<u8>>()) {
        let error = open(&bytes).unwrap_err();
        let expected = matches!(error, ArchiveError::NotAnArchive | ArchiveError::Truncated { .. });
        prop_assert!(expected, "{}", error);
    }
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = sample();
    assert!(matches!(open(&[]), Err(ArchiveError::NotAnArchive)));
    for len in 1..bytes.len() {
        let whole = if len < HEADER { HEADER } else { bytes.len() };
        let (whole, len) = (whole as u64, len as u64);
        let cut = &bytes[..len as usize];
        for error in [open(cut).unwrap_err(), read_archive(cut, (KIND, 3), u64::MAX).unwrap_err()] {
            let ArchiveError::Truncated { expected, found } = error else {
                panic!("{len}: {error}");
            };
            assert_eq!((expected, found), (whole, len));
        }
    }
}

#[test]
fn every_flipped_bit_is_an_error() {
    let mut bytes = sample();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            let error = open(&bytes).unwrap_err();
            let expected = match at {
                0..8 => matches!(error, ArchiveError::NotAnArchive),
                8..16 => matches!(error, ArchiveError::OtherKind { .. }),
                16..20 => matches!(error, ArchiveError::UnsupportedVersion { known: 3, .. }),
                20..28 => matches!(
                    error,
                    ArchiveError::Truncated { .. } | ArchiveError::TrailingBytes { .. }
                ),
                _ => matches!(error, ArchiveError::ChecksumDiffers),
            };
            assert!(expected, "bit {bit} of byte {at}: {error}");
            bytes[at] ^= 1 << bit;
        }
    }
    assert!(open(&bytes).is_ok());
}

#[test]
fn what_follows_the_end_is_an_error() {
    let mut bytes = sample();
    bytes.extend_from_slice(b"more");
    assert!(matches!(open(&bytes), Err(ArchiveError::TrailingBytes { count: 4 })));
    let streamed = read_archive(&*bytes, (KIND, 3), u64::MAX);
    assert!(matches!(streamed, Err(ArchiveError::TrailingBytes { count: 1 })), "reads no further");
    let payload = write(&[Section::Small(1), Section::Small(2)]);
    let mut reader = open(&payload).unwrap();
    reader.u32("first").unwrap();
    let error = reader.finish().unwrap_err();
    assert!(
        matches!(
            error,
            ArchiveError::Malformed { offset: 4, fault: Fault::LeftOver { left: 4 }, .. }
        ),
        "{error}"
    );
}

#[test]
fn other_kinds_and_versions_are_named() {
    let bytes = sample();
    let error = Reader::open(&bytes, Kind::new(b"a-second"), 3).unwrap_err();
    assert_eq!(error.to_string(), "this is an archive of kind `a-sample`, not of kind `a-second`");
    let error = Reader::open(&bytes, KIND, 4).unwrap_err();
    assert!(matches!(error, ArchiveError::UnsupportedVersion { found: 3, known: 4 }), "{error}");
    let error = Reader::open(b"{\"model\": {}}", KIND, 4).unwrap_err();
    assert!(matches!(error, ArchiveError::NotAnArchive), "{error}");
}

type ReadSection = fn(&mut Reader<'_>) -> Result<(), ArchiveError>;

#[test]
fn huge_claimed_lengths_are_errors_of_their_section() {
    for claimed in [5, 1 << 20, 1 << 61, (1 << 61) + 1, 1 << 63, u64::MAX] {
        let mut writer = Writer::new(KIND, 3);
        writer.u32(9);
        writer.u64(claimed);
        writer.u32(0);
        let bytes = writer.finish();
        let sections: [ReadSection; 6] = [
            |reader| reader.bytes("claims").map(drop),
            |reader| reader.str("claims").map(drop),
            |reader| reader.u16s("claims").map(drop),
            |reader| reader.u32s("claims").map(drop),
            |reader| reader.i32s("claims").map(drop),
            |reader| reader.u64s("claims").map(drop),
        ];
        for section in sections {
            let mut reader = open(&bytes).unwrap();
            reader.u32("before").unwrap();
            let ArchiveError::Malformed { section, offset, fault } =
                section(&mut reader).unwrap_err()
            else {
                panic!("malformed")
            };
            assert_eq!((section, offset), ("claims", 4));
            assert_eq!(fault, Fault::TooShort { left: 4 });
        }
    }
}

#[test]
fn a_string_is_utf8() {
    let bytes = write(&[Section::Bytes(vec![b'a', 0xff])]);
    let error = open(&bytes).unwrap().str("name").unwrap_err();
    assert_eq!(error.to_string(), "section `name` at offset 0 of the payload is not UTF-8");
}

/// A stream without an end, which says how much was taken from it.
struct Endless<'a> {
    first: &'a [u8],
    taken: usize,
}

impl std::io::Read for Endless<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        for byte in &mut *into {
            let (next, rest) = self.first.split_first().unwrap_or((&0, &[]));
            (*byte, self.first) = (*next, rest);
        }
        self.taken += into.len();
        Ok(into.len())
    }
}

#[test]
fn a_stream_is_read_no_further_than_it_must() {
    let mut endless = Endless { first: b"something else", taken: 0 };
    let error = read_archive(&mut endless, (KIND, 3), 1 << 20).unwrap_err();
    assert!(matches!(error, ArchiveError::NotAnArchive) && endless.taken <= HEADER);

    let bytes = sample();
    let limit = bytes.len() as u64 - 1;
    let error = read_archive(&*bytes, (KIND, 3), limit).unwrap_err();
    assert!(
        matches!(error, ArchiveError::TooLong { found, limit: at } if at == limit && found == at + 1)
    );

    let mut endless = Endless { first: &bytes, taken: 0 };
    let error = read_archive(&mut endless, (KIND, 3), 1 << 20).unwrap_err();
    assert!(matches!(error, ArchiveError::TrailingBytes { .. }));
    assert!(endless.taken <= bytes.len() + 1);

    // The header claims what never comes.
    let mut claims = bytes;
    claims[20..28].copy_from_slice(&(1_u64 << 60).to_le_bytes());
    let error = read_archive(&*claims, (KIND, 3), u64::MAX).unwrap_err();
    assert!(matches!(error, ArchiveError::Truncated { .. }));
    claims[20..28].copy_from_slice(&u64::MAX.to_le_bytes());
    let error = read_archive(&*claims, (KIND, 3), u64::MAX).unwrap_err();
    assert!(matches!(error, ArchiveError::Truncated { .. }));
}
