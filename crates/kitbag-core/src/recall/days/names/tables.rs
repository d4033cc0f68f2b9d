//! The tables of date words: groups are separated by `|`, words of one meaning by spaces.

use crate::text::Language;

/// How a language speaks of days.
pub(super) struct DateWords {
    /// From January.
    pub(super) months: &'static str,
    /// From Monday.
    pub(super) weekdays: &'static str,
    /// Day, week, weekend, month, year.
    pub(super) units: &'static str,
    /// Today, yesterday, the day before.
    pub(super) days_ago: &'static str,
    pub(super) last: &'static str,
    pub(super) ago: &'static str,
    pub(super) of: &'static str,
    /// From one.
    pub(super) counts: &'static str,
}

impl DateWords {
    /// The words of a language; nothing where they are not known.
    pub(super) const fn of(language: Language) -> Option<&'static Self> {
        Some(match language {
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
            Language::Polish => &POLISH,
            Language::Russian => &RUSSIAN,
            _ => return None,
        })
    }
}

#[rustfmt::skip]
const ENGLISH: DateWords = DateWords {
    months: "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept|october oct|november nov|december dec",
    weekdays: "monday mon|tuesday tue tues|wednesday wed|thursday thu thurs|friday fri|saturday sat|sunday sun",
    units: "day days|week weeks|weekend|month months|year years",
    days_ago: "today tonight|yesterday|-",
    last: "last past previous",
    ago: "ago",
    of: "of the",
    counts: "one a an|two couple|three few|four|five|six|seven|eight|nine|ten",
};

#[rustfmt::skip]
const GERMAN: DateWords = DateWords {
    months: "januar janner|februar|marz|april|mai|juni|juli|august|september|oktober|november|dezember",
    weekdays: "montag|dienstag|mittwoch|donnerstag|freitag|samstag sonnabend|sonntag",
    units: "tag tage tagen|woche wochen|wochenende|monat monate monaten monats|jahr jahre jahren",
    days_ago: "heute|gestern|vorgestern",
    last: "letzte letzten letzter letztes letztem vorige vorigen voriges vergangene vergangenen",
    ago: "vor",
    of: "-",
    counts: "einem einer|zwei|drei|vier|funf|sechs",
};

#[rustfmt::skip]
const FRENCH: DateWords = DateWords {
    months: "janvier|fevrier|mars|avril|mai|juin|juillet|aout|septembre|octobre|novembre|decembre",
    weekdays: "lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche",
    units: "jour jours|semaine semaines|weekend|mois|an ans annee annees",
    days_ago: "aujourd hui|hier|-",
    last: "dernier derniere derniers dernieres passe passee",
    ago: "a",
    of: "de",
    counts: "un une|deux|trois|quatre|cinq|six",
};

#[rustfmt::skip]
const SPANISH: DateWords = DateWords {
    months: "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre setiembre|octubre|noviembre|diciembre",
    weekdays: "lunes|martes|miercoles|jueves|viernes|sabado|domingo",
    units: "dia dias|semana semanas|-|mes meses|ano anos",
    days_ago: "hoy|ayer|anteayer",
    last: "pasado pasada ultimo ultima",
    ago: "hace",
    of: "de del",
    counts: "un una|dos|tres|cuatro|cinco|seis",
};

#[rustfmt::skip]
const ITALIAN: DateWords = DateWords {
    months: "gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre",
    weekdays: "lunedi|martedi|mercoledi|giovedi|venerdi|sabato|domenica",
    units: "giorno giorni|settimana settimane|-|mese mesi|anno anni",
    days_ago: "oggi|ieri|-",
    last: "scorso scorsa ultimo ultima",
    ago: "fa",
    of: "di",
    counts: "un una|due|tre|quattro|cinque|sei",
};

