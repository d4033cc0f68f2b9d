//! Words that are grammar and say nothing about a topic, without accents, sorted for the search.
//!
//! Short on purpose: longer lists bring nothing and take words away that people ask for.

use super::Language;

/// The stop words of a language.
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
const ENGLISH: [&str; 164] = [
    "a", "about", "above", "after", "again", "against", "ain", "all", "also", "although", "am",
    "an", "and", "any", "are", "aren", "as", "at", "be", "because", "been", "before", "being",
    "below", "between", "both", "but", "by", "can", "could", "couldn", "d", "did", "didn", "do",
    "does", "doesn", "doing", "don", "done", "down", "during", "each", "ever", "few", "for", "from",
    "get", "got", "had", "hadn", "has", "hasn", "have", "haven", "having", "he", "her", "here",
    "hers", "herself", "him", "himself", "his", "how", "i", "if", "in", "into", "is", "isn", "it",
    "its", "itself", "just", "ll", "m", "me", "might", "mine", "more", "most", "must", "mustn",
    "my", "myself", "no", "nor", "not", "of", "off", "on", "only", "onto", "or", "other", "our",
    "ours", "ourselves", "out", "over", "own", "re", "s", "same", "shall", "she", "should",
    "shouldn", "since", "so", "some", "such", "t", "than", "that", "the", "their", "theirs", "them",
    "themselves", "then", "there", "these", "they", "this", "those", "though", "through", "to",
    "too", "under", "until", "up", "upon", "us", "ve", "very", "was", "wasn", "we", "were", "weren",
    "what", "when", "where", "which", "while", "who", "whom", "whose", "why", "will", "with",
    "within", "without", "won", "would", "wouldn", "you", "your", "yours", "yourself", "yourselves",
];

#[rustfmt::skip]
const GERMAN: [&str; 182] = [
    "aber", "alle", "allem", "alles", "als", "also", "am", "an", "auch", "auf", "aus", "bei",
    "beim", "bin", "bis", "bist", "da", "damit", "dann", "darf", "das", "dass", "dein", "deine",
    "deinen", "dem", "den", "denn", "der", "des", "dich", "die", "diese", "diesem", "diesen",
    "dieser", "dieses", "dir", "doch", "dort", "du", "durch", "ein", "eine", "einem", "einen",
    "einer", "eines", "er", "es", "etwas", "euch", "euer", "fur", "ganz", "gegen", "gewesen",
    "habe", "haben", "habt", "hast", "hat", "hatte", "hatten", "hier", "hinter", "ich", "ihm",
    "ihn", "ihnen", "ihr", "ihre", "ihren", "im", "immer", "in", "ins", "ist", "ja", "jene",
    "jener", "jenes", "kann", "kannst", "kein", "keine", "keinem", "keinen", "keiner", "konnen",
    "konnte", "mag", "mal", "man", "mehr", "mein", "meine", "meinem", "meinen", "meiner", "meines",
    "mich", "mir", "mit", "muss", "mussen", "nach", "nein", "nicht", "noch", "nur", "ob", "obwohl",
    "oder", "ohne", "schon", "sehr", "sei", "seid", "sein", "seine", "seinem", "seinen", "seit",
    "sich", "sie", "sind", "so", "soll", "sollte", "sondern", "uber", "um", "und", "uns", "unser",
    "unsere", "unseren", "unter", "viel", "viele", "vom", "von", "vor", "wahrend", "wann", "war",
    "waren", "warst", "wart", "warum", "was", "weil", "welche", "welchen", "welcher", "welches",
    "wem", "wen", "wenn", "wer", "werde", "werden", "wessen", "wie", "wieder", "wieso", "will",
    "wir", "wird", "wirst", "wo", "woher", "wohin", "wollte", "worden", "wurde", "wurden", "zu",
    "zum", "zur", "zwischen",
];

