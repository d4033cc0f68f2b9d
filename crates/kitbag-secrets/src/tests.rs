//! What is found, what is left alone, and what always holds.

mod look_alikes;
mod made_secrets;
mod properties;
mod random;

use super::*;

/// Redacts and checks that lines stay lines.
fn redacted(text: &str, path: &str) -> String {
    let redacted = redact(text, path);
    assert_eq!(
        redacted.text.matches('\n').count(),
        text.matches('\n').count()
    );
    redacted.text.into_owned()
}

#[test]
fn every_format_compiles() {
    for token in token::TOKENS.iter() {
        assert!(token.regex().is_some(), "{}", token.kind);
    }
    let is_format = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let lines = token::VENDORS.lines().filter(is_format).count();
    assert_eq!(token::TOKENS.len(), lines);
}

#[test]
fn markers_say_what_was_there_and_findings_where() {
    let mut random = random::Random::new(1);
    let token = random.fill("ghp_{w36}");
    let text = format!(
        "a\nb = '{token}'\n\nredis://:{}@cache\n",
        random.fill("{w12}7")
    );
    let redacted = redact(&text, "settings.py");
    insta::assert_snapshot!(redacted.text, @r"
    a
    b = '[REDACTED:github-token]'

    redis://:[REDACTED:url-password]@cache
    ");
    let found: Vec<_> = redacted.found.iter().map(|f| (f.kind, f.line)).collect();
    assert_eq!(found, [("github-token", 2), ("url-password", 4)]);
}

#[test]
fn a_private_key_keeps_its_lines() {
    let mut random = random::Random::new(2);
    let line = |random: &mut random::Random| random.fill("{b64}");
    let (begin, end) = (
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END RSA PRIVATE KEY-----",
    );
    let body = [line(&mut random), line(&mut random), random.fill("{w6}==")].join("\n");
    let text = format!("x\n{begin}\n{body}\n{end}\ny\n");
    insta::assert_snapshot!(redacted(&text, "id"), @r"
    x
    -----BEGIN RSA PRIVATE KEY-----
    [REDACTED:private-key]
    [REDACTED:private-key]
    [REDACTED:private-key]
    -----END RSA PRIVATE KEY-----
    y
    ");
    let code = format!(
        "K = (\n    \"{begin}\\n\"\n    \"{}\\n\"\n    \"{end}\"\n)\n",
        line(&mut random)
    );
    insta::assert_snapshot!(redacted(&code, "k.py"), @r#"
    K = (
        "-----BEGIN RSA PRIVATE KEY-----\n"
        "[REDACTED:private-key]\n"
        "-----END RSA PRIVATE KEY-----"
    )
    "#);
    let one_line = format!(
        "{{\"private_key\": \"{begin}\\n{}\\n{}\\n{end}\\n\"}}",
        line(&mut random),
        line(&mut random)
    );
    insta::assert_snapshot!(redacted(&one_line, "sa.json"), @r#"{"private_key": "-----BEGIN RSA PRIVATE KEY-----\n[REDACTED:private-key]\n-----END RSA PRIVATE KEY-----\n"}"#);
    // Cut off in the middle: what is there is replaced, what follows is not.
    let cut = format!(
        "{begin}\n{}\n{}\n\nThe rest is prose.\n",
        line(&mut random),
        line(&mut random)
    );
    insta::assert_snapshot!(redacted(&cut, "notes.txt"), @r"
    -----BEGIN RSA PRIVATE KEY-----
    [REDACTED:private-key]
    [REDACTED:private-key]

    The rest is prose.
    ");
}

#[test]
fn a_private_key_is_one_secret() {
    let mut random = random::Random::new(4);
    let body: Vec<String> = (0..24).map(|_| random.fill("{b64}")).collect();
    let key = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\n",
        body.join("\n")
    );
    let text = format!("one\n{key}two\n{key}");
    for (path, text) in [
        ("keys.txt", &text),
        ("id_rsa", &text.replace("one", "").replace("two", "")),
    ] {
        let found = redact(text, path).found;
        let found: Vec<_> = found
            .iter()
            .map(|f| (f.kind, f.line, f.last_line))
            .collect();
        assert_eq!(found, [("private-key", 3, 26), ("private-key", 30, 53)]);
    }
    let quoted = format!("PORT=1\nKEY=\"{key}\"\nNAME=x\n");
    let found = redact(&quoted, ".env").found;
    let lines: Vec<_> = found.iter().map(|f| (f.line, f.last_line)).collect();
    assert_eq!(lines, [(1, 1), (2, 27), (29, 29)]);
}

#[test]
fn every_value_of_a_file_that_is_kept_for_secrets_is_replaced() {
    let shown = |path: &str, text: &str| format!("{path}\n{}\n", redacted(text, path));
    let all = [
        shown(
            ".env",
            "# the database\nDB_PASSWORD=hunter2\nexport TOKEN='a b' # old\nEMPTY=\nDEBUG=true\nURL=${BASE}\n\nNAME = x\n",
        ),
        shown(
            "deploy/.env.production",
            "PIN=1234\nTWO=\"first\nsecond\"\nTHREE=3\n",
        ),
        shown(
            ".npmrc",
            "registry=https://r.example/\n//r.example/:_authToken=abc\n; a comment\n",
        ),
        shown(".pypirc", "[pypi]\nusername: ann\npassword: pypi\n"),
        shown(
            "home/.aws/credentials",
            "[default]\naws_access_key_id = me\naws_secret_access_key=you=\n",
        ),
        shown(
            "secrets.json",
            "{\"a\": {\"b\": \"c\"}, \"d\":\"e\",\n\"f\": 1}\n",
        ),
        shown(
            ".netrc",
            "machine h login ann password tiger\n  account x\n",
        ),
        shown(".pgpass", "#h\nlocalhost:5432:db:ann:tiger\n"),
        shown(".htpasswd", "ann:x1\n"),
        shown(".git-credentials", "https://ann:tiger@git.example\n"),
    ];
    insta::assert_snapshot!(all.concat(), @r#"
    .env
    # the database
    DB_PASSWORD=[REDACTED:secret]
    export TOKEN='[REDACTED:secret]' # old
    EMPTY=
    DEBUG=true
    URL=${BASE}

    NAME = [REDACTED:secret]

    deploy/.env.production
    PIN=[REDACTED:secret]
    TWO="[REDACTED:secret]
    [REDACTED:secret]"
    THREE=[REDACTED:secret]

    .npmrc
    registry=[REDACTED:secret]
    //r.example/:_authToken=[REDACTED:secret]
    ; a comment

    .pypirc
    [pypi]
    username: [REDACTED:secret]
    password: [REDACTED:secret]

    home/.aws/credentials
    [default]
    aws_access_key_id = [REDACTED:secret]
    aws_secret_access_key=[REDACTED:secret]

    secrets.json
    {"a": {"b": "[REDACTED:secret]"}, "d":"[REDACTED:secret]",
    "f": [REDACTED:secret]

    .netrc
    machine h login ann password [REDACTED:secret]
      account [REDACTED:secret]

    .pgpass
    #h
    localhost:5432:db:ann:[REDACTED:secret]

    .htpasswd
    ann:[REDACTED:secret]

    .git-credentials
    https://ann:[REDACTED:secret]@git.example
    "#);
    let example = "DB_PASSWORD=hunter2\n";
    for path in [".env.example", "config.py", ".environment", "secrets.rs"] {
        assert_eq!(redacted(example, path), example, "{path}");
        assert!(!is_secret_file(path), "{path}");
    }
    assert!(is_secret_file("a/.ENV") && is_secret_file("tls/server.key"));
}

#[test]
fn values_without_a_name_beside_them_are_replaced() {
    let secret = "[REDACTED:secret]";
    for (path, text, shown) in [
        (
            "secrets.yml",
            "password: |\n  plain1: a\n\n  # plain2\nb: |-\n  plain3\nc:\n  d: plain4\n",
            "password: |\n  *\n\n  *\nb: |-\n  *\nc:\n  d: *\n",
        ),
        (
            "secrets.yml",
            "---\nkeys:\n  - plain1\n  - 'plain2'\n  - pla=in\n  - cGxhaW4=\n  - name: plain\n  - >\n    plain\n",
            "---\nkeys:\n  - *\n  - '*'\n  - *\n  - *\n  - name: *\n  - >\n    *\n",
        ),
        (
            "secrets.yml",
            "keys: [plain1, plain2]\nk: plain\n  more\n",
            "keys: [*, *]\nk: *\n  *\n",
        ),
        (
            "secrets.json",
            "{\"keys\": [\"plain1\", \"pl=ain\"],\n\"more\": [\n  \"cGxhaW4=\",\n  \"plain: 3\"\n],\n\"z\": \"y\"}\n",
            "{\"keys\": [\"*\", \"*\"],\n\"more\": [\n  \"*\",\n  \"*\"\n],\n\"z\": \"*\"}\n",
        ),
        (
            ".env",
            "A=1\nB=\\\nplain=x\nC=a\\\n  #b\\\nc\n# end\n",
            "A=*\nB=*\n*\nC=*\n  *\n*\n# end\n",
        ),
        (
            ".env",
            "PASSWORD=[plain\nplain\nA='x' # b=c\n",
            "PASSWORD=[*\n*\nA='*' # b=c\n",
        ),
        ("credentials", "[a b] # c\nx = y\n", "[a b] # c\nx = *\n"),
        (
            ".netrc",
            "machine h\nlogin ann\npassword\n# old\n  tiger\npassword \"a b\" account\n#x\n",
            "machine h\nlogin ann\npassword\n# old\n  *\npassword * account\n*\n",
        ),
    ] {
        let once = redacted(text, path);
        assert_eq!(once, shown.replace('*', secret), "{path}");
        assert_eq!(redacted(&once, path), once, "{path}");
    }
}

#[test]
fn only_a_reference_is_taken_for_one() {
    let secret = "[REDACTED:secret]";
    for (path, text, shown) in [
        (
            ".env",
            "A=$HOME_2\nB=${x}\nC=$(pass x)\nD='$HOME'\nE=$ecret1\nF=$1A\nG=${A:-b}\n",
            "A=$HOME_2\nB=${x}\nC=$(pass x)\nD='*'\nE=*\nF=*\nG=*\n",
        ),
        (".npmrc", "a=$HOME\nb=${HOME}\n", "a=*\nb=${HOME}\n"),
        (".netrc", "password ${HOME}\n", "password *\n"),
        (".pgpass", "h:1:d:ann:$HOME\n", "h:1:d:ann:*\n"),
        (".htpasswd", "ann:$(x)\n", "ann:*\n"),
        (
            ".git-credentials",
            "https://ann:$HOME@h\n",
            "https://ann:*@h\n",
        ),
    ] {
        assert_eq!(redacted(text, path), shown.replace('*', secret), "{path}");
    }
}

#[test]
fn every_line_of_a_key_is_replaced_but_not_a_certificate() {
    let key = "[REDACTED:private-key]";
    let armoured = |label: &str, body: &str| {
        format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
    };
    for path in [
        "config/master.key",
        "a.pem",
        "example.com.key",
        "a.ppk",
        "id_rsa_work",
        "ID_ED25519",
    ] {
        assert!(is_secret_file(path), "{path}");
        assert_eq!(
            redacted("0123abcd\n\n  true\n", path),
            format!("{key}\n\n  {key}\n"),
            "{path}"
        );
        let public = armoured("CERTIFICATE", "MIIB") + &armoured("PUBLIC KEY", "MFkw");
        assert_eq!(redacted(&public, path), public, "{path}");
        let private = public.clone() + &armoured("EC PRIVATE KEY", "ab") + "cd\n";
        let shown = public + &armoured("EC PRIVATE KEY", key) + key + "\n";
        assert_eq!(redacted(&private, path), shown, "{path}");
    }
    for path in ["id_rsa.pub", "id_rsa.go", "id_generator"] {
        assert!(!is_secret_file(path), "{path}");
        assert_eq!(redacted("0123abcd\n", path), "0123abcd\n", "{path}");
    }
}

#[test]
fn a_sum_that_holds_beats_a_word_of_documentation() {
    let body = format!("{}{}", "EXAMPLE", "q3ZrT8vKpW2mXs9LdB4nHc7");
    let sum = checksum::base62(checksum::crc32(body.as_bytes()));
    let genuine = format!("ghp_{body}{}", String::from_utf8_lossy(&sum));
    let made_up = format!("ghp_{body}{}", "000000");
    assert_eq!(redacted(&genuine, "a.txt"), "[REDACTED:github-token]");
    assert_eq!(redacted(&made_up, "a.txt"), made_up);
}

#[test]
fn the_most_telling_name_is_used() {
    let mut random = random::Random::new(3);
    for (kind, form) in [
        ("anthropic-key", "sk-ant-api03-{u93}AA"),
        ("openai-key", "sk-proj-{u40}T3BlbkFJ{u40}"),
        ("openrouter-key", "sk-or-v1-{h64}"),
        ("hugging-face-token", "hf_7{w33}"),
        ("api-key", "sk-{h32}"),
    ] {
        let text = format!("api_key = \"{}\"", random.fill(form));
        assert_eq!(
            redacted(&text, "a.py"),
            format!("api_key = \"[REDACTED:{kind}]\"")
        );
    }
}

#[test]
fn made_secrets_are_found_and_look_alikes_left_alone() {
    let mut random = random::Random::new(7);
    let secrets = made_secrets::all(&mut random);
    let kinds: BTreeSet<&str> = secrets.iter().map(|case| case.kind).collect();
    assert!(
        secrets.len() >= 400 && kinds.len() >= 110,
        "{} of {} kinds",
        secrets.len(),
        kinds.len()
    );
    let missed: Vec<_> = (secrets.iter())
        .filter(|case| {
            case.parts
                .iter()
                .any(|part| redacted(&case.text, case.path).contains(part))
        })
        .collect();
    let look_alikes = look_alikes::all(&mut random);
    assert!(look_alikes.len() >= 500, "{}", look_alikes.len());
    let alarms: Vec<_> = (look_alikes.iter())
        .filter(|case| redacted(&case.text, case.path) != case.text)
        .collect();
    let figures = format!(
        "found {} of {} secrets of {} kinds; {} false alarms in {} look-alikes\nmissed: {missed:#?}\nalarms: {alarms:#?}",
        secrets.len() - missed.len(),
        secrets.len(),
        kinds.len(),
        alarms.len(),
        look_alikes.len(),
    );
    let found: BTreeSet<&str> = (secrets.iter())
        .filter(|case| !missed.iter().any(|missed| std::ptr::eq(*missed, *case)))
        .map(|case| case.kind)
        .collect();
    assert_eq!(found.len(), kinds.len(), "{figures}");
    assert!(missed.len() * 100 <= secrets.len() * 2, "{figures}");
    assert!(alarms.is_empty(), "{figures}");
}

#[test]
fn every_password_of_a_command_is_replaced() {
    let command = "curl -u ada:Tr0ub4dor -U proxy:Kiesel4bach https://acme.dev\n";
    let shown = redacted(command, "run.sh");
    assert!(
        !shown.contains("Tr0ub4dor") && !shown.contains("Kiesel"),
        "{shown}"
    );
    assert!(
        shown.contains("-u ada:[REDACTED:password] -U proxy:["),
        "{shown}"
    );
    let command = "openssl pkcs12 -passin pass:Wald7see -passout pass:Berg8tal -in a\n";
    let shown = redacted(command, "run.sh");
    assert!(
        !shown.contains("Wald7see") && !shown.contains("Berg8tal"),
        "{shown}"
    );
}

#[test]
fn a_password_that_a_sentence_tells_is_found() {
    let mut random = random::Random::new(7);
    let password = random.fill("{w5}#{d2}{w4}");
    for sentence in [
        "my password is PW.",
        "The wifi password is: PW",
        "ok so the password for my old laptop is now PW, don't lose it",
        "Mein Passwort ist \"PW\".",
        "Das Kennwort fürs WLAN lautet PW",
        "mon mot de passe est PW !",
        "mi contraseña es PW",
        "a minha senha é PW",
        "mijn wachtwoord is PW",
        "我的密码是PW。",
    ] {
        let shown = redacted(&sentence.replace("PW", &password), "");
        let expected = sentence.replace("PW", "[REDACTED:password]");
        assert_eq!(shown, expected, "{sentence}");
    }
    for sentence in [
        "my password is wrong",
        "The password is required!",
        "password is at least 8 characters",
        "the password policy is ISO27001",
        "my password is $PASSWORD",
        "the password for the account is <your-password>",
        "a passcode is 6 digits",
        "Mein Passwort ist abgelaufen, was tun?",
        "the password is hunter2",
        "my password is https://example.com/reset1",
    ] {
        assert_eq!(redacted(sentence, ""), sentence);
    }
    let documented = format!("The password is {password}.");
    assert_eq!(redacted(&documented, "docs/login.md"), documented);
}

#[test]
fn p09_a_folder_of_settings_makes_its_files_settings() {
    for (path, text) in [
        ("config/login.json", "{\"password\": \"@\"}\n"),
        ("settings/login.json", "{\"password\": \"@\"}\n"),
        ("app/config/login.xml", "<password>@</password>\n"),
        ("config/login.php", "return ['password' => '@'];\n"),
        ("C:\\app\\config\\login.json", "{\"password\": \"@\"}\n"),
    ] {
        let text = text.replace('@', "correcthorsebattery");
        let shown = redacted(&text, path);
        assert!(!shown.contains("correcthorse"), "{path}: {shown}");
    }
    for (path, text) in [
        (
            "data/login.json",
            "{\"password\": \"correcthorsebattery\"}\n",
        ),
        (
            "tests/config/login.json",
            "{\"password\": \"correcthorsebattery\"}\n",
        ),
        (
            "config/locales/login.json",
            "{\"password\": \"Kennwort\"}\n",
        ),
        (
            "config/schema.json",
            "{\"password\": {\"type\": \"string\"}}\n",
        ),
        (
            "config/rules.php",
            "return ['password' => 'required|min:8'];\n",
        ),
        (
            "config/auth.php",
            "return ['password' => env('DB_PASSWORD')];\n",
        ),
        (
            "config/auth.php",
            "return ['passwords' => ['users' => ['expire' => 60]]];\n",
        ),
        ("src/login.php", "$password = $request->password;\n"),
    ] {
        assert_eq!(redacted(text, path), text, "{path}");
    }
}

#[test]
fn p09_a_password_of_several_words_is_replaced_whole() {
    let text = "db:\n  password: correct horse battery  # the old one\n";
    let shown = redacted(text, "config.yaml");
    assert!(
        !shown.contains("horse") && shown.contains("# the old one"),
        "{shown}"
    );
    for text in [
        "password: the one that you chose\n",
        "password: Enter a new password\n",
        "password: must have eight signs\n",
        "password: !vault horse battery staple\n",
    ] {
        assert_eq!(redacted(text, "config.yaml"), text);
    }
    let text = "password: correct horse battery\n";
    assert_eq!(redacted(text, "docs/guide.yaml"), text);
}
