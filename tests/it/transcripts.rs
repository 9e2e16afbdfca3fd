//! The command line, by transcripts: every example in the README and the guides, and every file in
//! `tests/cli`, is run and compared.

#[test]
fn transcripts() {
    trycmd::TestCases::new().case("README.md").case("docs/*.md").case("tests/cli/*.trycmd");
}