#[rustfmt::skip]
const FRENCH: [&str; 155] = [
    "a", "ai", "apres", "as", "au", "aura", "aussi", "autre", "autres", "aux", "avaient", "avais",
    "avait", "avant", "avec", "avez", "avoir", "avons", "bien", "c", "ca", "car", "ce", "ceci",
    "cela", "ces", "cet", "cette", "chez", "combien", "comme", "comment", "contre", "d", "dans",
    "de", "deja", "depuis", "des", "dois", "doit", "donc", "du", "elle", "elles", "en", "encore",
    "entre", "es", "est", "et", "etaient", "etais", "etait", "ete", "etes", "etions", "etre", "eu",
    "faire", "fais", "fait", "ici", "il", "ils", "j", "jamais", "je", "l", "la", "le", "les",
    "leur", "leurs", "lorsque", "lui", "m", "ma", "mais", "me", "meme", "mes", "mien", "mienne",
    "moi", "mon", "n", "ne", "ni", "non", "nos", "notre", "nous", "on", "ont", "or", "ou", "oui",
    "par", "parce", "pas", "pendant", "peut", "peux", "plus", "pour", "pourquoi", "pouvez",
    "puisque", "qu", "quand", "que", "quel", "quelle", "quelles", "quels", "qui", "quoi", "rien",
    "s", "sa", "sans", "se", "sera", "serai", "serait", "seront", "ses", "si", "sommes", "son",
    "sont", "sous", "suis", "sur", "t", "ta", "te", "tes", "toi", "ton", "tous", "tout", "toute",
    "toutes", "tres", "tu", "un", "une", "vers", "veux", "vos", "votre", "vous", "y",
];

#[rustfmt::skip]
const SPANISH: [&str; 151] = [
    "a", "ahi", "al", "algo", "alli", "antes", "aquel", "aquella", "aqui", "aunque", "como", "con",
    "contra", "cual", "cuales", "cuando", "cuanta", "cuanto", "cuantos", "de", "del", "desde",
    "despues", "donde", "durante", "e", "el", "ella", "ellas", "ellos", "en", "entre", "era",
    "eran", "eras", "eres", "es", "esa", "esas", "ese", "eso", "esos", "esta", "estaba", "estaban",
    "estado", "estamos", "estan", "estar", "estas", "este", "esto", "estos", "estoy", "estuve",
    "fue", "fueron", "fui", "ha", "haber", "habia", "habian", "hace", "hacer", "hacia", "han",
    "has", "hasta", "hay", "he", "hemos", "la", "las", "le", "les", "lo", "los", "mas", "me", "mi",
    "mia", "mientras", "mio", "mis", "mucho", "muy", "nada", "ni", "no", "nos", "nosotros",
    "nuestra", "nuestras", "nuestro", "nuestros", "nunca", "o", "otra", "otro", "otros", "para",
    "pero", "por", "porque", "puede", "puedo", "que", "quien", "se", "ser", "sera", "seria", "si",
    "sido", "siempre", "sin", "sino", "sobre", "somos", "son", "soy", "su", "sus", "suyo",
    "tambien", "tan", "te", "tener", "tengo", "tenia", "ti", "tiene", "tienen", "tienes", "toda",
    "todas", "todo", "todos", "tras", "tu", "tus", "u", "un", "una", "unas", "unos", "usted",
    "ustedes", "y", "ya", "yo",
];

