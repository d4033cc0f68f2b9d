//! Statements in every language of the data, and sentences that are none.

use std::sync::LazyLock;

use super::*;

static STATEMENTS: LazyLock<Statements> = LazyLock::new(Statements::new);

fn drawn(text: &str) -> Vec<(String, String)> {
    said(text, false)
}

/// A statement of a text, or its retraction.
fn said(text: &str, retracts: bool) -> Vec<(String, String)> {
    let found = STATEMENTS.of(text).into_iter();
    let found = found.filter(|one| one.retracts == retracts);
    found.map(|one| (one.key, one.value)).collect()
}

#[test]
fn x12_what_no_longer_holds_is_taken_back_in_each_language() {
    for (text, key, value) in [
        ("I no longer live in New York.", "home", "New York"),
        ("I don't live in Berlin anymore.", "home", "Berlin"),
        ("We moved away from Berlin.", "home", "Berlin"),
        ("I no longer work at Acme.", "employer", "Acme"),
        ("I quit my job.", "employer", "*"),
        ("I'm no longer a nurse.", "job", "nurse"),
        ("I have a dog no more.", "pet/dog", "*"),
        ("My dog died last week.", "pet/dog", "*"),
        ("Sadly our cat Luna passed away.", "cat/luna", "*"),
        ("I am not allergic to nuts anymore.", "allergy/nuts", "nuts"),
        ("My girlfriend and I broke up.", "girlfriend", "*"),
        ("Ich wohne nicht mehr in Berlin.", "home", "Berlin"),
        ("Ich bin keine Lehrerin mehr.", "job", "Lehrerin"),
        ("Ich arbeite nicht mehr bei Siemens.", "employer", "Siemens"),
        ("Mein Hund Rex ist gestorben.", "hund/rex", "*"),
        ("Je n'habite plus à Lyon.", "home", "Lyon"),
        ("Je ne suis plus infirmière.", "job", "infirmière"),
        ("Ya no vivo en Madrid.", "home", "Madrid"),
        ("Ya no trabajo en Seat.", "employer", "Seat"),
        ("Non vivo più a Roma.", "home", "Roma"),
        ("Non lavoro più per Fiat.", "employer", "Fiat"),
        ("Não moro mais em Lisboa.", "home", "Lisboa"),
        ("Ik woon niet meer in Gent.", "home", "Gent"),
        ("Ik ben geen leraar meer.", "job", "leraar"),
        ("我不住在北京了。", "home", "北京"),
        ("我已经不在华为工作了。", "employer", "华为"),
    ] {
        assert_eq!(
            said(text, true),
            [(key.to_owned(), value.to_owned())],
            "{text}"
        );
        assert_eq!(drawn(text), [], "{text}");
    }
    let moved = "I moved to Hamburg, I no longer live in Berlin.";
    assert_eq!(drawn(moved), [("home".to_owned(), "Hamburg".to_owned())]);
    assert_eq!(said(moved, true), []);
    for text in [
        "If I no longer live in Berlin, I vote by mail.",
        "My sister died.",
    ] {
        assert_eq!(STATEMENTS.of(text), [], "{text}");
    }
}

