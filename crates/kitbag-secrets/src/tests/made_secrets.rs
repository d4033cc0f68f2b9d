//! Secrets that never opened anything, in the places where real ones are found.
//!
//! They are put together here, so that the source holds none.

use super::random::Random;

/// A text with a secret in it.
#[derive(Debug)]
#[allow(dead_code, reason = "all fields are shown when a test fails")]
pub(super) struct Made {
    pub(super) kind: &'static str,
    pub(super) path: &'static str,
    pub(super) text: String,
    /// What must not be seen afterwards.
    pub(super) parts: Vec<String>,
}

/// Every kind in several places.
pub(super) fn all(random: &mut Random) -> Vec<Made> {
    let mut all = Vec::new();
    for (kind, form) in FORMATS {
        for _ in 0..4 {
            let secret = random.fill(form);
            let (path, place) = random.pick(ANYWHERE);
            all.push(made(kind, path, place, &secret));
        }
    }
    for (kind, name, form) in NAMED {
        for _ in 0..6 {
            let secret = random.fill(form);
            let (path, place) = random.pick(ASSIGNED);
            let text = place
                .replace("@name", &spelled(name, path))
                .replace("@secret", &secret);
            all.push(Made {
                kind,
                path,
                text,
                parts: vec![secret],
            });
        }
    }
    for _ in 0..24 {
        let secret = random.password();
        let name = random.pick(&[
            "db_password",
            "smtp_password",
            "admin_password",
            "password",
            "redis_pass",
            "ssh_passphrase",
        ]);
        let (path, place) = random.pick(ASSIGNED);
        let text = place
            .replace("@name", &spelled(name, path))
            .replace("@secret", &secret);
        all.push(Made {
            kind: "human password",
            path,
            text,
            parts: vec![secret],
        });
    }
    for _ in 0..24 {
        let secret = random.password().replace(['@', '#', '%'], "+");
        let (path, place) = random.pick(IN_URLS);
        all.push(made("password in a URL", path, place, &secret));
    }
    for (path, place) in WORDS {
        for _ in 0..2 {
            let word = random.pick(&["correcthorsebattery", "bluewhalesinger", "tangerinedream"]);
            all.push(made("a word in a configuration", path, place, word));
        }
    }
    for (kind, path, place) in COMMANDS {
        for secret in [random.password(), "bluewhalesinger".to_owned()] {
            all.push(made(
                kind,
                path,
                place,
                &secret.replace(['\'', '"', '%', ':', '@'], "+"),
            ));
        }
    }
    for _ in 0..4 {
        blocks(random, &mut all);
        logins(random, &mut all);
    }
    all
}

fn made(kind: &'static str, path: &'static str, place: &str, secret: &str) -> Made {
    Made {
        kind,
        path,
        text: place.replace("@secret", secret),
        parts: vec![secret.to_owned()],
    }
}

/// A name as the language of the file spells it.
fn spelled(name: &str, path: &str) -> String {
    match path.rsplit('.').next().unwrap() {
        "env" | "sh" | "yml" => name.to_uppercase(),
        "js" | "ts" | "json" | "java" => {
            let mut words = name.split('_');
            let first = words.next().unwrap().to_owned();
            words.fold(first, |name, word| name + &capital(word))
        }
        "properties" => name.replace('_', "-"),
        _ => name.to_owned(),
    }
}

pub(super) fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