#[rustfmt::skip]
const ITALIAN: [&str; 156] = [
    "a", "abbiamo", "agli", "ai", "al", "alla", "alle", "allo", "anche", "ancora", "avere", "avete",
    "aveva", "avevano", "avevo", "avuto", "che", "chi", "ci", "come", "con", "contro", "cosa",
    "cui", "da", "dai", "dal", "dalla", "dalle", "dallo", "degli", "dei", "del", "della", "delle",
    "dello", "devo", "di", "dopo", "dove", "durante", "e", "ed", "era", "erano", "eri", "ero",
    "essere", "fa", "faccio", "fare", "fra", "gia", "gli", "ha", "hai", "hanno", "ho", "i", "il",
    "in", "io", "la", "le", "lei", "li", "lo", "loro", "lui", "ma", "mai", "me", "mentre", "mi",
    "mia", "mie", "miei", "mio", "molto", "ne", "nei", "nel", "nella", "nelle", "nello", "no",
    "noi", "non", "nostra", "nostri", "nostro", "o", "per", "perche", "piu", "posso", "prima",
    "puo", "qua", "qualcosa", "quale", "quali", "quando", "quanta", "quanti", "quanto", "quella",
    "quelle", "quelli", "quello", "questa", "queste", "questi", "questo", "qui", "sara", "sarebbe",
    "se", "sei", "sempre", "senza", "si", "siamo", "siete", "sono", "sopra", "sotto", "stata",
    "stati", "stato", "su", "sua", "sue", "sui", "sul", "sulla", "sulle", "suo", "suoi", "te", "ti",
    "tra", "tu", "tua", "tuo", "tuoi", "tutta", "tutti", "tutto", "un", "una", "uno", "verso", "vi",
    "voi", "vostro",
];

#[rustfmt::skip]
const PORTUGUESE: [&str; 151] = [
    "a", "algo", "ali", "antes", "ao", "aos", "aquela", "aquele", "aqui", "aquilo", "as", "ate",
    "com", "como", "contra", "cujo", "da", "das", "de", "dela", "dele", "depois", "desde", "do",
    "dos", "durante", "e", "ela", "elas", "ele", "eles", "em", "embora", "enquanto", "entre", "era",
    "eram", "es", "essa", "essas", "esse", "esses", "esta", "estamos", "estao", "estar", "estas",
    "estava", "estavam", "este", "estes", "esteve", "estou", "eu", "faz", "fazer", "foi", "foram",
    "fui", "ha", "havia", "isso", "isto", "ja", "la", "lhe", "lhes", "mais", "mas", "me", "meu",
    "meus", "mim", "minha", "minhas", "muito", "na", "nada", "nao", "nas", "nem", "no", "nos",
    "nossa", "nosso", "nossos", "num", "numa", "nunca", "o", "onde", "os", "ou", "outra", "outro",
    "para", "pela", "pelas", "pelo", "pelos", "pode", "por", "porque", "posso", "quais", "qual",
    "quando", "quanta", "quanto", "quantos", "que", "quem", "sao", "se", "sem", "sempre", "ser",
    "sera", "seria", "seu", "seus", "sido", "sim", "sobre", "somos", "sou", "sua", "suas", "tambem",
    "te", "tem", "temos", "tenho", "ter", "teu", "teve", "ti", "tinha", "tinham", "toda", "todo",
    "todos", "tu", "tua", "tudo", "um", "uma", "umas", "uns", "voce", "voces",
];

#[rustfmt::skip]
const DUTCH: [&str; 130] = [
    "aan", "al", "alle", "alles", "als", "altijd", "ben", "bent", "bij", "daar", "dan", "dat", "de",
    "den", "der", "deze", "die", "dit", "doen", "door", "dus", "een", "en", "er", "erg", "ga",
    "gaan", "gaat", "geen", "gehad", "geweest", "geworden", "haar", "had", "hadden", "heb",
    "hebben", "hebt", "heeft", "heel", "hem", "hen", "het", "hier", "hij", "hoe", "hoeveel",
    "hoewel", "hun", "iets", "ik", "in", "is", "ja", "je", "jij", "jou", "jouw", "kan", "kon",
    "kunnen", "maar", "mag", "me", "meer", "met", "mij", "mijn", "moet", "moeten", "na", "naar",
    "nee", "niet", "niets", "nog", "nooit", "of", "om", "omdat", "onder", "ons", "onze", "ook",
    "op", "over", "sinds", "te", "tegen", "terwijl", "tijdens", "toen", "tot", "tussen", "u", "uit",
    "uw", "van", "veel", "voor", "waar", "waarom", "wanneer", "want", "waren", "was", "wat", "we",
    "weer", "welk", "welke", "werd", "werden", "wie", "wij", "wil", "word", "worden", "wordt",
    "zal", "ze", "zeer", "zich", "zij", "zijn", "zodat", "zonder", "zou", "zouden", "zullen",
];