#[test]
fn x12_plain_statements_are_drawn_in_each_language() {
    let statements = &*STATEMENTS;
    for (text, key, value) in [
        (
            "Well, I live in New York City now.",
            "home",
            "New York City",
        ),
        ("I just moved to Hamburg from Berlin.", "home", "Hamburg"),
        (
            "I work at a local IT company",
            "employer",
            "a local IT company",
        ),
        ("I work as a nurse.", "job", "nurse"),
        ("My sister is called Anna.", "sister/anna", "Anna"),
        ("I prefer tea over coffee.", "prefers/tea", "tea"),
        (
            "My favorite color is dark green.",
            "favourite/color",
            "dark green",
        ),
        ("I'm no longer vegetarian.", "diet", "no longer vegetarian"),
        ("My flight was moved to May 9.", "flight", "May 9"),
        ("I have two kids.", "children", "two"),
        ("Ich wohne jetzt in Hamburg.", "home", "Hamburg"),
        (
            "Ich bin letzte Woche nach Hamburg gezogen.",
            "home",
            "Hamburg",
        ),
        ("Ich bin allergisch gegen Nüsse.", "allergy/nüsse", "Nüsse"),
        ("J'habite maintenant à Lyon.", "home", "Lyon"),
        (
            "Je suis allergique aux arachides.",
            "allergy/arachides",
            "arachides",
        ),
        ("Me mudé a Sevilla la semana pasada.", "home", "Sevilla"),
        ("Soy enfermera.", "job", "enfermera"),
        ("Vivo a Roma.", "home", "Roma"),
        ("Sono allergica alle noci.", "allergy/noci", "noci"),
        ("Moro em Lisboa.", "home", "Lisboa"),
        ("Minha irmã se chama Ana.", "irmã/ana", "Ana"),
        ("Ik ben vorige week naar Gent verhuisd.", "home", "Gent"),
        ("Mijn zus heet Eva.", "zus/eva", "Eva"),
        ("我住在北京。", "home", "北京"),
        ("我上周搬到了上海。", "home", "上海"),
        ("我对花生过敏。", "allergy/花生", "花生"),
        ("我是一名护士。", "job", "护士"),
    ] {
        let found = statements.of(text);
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.key.as_str(), one.value.as_str()))
            .collect();
        assert_eq!(found, [(key, value)], "{text}");
    }
}

#[test]
fn x12_what_is_asked_supposed_reported_or_quoted_states_nothing() {
    for text in [
        "Do I live in Berlin?",
        "I live in Berlin?",
        "If I live in Berlin, I pay rent.",
        "I used to live in Berlin.",
        "I don't live in Berlin.",
        "She told me I live in Berlin.",
        "He said \"I live in Berlin\".",
        "> I live in Berlin.",
        "```\nI live in Berlin.\n```",
        "Translate this: I live in Berlin.",
        "Anna: I live in Berlin.",
        "I live in fear.",
        "I live in a very old town so there is a lot of history.",
        "I love it when it rains.",
        "Ich wohne nicht in Berlin.",
        "Wenn ich in Berlin wohne, zahle ich Miete.",
        "Si vivo en Madrid, pago mucho.",
        "如果我住在北京就好了。",
    ] {
        assert_eq!(drawn(text), [], "{text}");
    }
}

#[test]
fn x12_a_condition_differs_from_a_report_by_its_accents() {
    for (text, key, value) in [
        (
            "Ich wurde befördert, ich arbeite jetzt als Managerin.",
            "job",
            "Managerin",
        ),
        ("Wir waren in Rom, und ich wohne in Köln.", "home", "Köln"),
        ("Ich hatte Glück, ich wohne in Köln.", "home", "Köln"),
        ("Sí, vivo en Madrid.", "home", "Madrid"),
    ] {
        let expected = [(key.to_owned(), value.to_owned())];
        assert_eq!(drawn(text), expected, "{text}");
    }
    for text in [
        "Es würde passen, ich wohne in Köln.",
        "Es wu\u{308}rde passen, ich wohne in Köln.",
        "Es wuerde passen, ich wohne in Köln.",
        "HÄTTE ich Geld, ich wohne in Köln.",
        "Mir wurde gesagt, ich wohne in Köln.",
        "Er hatte mir gesagt, ich wohne in Köln.",
        "Mir wurde oft gesagt, ich wohne in Köln.",
        "Si vivo en Madrid, pago mucho.",
    ] {
        assert_eq!(drawn(text), [], "{text}");
    }
}

