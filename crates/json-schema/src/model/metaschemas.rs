//! The drafts by the URIs of their metaschemas, and those metaschemas.

use crate::options::Draft;

/// The text of the metaschema, or part of one, that a URI without fragment names.
pub(super) fn text(uri: &str) -> Option<&'static str> {
    let name = uri.strip_prefix("https://json-schema.org/draft/");
    Some(match (uri, name) {
        ("http://json-schema.org/draft-04/schema", _) => include_str!("metaschemas/draft-04.json"),
        ("http://json-schema.org/draft-06/schema", _) => include_str!("metaschemas/draft-06.json"),
        ("http://json-schema.org/draft-07/schema", _) => include_str!("metaschemas/draft-07.json"),
        (_, Some(name)) => match name {
            "2019-09/schema" => include_str!("metaschemas/2019-09/schema.json"),
            "2019-09/meta/applicator" => include_str!("metaschemas/2019-09/applicator.json"),
            "2019-09/meta/content" => include_str!("metaschemas/2019-09/content.json"),
            "2019-09/meta/core" => include_str!("metaschemas/2019-09/core.json"),
            "2019-09/meta/format" => include_str!("metaschemas/2019-09/format.json"),
            "2019-09/meta/meta-data" => include_str!("metaschemas/2019-09/meta-data.json"),
            "2019-09/meta/validation" => include_str!("metaschemas/2019-09/validation.json"),
            "2020-12/schema" => include_str!("metaschemas/2020-12/schema.json"),
            "2020-12/meta/applicator" => include_str!("metaschemas/2020-12/applicator.json"),
            "2020-12/meta/content" => include_str!("metaschemas/2020-12/content.json"),
            "2020-12/meta/core" => include_str!("metaschemas/2020-12/core.json"),
            "2020-12/meta/format-annotation" => {
                include_str!("metaschemas/2020-12/format-annotation.json")
            }
            "2020-12/meta/format-assertion" => {
                include_str!("metaschemas/2020-12/format-assertion.json")
            }
            "2020-12/meta/meta-data" => include_str!("metaschemas/2020-12/meta-data.json"),
            "2020-12/meta/unevaluated" => include_str!("metaschemas/2020-12/unevaluated.json"),
            "2020-12/meta/validation" => include_str!("metaschemas/2020-12/validation.json"),
            _ => return None,
        },
        _ => return None,
    })
}

/// The draft that a URI without fragment in `$schema` names. The hyper-schemas are supersets of
/// their drafts; what draft 3 has in common with draft 4 is read as that.
pub(super) fn draft(uri: &str) -> Option<Draft> {
    let name = uri.strip_prefix("http://").or_else(|| uri.strip_prefix("https://"))?;
    let name = name.strip_prefix("json-schema.org/")?;
    let (draft, kind) = name.rsplit_once('/')?;
    if !matches!(kind, "schema" | "hyper-schema") {
        return None;
    }
    Some(match draft {
        "draft-03" | "draft-04" => Draft::Draft4,
        "draft-06" => Draft::Draft6,
        "draft-07" => Draft::Draft7,
        "draft/2019-09" => Draft::Draft201909,
        "draft/2020-12" => Draft::Draft202012,
        _ => return None,
    })
}