#[rustfmt::skip]
const SWEDISH: [&str; 115] = [
    "aldrig", "alla", "allt", "alltid", "an", "ar", "att", "av", "bara", "blev", "blir", "blivit",
    "da", "dar", "darfor", "de", "dem", "den", "denna", "deras", "dessa", "det", "detta", "dig",
    "din", "dina", "ditt", "du", "efter", "eftersom", "eller", "en", "er", "ett", "far", "fick",
    "for", "fore", "fran", "genom", "gjorde", "gor", "ha", "hade", "haft", "han", "hans", "har",
    "henne", "hennes", "hon", "honom", "hos", "hur", "i", "ingen", "inget", "inte", "ja", "jag",
    "kan", "kunde", "man", "maste", "med", "medan", "mellan", "men", "mer", "mest", "mig", "min",
    "mina", "mitt", "mot", "mycket", "nagon", "nagot", "nagra", "nar", "nej", "ni", "och", "ocksa",
    "om", "oss", "over", "pa", "redan", "sa", "sedan", "sig", "sin", "sina", "sitt", "ska",
    "skulle", "som", "till", "under", "utan", "vad", "var", "vara", "varfor", "varit", "vart",
    "vem", "vi", "vid", "vilka", "vilken", "vilket", "vill", "ville",
];

#[rustfmt::skip]
const DANISH: [&str; 115] = [
    "af", "aldrig", "alle", "allerede", "alt", "altid", "at", "blev", "blevet", "bliver", "da",
    "de", "dem", "den", "denne", "der", "deres", "det", "dette", "dig", "din", "dine", "disse",
    "dit", "du", "efter", "eller", "en", "end", "er", "et", "far", "fik", "for", "fordi", "fra",
    "gennem", "gjorde", "gor", "haft", "ham", "han", "hans", "har", "havde", "hende", "hendes",
    "her", "hos", "hun", "hvad", "hvem", "hvilke", "hvilken", "hvilket", "hvor", "hvordan",
    "hvorfor", "hvornar", "i", "ikke", "ingen", "intet", "ja", "jeg", "jer", "kan", "kun", "kunne",
    "ma", "man", "med", "meget", "mellem", "men", "mens", "mere", "mest", "mig", "min", "mine",
    "mit", "mod", "nar", "nej", "nogen", "noget", "nogle", "og", "ogsa", "om", "os", "over", "pa",
    "sa", "siden", "sig", "sin", "sine", "sit", "skal", "skulle", "som", "til", "uden", "under",
    "vaere", "vaeret", "var", "ved", "vi", "vil", "ville", "vor", "vores",
];

#[rustfmt::skip]
const NORWEGIAN: [&str; 115] = [
    "aldri", "alle", "allerede", "alltid", "alt", "at", "av", "bare", "ble", "blir", "blitt", "da",
    "de", "deg", "dem", "den", "denne", "der", "dere", "deres", "det", "dette", "din", "dine",
    "disse", "ditt", "du", "ei", "eller", "en", "enn", "er", "et", "etter", "far", "fikk", "for",
    "fordi", "fra", "gjennom", "gjor", "gjorde", "hadde", "ham", "han", "hans", "har", "hatt",
    "henne", "hennes", "her", "hos", "hun", "hva", "hvem", "hvilke", "hvilken", "hvilket", "hvor",
    "hvordan", "hvorfor", "i", "ikke", "ingen", "ingenting", "ja", "jeg", "kan", "kunne", "ma",
    "man", "med", "meg", "mellom", "men", "mens", "mer", "mest", "mi", "min", "mine", "mitt", "mot",
    "mye", "nar", "nei", "noe", "noen", "og", "ogsa", "om", "oss", "over", "pa", "sa", "seg",
    "siden", "sin", "sine", "sitt", "skal", "skulle", "som", "til", "under", "uten", "vaere",
    "vaert", "var", "vare", "vart", "ved", "vi", "vil", "ville",
];