#[test]
fn x12_a_time_may_lead_to_a_statement_or_stand_inside_it() {
    for (text, key, value) in [
        (
            "As of last week I work for Lufthansa.",
            "employer",
            "Lufthansa",
        ),
        ("Since March 2021 I live in Porto.", "home", "Porto"),
        ("Two weeks ago we moved to Leipzig.", "home", "Leipzig"),
        ("Right now I drive a Mini.", "car", "Mini"),
        ("I've been living in Ghent since 2019.", "home", "Ghent"),
        ("Seit letztem Jahr wohnen wir in Kiel.", "home", "Kiel"),
        ("Seit Anfang Mai 2023 wohne ich in Bonn.", "home", "Bonn"),
        ("Vor zwei Wochen bin ich nach Ulm gezogen.", "home", "Ulm"),
        ("Mittlerweile bin ich Hebamme.", "job", "Hebamme"),
        ("Ich arbeite seit gestern bei Lidl.", "employer", "Lidl"),
        ("Ab sofort ernähre ich mich vegan.", "diet", "vegan"),
        ("Inzwischen fahre ich einen Dacia.", "auto", "Dacia"),
        ("Ich bin im Juni nach Trier gezogen.", "home", "Trier"),
        ("Depuis l'été dernier j'habite à Nice.", "home", "Nice"),
        (
            "Depuis 2020 je travaille pour Airbus.",
            "employer",
            "Airbus",
        ),
        ("Je travaille depuis deux mois comme juge.", "job", "juge"),
        ("En ce moment je conduis une Dacia.", "voiture", "Dacia"),
        ("Desde hace dos meses vivo en Cádiz.", "home", "Cádiz"),
        (
            "A partir de esta semana trabajo para Seat.",
            "employer",
            "Seat",
        ),
        ("Hoy en día soy fotógrafa.", "job", "fotógrafa"),
        ("Actualmente manejo un Nissan.", "coche", "Nissan"),
        ("Da gennaio vivo a Trento.", "home", "Trento"),
        ("Il mese scorso mi sono trasferita a Pisa.", "home", "Pisa"),
        ("Da due anni lavoro come giudice.", "job", "giudice"),
        ("Desde o ano passado moro em Braga.", "home", "Braga"),
        ("Há dois meses trabalho como motorista.", "job", "motorista"),
        (
            "Sinds vorige maand werk ik bij Philips.",
            "employer",
            "Philips",
        ),
        ("Tegenwoordig ben ik rechter.", "job", "rechter"),
        (
            "Twee weken geleden ben ik naar Breda verhuisd.",
            "home",
            "Breda",
        ),
        ("从上个月开始我在字节跳动工作。", "employer", "字节跳动"),
        ("我最近搬到成都了。", "home", "成都"),
        ("如今我是一名法官。", "job", "法官"),
        ("My new boyfriend is called Milo.", "boyfriend", "Milo"),
        ("Mein neuer Kollege heißt Jonas.", "kollege/jonas", "Jonas"),
        ("Ma nouvelle collègue s'appelle Zoé.", "collègue/zoé", "Zoé"),
        ("Mi nueva vecina se llama Inés.", "vecina/inés", "Inés"),
        (
            "La mia nuova coinquilina si chiama Sara.",
            "coinquilina/sara",
            "Sara",
        ),
        ("Meu novo chefe se chama Rui.", "chefe/rui", "Rui"),
        ("Mijn nieuwe baas heet Bram.", "baas/bram", "Bram"),
        ("我的新同事叫小杰。", "同事/小杰", "小杰"),
    ] {
        assert_eq!(drawn(text), [(key.to_owned(), value.to_owned())], "{text}");
    }
}

#[test]
fn x12_a_time_makes_no_statement_out_of_nothing() {
    for text in [
        "Wohne ich in Bonn oder nicht",
        "Und arbeite ich bei Lidl",
        "Ab nächster Woche arbeite ich bei Lidl.",
        "Heute esse ich vegan.",
        "Vor zwei Jahren, als ich in Kiel wohne, war alles anders.",
        "Seit gestern überlege ich, ob ich bei Lidl arbeite.",
        "Jetzt fahre ich einen Umweg.",
        "Now I know why I live in fear.",
        "This weekend I work for my uncle.",
        "Je conduis Marie à l'école.",
        "Ahora mi jefe trabaja en Seat.",
        "Ik ben naar Parijs geweest.",
        "Woon ik nu in Gent",
        "他现在在北京工作。",
    ] {
        assert_eq!(drawn(text), [], "{text}");
    }
}

#[test]
fn x12_a_city_is_no_employer() {
    for (text, value) in [
        ("Trabajo en Madrid.", "Madrid"),
        ("Lavoro a Torino.", "Torino"),
        ("Trabalho em Lisboa.", "Lisboa"),
        ("我在深圳上班。", "深圳"),
    ] {
        let workplace = ("workplace".to_owned(), value.to_owned());
        assert_eq!(drawn(text), [workplace], "{text}");
    }
}

