//! English forms that no ending betrays.

use crate::text::word_list::word_list;

/// Each form and its base, sorted by the form.
static FORMS: [&str; 360] = word_list(include_str!("irregular.txt"));

/// Returns the base form of an irregular form: `go` for `went`.
pub(super) fn base(word: &str) -> Option<&'static str> {
    let (forms, _) = FORMS.as_chunks();
    let at = forms.binary_search_by_key(&word, |&[form, _]| form).ok()?;
    forms.get(at).map(|&[_, base]| base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x04_the_forms_are_sorted() {
        assert!(FORMS.as_chunks::<2>().0.is_sorted());
        assert_eq!(base("went"), Some("go"));
        assert_eq!(base("go"), None);
    }
}