#[rustfmt::skip]
const FINNISH: [&str; 104] = [
    "aina", "ei", "eivat", "eli", "emme", "en", "enemman", "ennen", "et", "etta", "han", "hanella",
    "hanen", "hanta", "he", "heidan", "heita", "hyvin", "ilman", "ja", "jalkeen", "jo", "joka",
    "jonka", "jos", "jossa", "jota", "joten", "jotka", "kaikki", "kanssa", "kenen", "keta", "koska",
    "kuin", "kuinka", "kuka", "kun", "me", "meidan", "meita", "mihin", "mika", "miksi", "milloin",
    "mina", "minka", "minua", "minulla", "minulle", "minun", "minut", "missa", "mista", "mita",
    "miten", "mutta", "myos", "nama", "ne", "niiden", "niin", "niita", "nuo", "nyt", "ole",
    "olemme", "olen", "olet", "olette", "oli", "olin", "olisi", "olivat", "olla", "ollut", "on",
    "ovat", "paljon", "se", "seka", "sen", "siihen", "siina", "siita", "sina", "sinua", "sinulla",
    "sinun", "sita", "sitten", "tai", "tama", "taman", "tassa", "tata", "te", "teidan", "tuo",
    "tuon", "vai", "vaikka", "vain", "viela",
];

#[rustfmt::skip]
const POLISH: [&str; 139] = [
    "a", "aby", "albo", "ale", "bardzo", "beda", "bede", "bedzie", "bez", "bo", "byc", "byl",
    "byla", "byli", "bylo", "byly", "cie", "ciebie", "co", "cos", "czego", "czy", "dla", "dlaczego",
    "do", "gdy", "gdzie", "go", "i", "ich", "ile", "im", "ja", "jak", "jaka", "jaki", "jakie",
    "jego", "jej", "jesli", "jest", "jestem", "jestes", "jestesmy", "jeszcze", "juz", "kiedy",
    "kogo", "komu", "kto", "ktora", "ktore", "ktory", "ktorych", "lub", "ma", "maja", "mam", "mamy",
    "masz", "mi", "mial", "miala", "miec", "miedzy", "mna", "mnie", "moge", "moich", "moj", "moja",
    "moje", "mojego", "moze", "mozna", "mu", "my", "na", "nad", "nam", "nas", "nasz", "nasza",
    "nic", "nie", "nigdy", "niz", "o", "od", "on", "ona", "oni", "oraz", "po", "pod", "poniewaz",
    "przed", "przez", "przy", "sa", "sie", "skad", "sobie", "swoj", "swoja", "ta", "tak", "takze",
    "tam", "tamten", "te", "tego", "tej", "ten", "tez", "to", "tobie", "tu", "tutaj", "twoj",
    "twoja", "ty", "tych", "tylko", "tym", "u", "w", "was", "we", "wiec", "wiecej", "wszyscy",
    "wszystko", "wy", "z", "za", "zawsze", "ze", "zeby",
];

#[rustfmt::skip]
const CZECH: [&str; 132] = [
    "a", "aby", "ale", "ani", "ano", "bez", "bude", "budou", "budu", "byl", "byla", "byli", "bylo",
    "byt", "ceho", "co", "do", "ho", "i", "ja", "jak", "jaka", "jake", "jaky", "je", "jeho", "jeji",
    "jejich", "jen", "jeste", "jestli", "ji", "jim", "jsem", "jsi", "jsme", "jsou", "jste", "k",
    "kde", "kdo", "kdy", "kdyz", "ke", "koho", "kolik", "ktera", "ktere", "ktery", "ma", "maji",
    "mam", "mame", "mas", "me", "meho", "mel", "mela", "mezi", "mi", "mit", "mne", "mnou", "mohu",
    "moje", "moji", "mu", "muj", "muze", "my", "na", "nad", "nam", "nas", "nase", "ne", "nebo",
    "neco", "nez", "nic", "nikdy", "o", "od", "odkud", "on", "ona", "oni", "po", "pod", "pred",
    "pres", "pri", "pro", "proc", "protoze", "s", "se", "si", "sobe", "svuj", "ta", "tady", "tak",
    "take", "tam", "te", "tebe", "tech", "ten", "ti", "to", "toho", "tom", "tvoje", "tvuj", "ty",
    "u", "uz", "v", "vas", "ve", "velmi", "vice", "vsak", "vsechno", "vsichni", "vy", "vzdy", "z",
    "za", "zde", "ze",
];