#[test]
fn x12_questions_name_the_keys_that_they_ask_for() {
    let statements = &*STATEMENTS;
    for (query, key) in [
        ("Where do I live?", "home"),
        ("Wo wohne ich?", "home"),
        ("What is my occupation?", "job"),
        ("¿A qué me dedico?", "job"),
        ("What's my favorite color?", "favourite/color"),
        ("我住在哪里？", "home"),
    ] {
        let asked = statements.asked(query);
        assert!(
            asked.keys.iter().any(|one| one == key),
            "{query}: {asked:?}"
        );
        assert!(!asked.everything, "{query}");
    }
    for query in [
        "What do you know about me?",
        "Was weißt du über mich?",
        "¿Qué sabes de mí?",
        "Cosa sai di me?",
        "Que sais-tu de moi ?",
        "O que você sabe sobre mim?",
        "Wat weet je over mij?",
        "你知道我什么？",
        "你对我了解多少？",
    ] {
        assert!(statements.asked(query).everything, "{query}");
    }
}

proptest::proptest! {
    #[test]
    fn x12_any_text_is_read_without_failing(text in ".{0,200}", ascii in "[ -~\n]{0,200}") {
        for text in [text, ascii] {
            let found = STATEMENTS.of(&text);
            proptest::prop_assert!(found.iter().all(|one| !one.key.is_empty() && !one.value.is_empty()));
        }
    }
}

#[test]
fn o09_the_words_around_a_quoted_value_deny_it_or_put_it_into_the_past() {
    use Quoted::{Denied, NotActual, NotSaid, Stated};

    for (expected, message, quote, value) in [
        (Stated, "I am vegan.", "I am vegan", "vegan"),
        (Denied, "I am not vegan.", "I am not vegan", "vegan"),
        (
            Denied,
            "I'm not, as you know, vegan.",
            "as you know, vegan",
            "vegan",
        ),
        (
            Denied,
            "I do not smoke, drink or eat meat.",
            "eat meat",
            "meat",
        ),
        (
            Denied,
            "It isn’t true that I am vegan.",
            "I am vegan",
            "vegan",
        ),
        (Denied, "Vegan I am not.", "Vegan I am", "vegan"),
        (Stated, "I am not vegan.", "I am not vegan", "not vegan"),
        (Stated, "No, I am vegan.", "I am vegan", "vegan"),
        (
            Stated,
            "I am vegan and do not smoke.",
            "I am vegan",
            "vegan",
        ),
        (
            Stated,
            "I don't eat meat because I am vegan.",
            "I am vegan",
            "vegan",
        ),
        (
            Stated,
            "I was not. But now I am vegan.",
            "now I am vegan",
            "vegan",
        ),
        (
            NotActual,
            "I used to live in Paris.",
            "live in Paris",
            "Paris",
        ),
        (
            NotActual,
            "I moved away from Paris.",
            "moved away from Paris",
            "Paris",
        ),
        (NotActual, "If I am vegan, what then", "I am vegan", "vegan"),
        (NotActual, "She said I am vegan.", "I am vegan", "vegan"),
        (NotActual, "My dog Rex died.", "My dog Rex died", "Rex"),
        (Stated, "Remember that I am vegan.", "I am vegan", "vegan"),
        (
            Stated,
            "My favourite book is The Neverending Story.",
            "book is the neverending story",
            "Neverending Story",
        ),
        (Stated, "I don't smoke, and now I run.", "now I run", "run"),
        (
            Denied,
            "I do not smoke, and now I run.",
            "not smoke, and now I run",
            "run",
        ),
        (Stated, "No, vivo en Madrid.", "vivo en Madrid", "Madrid"),
        (NotSaid, "Am I vegan? I am not sure.", "I am vegan", "vegan"),
        (
            Denied,
            "Ich bin kein Veganer.",
            "bin kein Veganer",
            "Veganer",
        ),
        (
            NotActual,
            "Früher wohnte ich in Köln.",
            "wohnte ich in Köln",
            "Köln",
        ),
        (NotActual, "Je n'habite plus à Lyon.", "plus à Lyon", "Lyon"),
        (Denied, "No vivo en Madrid.", "vivo en Madrid", "Madrid"),
        (Stated, "Moro no Porto.", "Moro no Porto", "Porto"),
        (Denied, "Não moro no Porto.", "moro no Porto", "Porto"),
        (
            Stated,
            "I am in a club of sailors.",
            "club of sailors",
            "club",
        ),
        (Denied, "我不住在北京。", "住在北京", "北京"),
    ] {
        assert_eq!(
            STATEMENTS.quoted(message, quote, value),
            expected,
            "{message}"
        );
    }
}