const FORMATS: &[(&str, &str)] = &[
    ("github", "ghp_{w36}"),
    ("github oauth", "gho_{w36}"),
    ("github fine-grained", "github_pat_{w22}_{w59}"),
    ("gitlab", "glpat-{u20}"),
    ("gitlab routable", "glpat-{u27}.0{h1}.{h9}"),
    ("npm", "npm_{w36}"),
    ("pypi", "pypi-AgEIcHlwaS5vcmc{u90}"),
    ("rubygems", "rubygems_{h48}"),
    ("docker", "dckr_pat_{u27}"),
    ("aws id", "AKIA{A16}"),
    ("aws session id", "ASIA{A16}"),
    ("google api", "AIza{u35}"),
    ("google oauth", "GOCSPX-{u28}"),
    ("azure client", "{w3}8Q~{u34}"),
    ("digitalocean", "dop_v1_{h64}"),
    ("kitbag", "kitbag_main_{h72}"),
    ("heroku", "HRKU-{h8}-{h4}-{h4}-{h4}-{h12}"),
    ("cloudflare", "cfut_{w40}{h8}"),
    ("vercel", "vcp_{w40}"),
    ("netlify", "nfp_{w40}"),
    ("tailscale", "tskey-auth-{w12}-{w24}"),
    ("anthropic", "sk-ant-api03-{u93}AA"),
    ("openai", "sk-{w20}T3BlbkFJ{w20}"),
    ("openai project", "sk-proj-{u74}T3BlbkFJ{u74}"),
    ("openrouter", "sk-or-v1-{h64}"),
    ("hugging face", "hf_{a34}"),
    ("groq", "gsk_{w52}"),
    ("xai", "xai-{w80}"),
    ("replicate", "r8_{w37}"),
    ("slack bot", "xoxb-{n11}-{n12}-{w24}"),
    ("slack app", "xapp-1-A{A10}-{n13}-{h64}"),
    (
        "slack webhook",
        "https://hooks.slack.com/services/T{A8}/B{A8}/{w24}",
    ),
    (
        "discord webhook",
        "https://discord.com/api/webhooks/{n18}/{u68}",
    ),
    ("telegram", "{n10}:AA{u33}"),
    ("twilio", "SK{h32}"),
    ("sendgrid", "SG.{u22}.{u43}"),
    ("mailgun", "key-{h32}"),
    ("mailchimp", "{h32}-us21"),
    ("stripe", "sk_live_{w24}"),
    ("stripe restricted", "rk_live_{w99}"),
    ("webhook", "whsec_{b32}"),
    ("discord mfa", "mfa.{u84}"),
    ("github longer", "ghs_{w60}"),
    ("npm longer", "npm_{w44}"),
    ("notion longer", "ntn_{n11}{w44}"),
    ("notion old", "secret_{w43}"),
    ("groq other", "gsk_{w44}"),
    ("digitalocean other", "dop_v1_{h48}"),
    ("square", "sq0atp-{u22}"),
    ("shopify", "shpat_{h32}"),
    ("linear", "lin_api_{w40}"),
    ("notion", "ntn_{n11}{w35}"),
    ("figma", "figd_{u40}"),
    ("airtable", "pat{w14}.{h64}"),
    ("hubspot", "pat-na1-{h8}-{h4}-{h4}-{h4}-{h12}"),
    ("postman", "PMAK-{h24}-{h34}"),
    ("atlassian", "ATATT3xFfGF0{u120}={H8}"),
    ("bitbucket", "ATBB{w32}"),
    ("vault", "hvs.{u90}"),
    ("terraform", "{w14}.atlasv1.{w67}"),
    ("databricks", "dapi{h32}"),
    ("sentry", "sntryu_{h64}"),
    ("grafana", "glsa_{w32}_{h8}"),
    ("new relic", "NRAK-{A27}"),
    ("doppler", "dp.pt.{w43}"),
    ("planetscale", "pscale_tkn_{u43}"),
    ("supabase", "sbp_{h40}"),
    ("sonarqube", "sqp_{h40}"),
    ("1password", "ops_eyJ{b240}"),
    ("age", "AGE-SECRET-KEY-1{q58}"),
    ("json web token", "eyJ{w33}.eyJ{u120}.{u43}"),
];

const ANYWHERE: &[(&str, &str)] = &[
    (".env", "DEBUG=1\nSERVICE_TOKEN=@secret\nPORT=80\n"),
    (".env.local", "export VALUE='@secret'\n"),
    (
        "config.json",
        "{\n  \"endpoint\": \"https://api.acme.dev\",\n  \"value\": \"@secret\"\n}\n",
    ),
    ("log.json", "{\"message\": \"sent\\n@secret\\nto host\"}\n"),
    (
        "deploy.yml",
        "env:\n  - name: SERVICE\n    value: @secret\n",
    ),
    ("client.py", "client = Client(\"@secret\", timeout=3)\n"),
    ("client.js", "const client = connect('@secret');\n"),
    ("main.go", "\tclient := api.New(`@secret`)\n"),
    (
        "run.sh",
        "curl -H \"Authorization: Bearer @secret\" https://api.acme.dev/v1\n",
    ),
    ("request.http", "GET / HTTP/1.1\nX-Auth: @secret\n\n"),
    ("notes.md", "Use `@secret` until the new one arrives.\n"),
    ("app.py", "# was: @secret (rotated?)\nx = 1\n"),
    (
        "settings.xml",
        "<settings><value>@secret</value></settings>\n",
    ),
    ("Cargo.toml", "[registry]\nvalue = \"@secret\"\n"),
    (
        "test_client.py",
        "def test_call():\n    assert call(\"@secret\").ok\n",
    ),
];