#[rustfmt::skip]
const ROMANIAN: [&str; 114] = [
    "a", "acea", "aceasta", "acel", "acest", "acesta", "aceste", "acolo", "ai", "aici", "al", "ale",
    "am", "are", "au", "avea", "aveam", "avem", "aveti", "ca", "cand", "care", "cat", "cati", "ce",
    "ceva", "cine", "cu", "cum", "da", "daca", "dar", "de", "decat", "deci", "deja", "despre",
    "din", "dupa", "e", "ea", "ei", "el", "ele", "era", "eram", "erau", "este", "esti", "eu",
    "fara", "fi", "foarte", "fost", "iar", "ii", "il", "imi", "in", "inainte", "intre", "isi", "la",
    "lor", "lui", "ma", "mai", "mea", "mei", "mele", "mereu", "meu", "mie", "mine", "ne",
    "niciodata", "nimic", "niste", "noastra", "noi", "nostru", "noua", "nu", "o", "pana", "pe",
    "pentru", "peste", "prin", "sa", "sau", "se", "si", "spre", "sub", "sunt", "suntem", "sunteti",
    "ta", "tau", "te", "tie", "tine", "toate", "tot", "toti", "tu", "un", "unde", "unei", "unui",
    "va", "voi", "vor",
];

#[rustfmt::skip]
const HUNGARIAN: [&str; 79] = [
    "a", "alatt", "amikor", "az", "csak", "de", "egy", "elott", "en", "engem", "enyem", "es", "ez",
    "ezek", "ezt", "ha", "hany", "hogy", "hogyan", "hol", "honnan", "hova", "igen", "is", "itt",
    "kell", "ki", "kit", "kozott", "lehet", "lenne", "lesz", "lett", "mar", "meg", "melyik",
    "mennyi", "mert", "mi", "miert", "mig", "mikor", "milyen", "minden", "mindig", "minket", "mint",
    "mit", "nagyon", "neked", "nekem", "neki", "nekik", "nekunk", "nelkul", "nem", "nincs", "o",
    "ok", "ot", "ott", "sem", "semmi", "soha", "te", "teged", "tehat", "ti", "tobb", "utan", "vagy",
    "vagyok", "vagyunk", "valami", "van", "vannak", "volt", "voltak", "voltam",
];

#[rustfmt::skip]
const TURKISH: [&str; 80] = [
    "ama", "bana", "bazi", "ben", "bende", "beni", "benim", "bir", "biz", "bize", "bizi", "bizim",
    "bu", "buna", "bunu", "burada", "cok", "cunku", "da", "daha", "de", "degil", "eger", "en",
    "fakat", "gibi", "hangi", "hep", "her", "hic", "hicbir", "icin", "idi", "ile", "ise", "kac",
    "kadar", "ki", "kim", "kimi", "mi", "mu", "nasil", "ne", "neden", "nerede", "nereden", "nereye",
    "neyi", "nicin", "o", "olan", "olarak", "oldu", "olur", "ona", "once", "onlar", "onlari",
    "onlarin", "onu", "onun", "orada", "sana", "sen", "seni", "senin", "sey", "siz", "size", "sizi",
    "sizin", "sonra", "su", "var", "ve", "veya", "ya", "yok", "zaman",
];

