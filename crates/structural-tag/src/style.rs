//! How the arguments of a tool are written.

/// A way to write what a JSON Schema describes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Style {
    /// JSON.
    #[default]
    Json,
    /// `<parameter=NAME>VALUE</parameter>`.
    QwenXml,
    /// `<parameter name="NAME">VALUE</parameter>`.
    MinimaxXml,
    /// Elements named after the keys, each tag behind `]<]minimax[>[`, nested values too.
    MinimaxM3Xml,
    /// `<｜DSML｜parameter name="NAME" string="IS_STRING">VALUE</｜DSML｜parameter>`.
    DeepseekXml,
    /// The same with a space behind the marker.
    DeepseekV41Xml,
    /// `<arg_key>NAME</arg_key><arg_value>VALUE</arg_value>`.
    GlmXml,
    /// `<cofl:value name="NAME" type="TYPE">VALUE</cofl:value>`, nested values too.
    CohereXml,
    /// `<|open|>argument key="NAME" type="TYPE"<|sep|>VALUE<|close|>argument<|sep|>`.
    KimiK3Xml,
}

impl Style {
    /// All styles.
    pub const ALL: [Self; 9] = [
        Self::Json,
        Self::QwenXml,
        Self::MinimaxXml,
        Self::MinimaxM3Xml,
        Self::DeepseekXml,
        Self::DeepseekV41Xml,
        Self::GlmXml,
        Self::CohereXml,
        Self::KimiK3Xml,
    ];

    /// The name of the style in a structural tag.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::QwenXml => "qwen_xml",
            Self::MinimaxXml => "minimax_xml",
            Self::MinimaxM3Xml => "minimax_m3_xml",
            Self::DeepseekXml => "deepseek_xml",
            Self::DeepseekV41Xml => "deepseek_v4_1_xml",
            Self::GlmXml => "glm_xml",
            Self::CohereXml => "cohere_xml",
            Self::KimiK3Xml => "kimi_k3_xml",
        }
    }

    /// The style of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|style| style.name() == name)
    }
}