/// Places in which a password that is a word is one.
const WORDS: &[(&str, &str)] = &[
    ("app.properties", "spring.datasource.password=@secret\n"),
    ("config/database.yml", "production:\n  password: @secret\n"),
    (
        "config/database.yml",
        "production:\n  password: \"@secret\" # old\n",
    ),
    (
        "compose.yaml",
        "    environment:\n      - POSTGRES_PASSWORD=@secret\n",
    ),
    (
        "compose.yaml",
        "    environment:\n      DB_PASSWORD: @secret\n",
    ),
    ("app.ini", "[mail]\npasswd = @secret\n"),
    ("settings.toml", "client_secret = \"@secret\"\n"),
    ("service.conf", "password=@secret\n"),
    ("prod.tfvars", "db_password = \"@secret\"\n"),
    (
        "appsettings.json",
        "{\"Smtp\": {\"Password\": \"@secret\"}}\n",
    ),
    (
        "web.config",
        "<add key=\"DbPassword\" value=\"@secret\" />\n",
    ),
    (
        "settings.xml",
        "<server><password>@secret</password></server>\n",
    ),
    ("Dockerfile", "ENV MYSQL_PASSWORD=@secret\n"),
    ("run.sh", "PGPASSWORD=@secret psql -h db\n"),
    ("config/app.yml", "url: postgres://shop:@secret@db/shop\n"),
    ("anmeldung.ini", "kennwort = @secret\n"),
];

/// Commands and addresses with a password that may be a word.
const COMMANDS: &[(&str, &str, &str)] = &[
    (
        "curl -u",
        "run.sh",
        "curl -s -u shop:@secret https://acme.dev/v1\n",
    ),
    (
        "curl -u",
        "deploy.yml",
        "  - curl \\\n      --user 'shop:@secret' https://acme.dev\n",
    ),
    (
        "curl -u",
        "client.py",
        "os.system(\"curl -ushop:@secret https://acme.dev\")\n",
    ),
    (
        "curl -u",
        "run.sh",
        "curl -sSu shop:@secret https://acme.dev/v1\n",
    ),
    (
        "curl -U",
        "run.sh",
        "curl -u \"$USER:$PASSWORD\" -U proxy:@secret https://acme.dev\n",
    ),
    (
        "mysql -p",
        "run.sh",
        "mysql -h db -u root -p@secret shop < dump.sql\n",
    ),
    (
        "mysql -p",
        "Makefile",
        "\tmysqldump -uroot -p'@secret' shop\n",
    ),
    (
        "sshpass",
        "run.sh",
        "sshpass -p @secret ssh shop@acme.dev\n",
    ),
    (
        "docker login",
        "run.sh",
        "docker login -u shop -p @secret registry.acme.dev\n",
    ),
    (
        "redis-cli",
        "run.sh",
        "redis-cli -h cache -a @secret ping\n",
    ),
    (
        "openssl",
        "run.sh",
        "openssl rsa -in a.pem -passin pass:@secret\n",
    ),
    (
        "smbclient",
        "run.sh",
        "smbclient //files/shop -U shop%@secret\n",
    ),
    (
        "ldapsearch",
        "run.sh",
        "ldapsearch -x -D cn=shop -w @secret\n",
    ),
    (
        "pgpass elsewhere",
        "run.sh",
        "echo \"db:5432:shop:shop:@secret\" > ~/.pgpass\n",
    ),
    ("pgpass", ".pgpass", "db\\:1:5432:shop:shop:@secret\n"),
    (
        "libpq",
        "main.go",
        "dsn := \"host=db user=shop password=@secret dbname=shop\"\n",
    ),
    (
        "go dsn",
        "main.go",
        "db, err := sql.Open(\"mysql\", \"shop:@secret@tcp(db:3306)/shop\")\n",
    ),
    (
        "oracle",
        "app.properties",
        "url=jdbc:oracle:thin:shop/@secret@db:1521/shop\n",
    ),
    (
        "ado",
        "App.cs",
        "var s = \"Server=db;User Id=shop;Password=@secret;\";\n",
    ),
    ("vault file", ".vault_pass", "@secret\n"),
    ("act secrets", ".secrets", "TOKEN=@secret\n"),
];