#[rustfmt::skip]
const RUSSIAN: [&str; 140] = [
    "а", "без", "более", "будет", "буду", "будут", "бы", "был", "была", "были", "было", "быть", "в",
    "вам", "вас", "ваш", "ваша", "во", "все", "всегда", "всех", "вы", "где", "да", "для", "до",
    "его", "ее", "еи", "ему", "если", "есть", "еще", "ею", "же", "за", "зачем", "здесь", "и", "из",
    "или", "им", "ими", "их", "к", "как", "какая", "какие", "какои", "ко", "когда", "кого", "кому",
    "которая", "которые", "которыи", "кто", "куда", "ли", "между", "меня", "мне", "мнои", "мое",
    "моего", "моеи", "мои", "моих", "моя", "мы", "на", "над", "нам", "нами", "нас", "наш", "наша",
    "наши", "не", "нет", "ни", "никогда", "ничего", "но", "о", "об", "он", "она", "они", "от",
    "откуда", "очень", "перед", "по", "под", "после", "потому", "почему", "при", "про", "с",
    "своеи", "свои", "свою", "себе", "себя", "сколько", "со", "та", "так", "также", "там", "твои",
    "твоя", "те", "тебе", "тебя", "то", "того", "тоже", "только", "тот", "тут", "ты", "у", "уже",
    "чего", "чем", "чему", "через", "что", "чтобы", "эта", "эти", "это", "этого", "этои", "этом",
    "этот", "я",
];

#[rustfmt::skip]
const GREEK: [&str; 87] = [
    "αλλα", "αν", "απο", "αυτα", "αυτη", "αυτο", "αυτοι", "αυτον", "αυτος", "αυτου", "για", "γιατι",
    "δεν", "εγω", "εδω", "ειμαι", "ειμαστε", "ειναι", "εισαι", "ειχα", "ειχε", "εκει", "εμεις",
    "εμενα", "ενα", "ενας", "επειδη", "εσεις", "εσενα", "εσυ", "εχει", "εχεις", "εχουν", "εχω", "η",
    "ημουν", "ηταν", "θα", "και", "κατα", "κατι", "μας", "με", "μετα", "μεχρι", "μην", "μια", "μου",
    "να", "ναι", "ο", "οι", "ολα", "οταν", "οτι", "οχι", "πιο", "ποια", "ποιο", "ποιος", "πολυ",
    "ποσο", "ποτε", "που", "πριν", "πως", "σας", "σε", "σου", "στα", "στη", "στην", "στις", "στο",
    "στον", "στους", "τα", "την", "της", "τι", "τις", "το", "τον", "του", "τους", "των", "χωρις",
];

#[rustfmt::skip]
const ARABIC: [&str; 54] = [
    "أن", "أنا", "أنت", "أنتم", "أو", "أي", "أيضا", "أين", "إذا", "إلى", "إن", "التي", "الذي",
    "الذين", "بعد", "بين", "تلك", "ثم", "حتى", "ذلك", "على", "عن", "في", "قبل", "قد", "كان", "كانت",
    "كانوا", "كل", "كم", "كما", "كيف", "لا", "لكن", "لم", "لماذا", "لن", "ليس", "ما", "ماذا", "متى",
    "مع", "من", "منذ", "نحن", "هؤلاء", "هذا", "هذه", "هل", "هم", "هو", "هي", "و", "يكون",
];

#[rustfmt::skip]
const TAMIL: [&str; 23] = [
    "அது", "அந்த", "அவன்", "அவர்", "அவள்", "ஆனால்", "இது", "இந்த", "எங்கே", "எனக்கு", "என்", "என்ன",
    "என்னை", "எப்படி", "எப்போது", "ஏன்", "ஒரு", "நாங்கள்", "நான்", "நீ", "நீங்கள்", "மற்றும்",
    "யார்",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::fold;

    #[test]
    fn x04_the_lists_are_sorted_and_folded() {
        let others = [
            Language::Russian,
            Language::Greek,
            Language::Arabic,
            Language::Tamil,
        ];
        for language in Language::LATIN.into_iter().chain(others) {
            let words = of(language);
            assert!(words.is_sorted(), "{language:?}");
            assert!(words.iter().all(|word| fold(word) == *word), "{language:?}");
        }
    }
}
