//! Words for the action of a task, such as "fix": any code has them, so they are no evidence.

use std::borrow::Cow;

use super::zones::Zone;

/// In English, German, French, Spanish, Italian, Portuguese, Dutch and Russian.
#[rustfmt::skip]
const ORDERS: &[&str] = &[
    "add", "adding", "adds", "change", "changes", "create", "created", "creates", "creating", "delete", "deletes",
    "ensure", "explain", "fix", "fixed", "fixes", "fixing", "implement", "implemented", "implements", "improve",
    "improved", "improves", "introduce", "investigate", "make", "makes", "making", "move", "moved", "moves", "moving",
    "please", "refactor", "refactored", "refactoring", "remove", "removed", "removes", "removing", "review", "rework",
    "rewrite", "should", "tidy", "todo", "update", "updated", "updates", "updating", "use", "used", "uses", "using",
    "want", "write", "writes", "writing",
    "aktualisiere", "behebe", "benutze", "entferne", "ergänze", "erkläre", "erstelle", "füge", "hinzu", "korrigiere",
    "lösche", "mache", "nutze", "prüfe", "repariere", "schreibe", "verbessere", "verschiebe", "verwende", "ändere",
    "überprüfe",
    "ajoute", "ajouter", "corrige", "corriger", "créer", "crée", "déplace", "explique", "modifie", "modifier",
    "répare", "supprime", "supprimer", "utilise", "utiliser", "écris", "écrire",
    "actualiza", "actualizar", "agrega", "agregar", "arregla", "arreglar", "añade", "añadir", "cambia", "cambiar",
    "corregir", "crea", "crear", "elimina", "eliminar", "escribe", "mueve", "quita", "usa",
    "aggiorna", "aggiungi", "aggiungere", "cambia", "correggi", "creare", "rimuovi", "scrivi", "sposta",
    "adiciona", "adicione", "atualize", "corrija", "crie", "escreva", "mova", "remova", "use",
    "gebruik", "herstel", "maak", "schrijf", "toevoegen", "verander", "verplaats", "verwijder", "voeg",
    "добавь", "добавить", "измени", "исправить", "исправь", "напиши", "обнови", "создай", "удали", "удалить",
];

/// The text without the words that give an order. What stands in code stays, and so does the same word further within a
/// sentence, where it may be a thing: a review page, orders of the USA.
pub(super) fn without(zone: Zone, text: &str) -> Cow<'_, str> {
    if !matches!(zone, Zone::Title | Zone::Prose | Zone::Heading) {
        return Cow::Borrowed(text);
    }
    let is_order = |word: &str| {
        let bare = word.trim_end_matches([',', '.', ':', '!', '?', ';']);
        let is_plain = bare.chars().all(char::is_alphabetic);
        is_plain && ORDERS.contains(&bare.to_lowercase().as_str())
    };
    if !text.split_whitespace().any(is_order) {
        return Cow::Borrowed(text);
    }
    let mut kept: Vec<&str> = Vec::new();
    for line in text.lines() {
        let mut place = WordPlace::Sentence;
        for word in line.split_whitespace() {
            let may_order = match place {
                WordPlace::Sentence => true,
                // In a list of names a capital begins a name.
                WordPlace::Clause => word.starts_with(char::is_lowercase),
                WordPlace::Within => false,
            };
            let is_left_out = may_order && is_order(word);
            if !is_left_out {
                kept.push(word);
            }
            place = match word.chars().last() {
                Some('.' | '!' | '?' | ':') => WordPlace::Sentence,
                Some(',' | ';') => WordPlace::Clause,
                // The sign or the number before a list item, and orders before an order: "please add".
                _ if is_left_out || is_bullet(word) => place,
                _ => WordPlace::Within,
            };
        }
    }
    Cow::Owned(kept.join(" "))
}

/// The place that a word has.
#[derive(Clone, Copy)]
enum WordPlace {
    /// At the beginning of a sentence or a list item.
    Sentence,
    /// Behind a comma.
    Clause,
    Within,
}

fn is_bullet(word: &str) -> bool {
    !word.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p05_an_order_is_no_evidence_in_any_language() {
        let kept = |text| without(Zone::Title, text).into_owned();
        assert_eq!(
            kept("Create a receipt, update the till"),
            "a receipt, the till"
        );
        assert_eq!(kept("Ändere die Kasse"), "die Kasse");
        assert_eq!(kept("Añade un recibo"), "un recibo");
        assert_eq!(kept("use_receipt is slow"), "use_receipt is slow");
        assert_eq!(
            kept("Please fix this. Add tax\n- [ ] remove euros\n2) update the till"),
            "this. tax - [ ] euros 2) the till"
        );
        for whole in [
            "Tax for USA orders",
            "Tax for Mexico, USA and Peru",
            "The review page shows the wrong author",
        ] {
            assert_eq!(kept(whole), whole);
        }
        assert_eq!(without(Zone::Inline, "`update`"), "`update`");
    }
}