#[rustfmt::skip]
const PORTUGUESE: DateWords = DateWords {
    months: "janeiro|fevereiro|marco|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro",
    weekdays: "-|-|-|-|-|sabado|domingo",
    units: "dia dias|semana semanas|-|mes meses|ano anos",
    days_ago: "hoje|ontem|anteontem",
    last: "passado passada ultimo ultima",
    ago: "ha atras",
    of: "de",
    counts: "um uma|dois duas|tres|quatro|cinco|seis",
};

#[rustfmt::skip]
const DUTCH: DateWords = DateWords {
    months: "januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december",
    weekdays: "maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag",
    units: "dag dagen|week weken|weekend|maand maanden|jaar jaren",
    days_ago: "vandaag|gisteren|eergisteren",
    last: "vorige afgelopen",
    ago: "geleden",
    of: "-",
    counts: "een|twee|drie|vier|vijf|zes",
};

#[rustfmt::skip]
const SWEDISH: DateWords = DateWords {
    months: "januari|februari|mars|april|maj|juni|juli|augusti|september|oktober|november|december",
    weekdays: "mandag mandags|tisdag|onsdag|torsdag|fredag|lordag|sondag",
    units: "dag dagar|vecka veckan veckor|-|manad manaden manader|ar aret",
    days_ago: "idag|igar|-",
    last: "forra senaste",
    ago: "sedan",
    of: "-",
    counts: "en ett|tva|tre|fyra|fem",
};

#[rustfmt::skip]
const DANISH: DateWords = DateWords {
    months: "januar|februar|marts|april|maj|juni|juli|august|september|oktober|november|december",
    weekdays: "mandag|tirsdag|onsdag|torsdag|fredag|lordag|sondag",
    units: "dag dage|uge uger|-|maned maneder|ar",
    days_ago: "-|-|-",
    last: "sidste forrige",
    ago: "siden",
    of: "-",
    counts: "en et|to|tre|fire|fem",
};

#[rustfmt::skip]
const NORWEGIAN: DateWords = DateWords {
    months: "januar|februar|mars|april|mai|juni|juli|august|september|oktober|november|desember",
    weekdays: "mandag|tirsdag|onsdag|torsdag|fredag|lordag|sondag",
    units: "dag dager|uke uker|-|maned maneder|ar",
    days_ago: "-|-|-",
    last: "forrige siste",
    ago: "siden",
    of: "-",
    counts: "en ett|to|tre|fire|fem",
};

#[rustfmt::skip]
const POLISH: DateWords = DateWords {
    months: "styczen stycznia|luty lutego lutym|marzec marca marcu|kwiecien kwietnia|maj maja maju|czerwiec czerwca|lipiec lipca lipcu|sierpien sierpnia|wrzesien wrzesnia|pazdziernik pazdziernika|listopad listopada|grudzien grudnia",
    weekdays: "poniedzialek|wtorek|sroda srode|czwartek|piatek|sobota sobote|niedziela niedziele",
    units: "dzien dni|tydzien tygodnie tygodni tygodniu|-|miesiac miesiace miesiecy miesiacu|rok roku lata lat",
    days_ago: "dzis dzisiaj|wczoraj|przedwczoraj",
    last: "zeszly zeszlym ostatni ostatnim",
    ago: "temu",
    of: "-",
    counts: "-|dwa|trzy|cztery|piec",
};

#[rustfmt::skip]
const RUSSIAN: DateWords = DateWords {
    months: "январь января январе|февраль февраля феврале|март марта марте|апрель апреля апреле|маи мая мае|июнь июня июне|июль июля июле|август августа августе|сентябрь сентября сентябре|октябрь октября октябре|ноябрь ноября ноябре|декабрь декабря декабре",
    weekdays: "понедельник|вторник|среда среду|четверг|пятница пятницу|суббота субботу|воскресенье",
    units: "день дня днеи|неделя неделю неделе недели недель|-|месяц месяца месяце месяцев|год года году лет",
    days_ago: "сегодня|вчера|позавчера",
    last: "прошлыи прошлая прошлои прошлом прошлую прошлое",
    ago: "назад",
    of: "-",
    counts: "-|два две|три|четыре|пять",
};