const NAMED: &[(&str, &str, &str)] = &[
    ("aws secret", "aws_secret_access_key", "{b40}"),
    ("aws session", "aws_session_token", "{b180}"),
    ("datadog", "dd_api_key", "{h32}"),
    ("twilio auth", "twilio_auth_token", "{h32}"),
    ("heroku uuid", "heroku_api_key", "{h8}-{h4}-{h4}-{h4}-{h12}"),
    ("cloudflare old", "cf_api_token", "{u40}"),
    ("okta", "okta_api_token", "00{u40}"),
    ("azure devops", "azure_devops_token", "{l52}"),
    ("mailgun new", "mailgun_api_key", "{h32}-{h8}-{h8}"),
    ("discord bot", "discord_bot_token", "MT{w22}.G{w5}.{u38}"),
    ("signing", "jwt_signing_key", "{w48}"),
    ("flask", "secret_key", "{u43}"),
    ("oauth client", "oauth_client_secret", "{w32}"),
    ("encryption", "encryption_key", "{b43}="),
    ("generic token", "access_token", "{w28}"),
    ("generic key", "weather_api_key", "{l32}"),
];

const ASSIGNED: &[(&str, &str)] = &[
    (".env", "A=1\n@name=@secret\nB=2\n"),
    (".env", "@name=\"@secret\"\n"),
    ("run.sh", "export @name=@secret\n"),
    ("settings.py", "@name = \"@secret\"\n"),
    ("settings.py", "os.environ[\"@name\"] = '@secret'\n"),
    (
        "settings.py",
        "CONFIG = {\"@name\": \"@secret\", \"port\": 1}\n",
    ),
    ("client.js", "const config = { @name: '@secret' };\n"),
    ("client.ts", "export const @name: string = \"@secret\";\n"),
    ("config.json", "{\n  \"@name\": \"@secret\"\n}\n"),
    ("config.yaml", "service:\n  @name: @secret\n"),
    ("config.yaml", "service:\n  @name: \"@secret\"\n"),
    ("compose.yml", "    environment:\n      - @name=@secret\n"),
    (
        "deployment.yml",
        "        - name: @name\n          value: \"@secret\"\n",
    ),
    ("config.toml", "[service]\n@name = \"@secret\"\n"),
    ("app.properties", "service.@name=@secret\n"),
    ("app.ini", "[service]\n@name = @secret\n"),
    ("main.rs", "    let @name: &str = \"@secret\";\n"),
    ("main.go", "\t@name := \"@secret\"\n"),
    ("main.ts", "const @name =\n    \"@secret\";\n"),
    ("app.json", "[{\"name\":\"@name\",\"value\":\"@secret\"}]\n"),
    ("main.c", "#define @name \"@secret\"\n"),
    (
        "App.java",
        "  private static final String @name = \"@secret\";\n",
    ),
    ("app.rb", "  @name: '@secret',\n"),
    ("web.config", "<add key=\"@name\" value=\"@secret\" />\n"),
    ("pom.xml", "<@name>@secret</@name>\n"),
];

const IN_URLS: &[(&str, &str)] = &[
    (
        ".env",
        "DATABASE_URL=postgres://shop:@secret@db.acme.dev:5432/shop\n",
    ),
    (
        "settings.py",
        "DSN = \"mysql+pymysql://shop:@secret@10.1.2.3/shop?charset=utf8\"\n",
    ),
    (
        "app.js",
        "mongoose.connect('mongodb+srv://shop:@secret@cluster0.acme.mongodb.net/shop');\n",
    ),
    (
        "config.yaml",
        "cache: redis://:@secret@cache.acme.dev:6379/0\n",
    ),
    (
        "config.json",
        "{\"broker\": \"amqps://shop:@secret@mq.acme.dev/vhost\"}\n",
    ),
    (
        "run.sh",
        "git clone https://shop:@secret@git.acme.dev/shop.git\n",
    ),
    ("notes.txt", "see <ftp://shop:@secret@files.acme.dev>\n"),
];