#[test]
fn x12_a_block_of_code_ends_with_a_fence_like_its_first() {
    let nothing = [
        "````\n```\nI live in Rome.\n```\nI live in Oslo.\n````",
        "~~~\n```\nI live in Rome.\n```\n~~~",
        "~~~~ text\n~~~\nI live in Rome.\n~~~",
        "```\nI live in Rome.\n~~~\n``\n```rust\nI work as a nurse.",
    ];
    for text in nothing {
        assert_eq!(drawn(text), [], "{text}");
    }
    let home = [("home".to_owned(), "Porto".to_owned())];
    for text in [
        "````\n```\nI live in Rome.\n````\nI live in Porto.",
        "```\nI live in Rome.\n````  \nI live in Porto.",
        "```cargo test``` fails.\nI live in Porto.",
    ] {
        assert_eq!(drawn(text), home, "{text}");
    }
}

#[test]
fn x12_a_letter_in_a_message_states_nothing_about_its_sender() {
    for letter in [
        "Hi Tom,\nI live in Oslo now and I work as a nurse.\nBest, Anna",
        "Dear all,\n\nI live in Oslo now.\n\nKind regards,\nAnna Berg",
        "Dear Mr. Smith and Anna,\nI live in Oslo now.",
        "Hallo Tom,\nich wohne jetzt in Oslo.\nViele Grüße\nAnna",
        "Sehr geehrte Frau Dr. Huber,\nich arbeite als Lehrerin.\nMit freundlichen Grüßen\nAnna Berg",
        "Cher Tom,\nj'habite à Oslo.\nBien à toi,\nAnna",
        "Hola Tom:\nVivo en Oslo.\nUn abrazo, Anna",
        "Ciao Tom,\nvivo a Oslo.\nUn abbraccio,\nAnna",
        "Olá Tom,\nmoro em Oslo.\nAbraços, Ana",
        "Beste Tom,\nIk woon in Oslo.\nGroetjes, Anna",
        "亲爱的小王：\n我住在上海。\n祝好\n小李",
    ] {
        let text = format!("What do you think of this email?\n\n{letter}");
        assert_eq!(drawn(&text), [], "{text}");
    }
    // Alone, a letter is known by who signs it.
    assert_eq!(drawn("Dear Tom,\nI live in Oslo now.\nBest,\nAnna"), []);
    let home = [("home".to_owned(), "Porto".to_owned())];
    for text in [
        "Hi!\nI live in Porto.\nThanks!",
        "Hello there,\nI live in Porto.",
        "Hi Tom, I live in Porto.",
        "Is this polite?\nHi Tom,\nI live in Oslo.\nBest, Anna\n\nI live in Porto.",
        "Some news:\nDear me, what a week.\nI live in Porto.",
        "Hi Claude,\nI live in Porto.\nThanks, Claude!",
        "Hi Claude,\nI live in Porto.\nBest, Claude",
        "Hi,\nI live in Porto.\nThanks\nAnna",
        "Hi,\nI live in Porto.\nBest,\nAnna",
        "Back again\nHey\nI live in Porto.",
        "Back again\nHey Tom\nI live in Porto.",
    ] {
        assert_eq!(drawn(text), home, "{text}");
    }
    let sentence = "你好，我叫李明\n我住在上海\n谢谢你的帮助";
    let li_ming = [("name", "李明"), ("home", "上海")];
    assert_eq!(
        drawn(sentence),
        li_ming.map(|(key, value)| (key.to_owned(), value.to_owned()))
    );
}
