//! English forms that no ending betrays.

/// The base form of an irregular form: `go` of `went`.
pub(super) fn base(word: &str) -> Option<&'static str> {
    let at = FORMS.binary_search_by_key(&word, |&(form, _)| form).ok()?;
    FORMS.get(at).map(|&(_, base)| base)
}

/// Sorted by the form.
#[rustfmt::skip]
const FORMS: [(&str, &str); 180] = [
    ("arisen", "arise"), ("arose", "arise"), ("ate", "eat"), ("awoke", "awake"), ("awoken", "awake"),
    ("beaten", "beat"), ("became", "become"), ("began", "begin"), ("begun", "begin"), ("bent", "bend"),
    ("best", "good"), ("better", "good"), ("bit", "bite"), ("bitten", "bite"), ("bled", "bleed"),
    ("blew", "blow"), ("blown", "blow"), ("bore", "bear"), ("borne", "bear"), ("bought", "buy"),
    ("broke", "break"), ("broken", "break"), ("brought", "bring"), ("built", "build"), ("burnt", "burn"),
    ("calves", "calf"), ("came", "come"), ("caught", "catch"), ("children", "child"),
    ("chose", "choose"), ("chosen", "choose"), ("clung", "cling"), ("crept", "creep"), ("dealt", "deal"),
    ("did", "do"), ("done", "do"), ("drank", "drink"), ("drawn", "draw"), ("dreamt", "dream"),
    ("drew", "draw"), ("driven", "drive"), ("drove", "drive"), ("drunk", "drink"), ("dug", "dig"),
    ("eaten", "eat"), ("fallen", "fall"), ("fed", "feed"), ("feet", "foot"), ("fell", "fall"),
    ("felt", "feel"), ("fled", "flee"), ("flew", "fly"), ("flown", "fly"), ("forbade", "forbid"),
    ("forgave", "forgive"), ("forgiven", "forgive"), ("forgot", "forget"), ("forgotten", "forget"),
    ("fought", "fight"), ("found", "find"), ("froze", "freeze"), ("frozen", "freeze"), ("gave", "give"),
    ("geese", "goose"), ("given", "give"), ("gone", "go"), ("got", "get"), ("gotten", "get"),
    ("grew", "grow"), ("grown", "grow"), ("had", "have"), ("halves", "half"), ("heard", "hear"),
    ("held", "hold"), ("hid", "hide"), ("hidden", "hide"), ("hung", "hang"), ("kept", "keep"),
    ("knelt", "kneel"), ("knew", "know"), ("knives", "knife"), ("known", "know"), ("laid", "lay"),
    ("leant", "lean"), ("leapt", "leap"), ("learnt", "learn"), ("led", "lead"), ("left", "leave"),
    ("lent", "lend"), ("lit", "light"), ("lives", "life"), ("loaves", "loaf"), ("lost", "lose"),
    ("made", "make"), ("meant", "mean"), ("men", "man"), ("met", "meet"), ("mice", "mouse"),
    ("mistaken", "mistake"), ("mistook", "mistake"), ("paid", "pay"), ("people", "person"),
    ("proven", "prove"), ("ran", "run"), ("rang", "ring"), ("ridden", "ride"), ("risen", "rise"),
    ("rode", "ride"), ("rose", "rise"), ("said", "say"), ("sang", "sing"), ("sank", "sink"),
    ("sat", "sit"), ("saw", "see"), ("seen", "see"), ("sent", "send"), ("shaken", "shake"),
    ("shelves", "shelf"), ("shone", "shine"), ("shook", "shake"), ("shot", "shoot"), ("shown", "show"),
    ("shrank", "shrink"), ("slept", "sleep"), ("slid", "slide"), ("sold", "sell"), ("sought", "seek"),
    ("spent", "spend"), ("spoke", "speak"), ("spoken", "speak"), ("sprang", "spring"),
    ("sprung", "spring"), ("spun", "spin"), ("stole", "steal"), ("stolen", "steal"), ("stood", "stand"),
    ("stricken", "strike"), ("strode", "stride"), ("strove", "strive"), ("struck", "strike"),
    ("stuck", "stick"), ("stung", "sting"), ("sung", "sing"), ("sunk", "sink"), ("swam", "swim"),
    ("swept", "sweep"), ("swore", "swear"), ("sworn", "swear"), ("swum", "swim"), ("swung", "swing"),
    ("taken", "take"), ("taught", "teach"), ("teeth", "tooth"), ("thieves", "thief"),
    ("thought", "think"), ("threw", "throw"), ("thrown", "throw"), ("told", "tell"), ("took", "take"),
    ("tore", "tear"), ("torn", "tear"), ("understood", "understand"), ("went", "go"), ("wept", "weep"),
    ("withdrawn", "withdraw"), ("withdrew", "withdraw"), ("wives", "wife"), ("woke", "wake"),
    ("woken", "wake"), ("wolves", "wolf"), ("women", "woman"), ("won", "win"), ("wore", "wear"),
    ("worn", "wear"), ("worse", "bad"), ("worst", "bad"), ("wove", "weave"), ("woven", "weave"),
    ("written", "write"), ("wrote", "write"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x04_the_forms_are_sorted() {
        assert!(FORMS.is_sorted());
        assert_eq!(base("went"), Some("go"));
        assert_eq!(base("go"), None);
    }
}