fn blocks(random: &mut Random, all: &mut Vec<Made>) {
    for (kind, path, name) in [
        ("rsa block", "id_rsa", "RSA PRIVATE KEY"),
        ("pkcs8 block", "server.key", "PRIVATE KEY"),
        ("ec block", "ec.pem", "EC PRIVATE KEY"),
        ("openssh block", "id_ed25519", "OPENSSH PRIVATE KEY"),
        ("pgp block", "key.asc", "PGP PRIVATE KEY BLOCK"),
    ] {
        let lines: Vec<String> = (0..5).map(|_| random.fill("{b64}")).collect();
        let (open, close) = (
            format!("-----BEGIN {name}-----"),
            format!("-----END {name}-----"),
        );
        let text = match random.below(3) {
            0 => format!("{open}\n{}\n{close}\n", lines.join("\n")),
            1 => format!(
                "key: |\n  {open}\n  {}\n  {close}\nname: x\n",
                lines.join("\n  ")
            ),
            _ => format!(
                "{{\"key\": \"{open}\\n{}\\n{close}\\n\"}}\n",
                lines.join("\\n")
            ),
        };
        all.push(Made {
            kind,
            path,
            text,
            parts: lines,
        });
    }
    let lines: Vec<String> = (0..4).map(|_| random.fill("{b64}")).collect();
    let text = format!(
        "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 4\n{}\nPrivate-MAC: 0\n",
        lines.join("\n")
    );
    all.push(Made {
        kind: "putty block",
        path: "key.ppk",
        text,
        parts: lines,
    });
}

fn logins(random: &mut Random, all: &mut Vec<Made>) {
    let password = random.password();
    all.push(made(
        "netrc",
        ".netrc",
        "machine git.acme.dev\n  login shop\n  password @secret\n",
        &password,
    ));
    all.push(made(
        "netrc line",
        "notes.txt",
        "machine git.acme.dev login shop password @secret\n",
        &password,
    ));
    all.push(made(
        "command",
        "run.sh",
        "mysqldump --user=shop --password=@secret shop\n",
        &password,
    ));
    all.push(made(
        "command word",
        "run.sh",
        "deploy --token @secret --now\n",
        &random.fill("{w32}"),
    ));
    all.push(made(
        "bearer",
        "a.http",
        "Authorization: Bearer @secret\n",
        &random.fill("{u40}"),
    ));
    all.push(made(
        "authorization",
        "a.py",
        "headers = {\"Authorization\": \"Token @secret\"}\n",
        &random.fill("{h40}"),
    ));
    all.push(made(
        "npmrc",
        ".npmrc",
        "//registry.acme.dev/:_authToken=@secret\n",
        &random.fill("{h8}-{h4}-{h4}-{h4}-{h12}"),
    ));
    all.push(made(
        "htpasswd",
        ".htpasswd",
        "shop:@secret\n",
        &random.fill("$apr1${w8}${w22}"),
    ));
    all.push(made(
        "shadow",
        "shadow",
        "root:@secret:19000:0:99999:7:::\n",
        &random.fill("$6${w16}${w86}"),
    ));
    all.push(made("azure storage", "appsettings.json", "\"DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=@secret;EndpointSuffix=core\"\n", &random.fill("{b86}==")));
    all.push(made(
        "connection string",
        "App.cs",
        "var s = \"Server=db;Database=shop;User Id=sa;Password=@secret;\";\n",
        &password,
    ));
    all.push(made(
        "kubernetes",
        "secret.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop\ndata:\n  greeting: @secret\n",
        &random.fill("{w15}="),
    ));
    all.push(made(
        "aws pair",
        "keys.csv",
        &format!("User,Id,Value\nshop,{},@secret\n", random.fill("AKIA{A16}")),
        &random.fill("{b40}"),
    ));
    let basic = base64(format!("shop:{password}").as_bytes());
    all.push(made(
        "basic",
        "a.sh",
        "curl -H 'Authorization: Basic @secret' https://acme.dev\n",
        &basic,
    ));
    let word = base64(b"shop:bluewhalesinger");
    all.push(made(
        "basic word",
        "a.py",
        "h = {'Authorization': 'Basic @secret'}\n",
        &word,
    ));
    let token = random.fill("MT{w22}.G{w5}.{u38}");
    let place = random.pick(&[
        "client.run('@secret')\n",
        "h = 'Bot @secret'\n",
        "bot.login(\"@secret\")\n",
    ]);
    all.push(made("discord call", "a.py", place, &token));
    all.push(made(
        "docker auth",
        "config.json",
        "{\"auths\": {\"acme.dev\": {\"auth\": \"@secret\"}}}\n",
        &basic,
    ));
    all.push(made(
        "token in a URL",
        "package.json",
        "\"git+https://@secret:x-oauth-basic@github.com/acme/shop.git\"\n",
        &random.fill("{h40}"),
    ));
}

fn base64(bytes: &[u8]) -> String {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let number = (0..3).fold(0, |number, at| {
            number << 8 | usize::from(*group.get(at).unwrap_or(&0))
        });
        for at in 0..4 {
            let digit = char::from(alphabet[number >> (18 - 6 * at) & 63]);
            text.push(if at > group.len() { '=' } else { digit });
        }
    }
    text
}
