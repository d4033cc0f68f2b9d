//! Words by which speakers name themselves, without accents.

use super::Language;

/// The words of the first person in a language.
pub(super) const fn of(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => &ENGLISH,
        Language::German => &GERMAN,
        Language::French => &FRENCH,
        Language::Spanish => &SPANISH,
        Language::Italian => &ITALIAN,
        Language::Portuguese => &PORTUGUESE,
        Language::Dutch => &DUTCH,
        Language::Swedish => &SWEDISH,
        Language::Danish => &DANISH,
        Language::Norwegian => &NORWEGIAN,
        Language::Finnish => &FINNISH,
        Language::Polish => &POLISH,
        Language::Czech => &CZECH,
        Language::Romanian => &ROMANIAN,
        Language::Hungarian => &HUNGARIAN,
        Language::Turkish => &TURKISH,
        Language::Russian => &RUSSIAN,
        Language::Greek => &GREEK,
        Language::Arabic => &ARABIC,
        Language::Tamil => &TAMIL,
    }
}

#[rustfmt::skip]
const ENGLISH: [&str; 10] = [
    "i", "me", "mine", "my", "myself", "our", "ours", "ourselves", "us", "we",
];

#[rustfmt::skip]
const GERMAN: [&str; 14] = [
    "ich", "mein", "meine", "meinem", "meinen", "meiner", "meines", "mich", "mir", "uns", "unser",
    "unsere", "unseren", "wir",
];

#[rustfmt::skip]
const FRENCH: [&str; 11] = [
    "j", "je", "m", "ma", "me", "mes", "moi", "mon", "nos", "notre", "nous",
];

#[rustfmt::skip]
const SPANISH: [&str; 10] = [
    "me", "mi", "mis", "nos", "nosotros", "nuestra", "nuestras", "nuestro", "nuestros", "yo",
];

#[rustfmt::skip]
const ITALIAN: [&str; 11] = [
    "ci", "io", "me", "mi", "mia", "mie", "miei", "mio", "noi", "nostra", "nostro",
];

#[rustfmt::skip]
const PORTUGUESE: [&str; 10] = [
    "eu", "me", "meu", "meus", "mim", "minha", "minhas", "nos", "nossa", "nosso",
];

#[rustfmt::skip]
const DUTCH: [&str; 8] = [
    "ik", "me", "mij", "mijn", "ons", "onze", "we", "wij",
];

#[rustfmt::skip]
const SWEDISH: [&str; 9] = [
    "jag", "mig", "min", "mina", "mitt", "oss", "vara", "vart", "vi",
];

#[rustfmt::skip]
const DANISH: [&str; 8] = [
    "jeg", "mig", "min", "mine", "mit", "os", "vi", "vores",
];

#[rustfmt::skip]
const NORWEGIAN: [&str; 7] = [
    "jeg", "meg", "min", "mine", "mitt", "oss", "vi",
];

#[rustfmt::skip]
const FINNISH: [&str; 10] = [
    "me", "meidan", "meita", "mina", "minua", "minulla", "minulle", "minun", "minut", "olen",
];

#[rustfmt::skip]
const POLISH: [&str; 15] = [
    "ja", "jestem", "mam", "mi", "mnie", "moich", "moj", "moja", "moje", "mojego", "my", "nam",
    "nas", "nasz", "nasza",
];

#[rustfmt::skip]
const CZECH: [&str; 12] = [
    "ja", "jsem", "mam", "me", "meho", "mi", "moje", "muj", "my", "nam", "nas", "nase",
];

#[rustfmt::skip]
const ROMANIAN: [&str; 14] = [
    "am", "eu", "imi", "ma", "mea", "mei", "mele", "meu", "mie", "mine", "noastra", "noi", "nostru",
    "sunt",
];

#[rustfmt::skip]
const HUNGARIAN: [&str; 8] = [
    "en", "engem", "enyem", "mi", "minket", "nekem", "nekunk", "vagyok",
];

#[rustfmt::skip]
const TURKISH: [&str; 9] = [
    "bana", "ben", "bende", "beni", "benim", "biz", "bize", "bizi", "bizim",
];

#[rustfmt::skip]
const RUSSIAN: [&str; 16] = [
    "меня", "мне", "мнои", "мое", "моего", "моеи", "мои", "моих", "моя", "мы", "нам", "нас", "наш",
    "наша", "наши", "я",
];

#[rustfmt::skip]
const GREEK: [&str; 5] = [
    "εγω", "εμεις", "εμενα", "μας", "μου",
];

#[rustfmt::skip]
const ARABIC: [&str; 2] = [
    "أنا", "نحن",
];

#[rustfmt::skip]
const TAMIL: [&str; 5] = [
    "எனக்கு", "என்", "என்னை", "நாங்கள்", "நான்",
];
