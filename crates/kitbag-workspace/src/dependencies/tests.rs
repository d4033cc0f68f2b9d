//! Manifests as projects write them, and what is made of them.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn read(files: &[(&str, &str)]) -> Dependencies {
    let texts: BTreeMap<&str, &str> = files.iter().copied().collect();
    let paths: Vec<&str> = texts.keys().copied().collect();
    dependencies(&paths, &|path| {
        texts.get(path).map(|text| (*text).to_owned())
    })
}

/// All that is known, as the most detailed text.
fn text(files: &[(&str, &str)]) -> String {
    let found = read(files);
    let problems: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, Vec::<String>::new());
    levels(&found).remove(0)
}

#[test]
fn p04_cargo_workspaces_inherit_and_find_their_members() {
    let found = text(&[
        (
            "Cargo.toml",
            r#"
            [workspace]
            members = ["crates/*", "examples/shop"]
            [workspace.package]
            version = "0.3.0"
            [workspace.dependencies]
            serde = { version = "1.0.2", features = ["derive"] }
            shop-core = { path = "crates/core" }
            "#,
        ),
        (
            "crates/core/Cargo.toml",
            r#"
            [package]
            name = "shop-core"
            version.workspace = true
            [dependencies]
            serde = { workspace = true, optional = true }
            rand_core = "0.9"
            tokio_rt = { package = "tokio", version = "1" }
            [target.'cfg(unix)'.dependencies]
            libc = "0.2"
            [build-dependencies]
            cc = "1"
            "#,
        ),
        (
            "crates/cli/Cargo.toml",
            r#"
            [package]
            name = "shop"
            version = "1.0.0"
            [dependencies]
            shop-core.workspace = true
            [dev-dependencies]
            helper = { path = "../../examples/shop" }
            "#,
        ),
        ("examples/shop/Cargo.toml", "[package]\nname = 'helper'"),
        (
            "tests/fixtures/broken/Cargo.toml",
            "[package]\nname = 'aside'",
        ),
    ]);
    insta::assert_snapshot!(found, @r"
    crates/cli/Cargo.toml: shop 1.0.0 (Cargo)
      shop-core (local)
      dev: helper (local)
    crates/core/Cargo.toml: shop-core 0.3.0 (Cargo)
      rand_core 0.9, tokio_rt tokio 1, libc 0.2
      optional: serde 1.0.2
      build: cc 1
    examples/shop/Cargo.toml: helper (Cargo)
    tests/fixtures/broken/Cargo.toml: aside (Cargo)
    ");
}

#[test]
fn p04_npm_workspaces_find_their_packages() {
    let found = text(&[
        (
            "package.json",
            r#"{"name": "root", "private": true, "workspaces": {"packages": ["packages/*"]},
                "devDependencies": {"typescript": "^5.4.0"}}"#,
        ),
        (
            "packages/ui/package.json",
            r#"{"name": "@shop/ui", "version": "2.0.0",
                "dependencies": {"@shop/core": "workspace:*", "react": "^18.0.0"},
                "peerDependencies": {"react-dom": "*"}}"#,
        ),
        (
            "packages/core/package.json",
            r#"{"name": "@shop/core", "version": "2.0.0"}"#,
        ),
        (
            "tools/lint/package.json",
            r#"{"name": "lint", "dependencies": {"plugin": "file:../plugin", "@shop/core": "^2.0.0"},
                "optionalDependencies": {"fsevents": "2"}}"#,
        ),
        ("test/fixtures/react/package.json", r#"{"name": "react"}"#),
    ]);
    insta::assert_snapshot!(found, @r"
    package.json: root (npm)
      dev: typescript ^5.4.0
    packages/core/package.json: @shop/core 2.0.0 (npm)
    packages/ui/package.json: @shop/ui 2.0.0 (npm)
      @shop/core (local), react ^18.0.0
      peer: react-dom
    tools/lint/package.json: lint (npm)
      @shop/core (local), plugin (tools/plugin)
      optional: fsevents 2
    test/fixtures/react/package.json: react (npm)
    ");
}

#[test]
fn p04_pnpm_workspaces_and_catalogs() {
    let found = text(&[
        (
            "pnpm-workspace.yaml",
            "packages:\n  - 'apps/*'\n  - '!apps/old'\n  - examples/*\ncatalog:\n  vue: ^3.5.0\ncatalogs:\n  test:\n    vitest: ^3.0.0\n",
        ),
        (
            "apps/web/package.json",
            r#"{"name": "web", "dependencies": {"vue": "catalog:", "demo": "workspace:^"},
                "devDependencies": {"vitest": "catalog:test"}}"#,
        ),
        ("examples/demo/package.json", r#"{"name": "demo"}"#),
    ]);
    insta::assert_snapshot!(found, @r"
    apps/web/package.json: web (npm)
      demo (local), vue ^3.5.0
      dev: vitest ^3.0.0
    examples/demo/package.json: demo (npm)
    ");
}

#[test]
fn p04_python_in_all_its_forms() {
    let found = text(&[
        (
            "pyproject.toml",
            r#"
            [build-system]
            requires = ["hatchling"]
            [project]
            name = "shop"
            version = "0.1.0"
            dependencies = ["httpx[http2]>=0.27 ; python_version > '3.8'", "shop-core", "Django (>=4,<6)"]
            [project.optional-dependencies]
            redis = ["redis~=5.0"]
            all = ["shop[redis]"]
            [dependency-groups]
            dev = ["pytest>=8", { include-group = "lint" }]
            lint = ["ruff"]
            [tool.uv.sources]
            shop-core = { workspace = true }
            [tool.uv.workspace]
            members = ["libs/*"]
            "#,
        ),
        (
            "libs/core/pyproject.toml",
            r#"
            [tool.poetry]
            name = "shop_core"
            version = "0.2.0"
            [tool.poetry.dependencies]
            python = "^3.11"
            attrs = "^23"
            plugin = { path = "../plugin", develop = true }
            orjson = { version = "^3", optional = true }
            [tool.poetry.group.test.dependencies]
            hypothesis = "*"
            "#,
        ),
        (
            "requirements.txt",
            "# pinned\n-r requirements/base.in\n-c constraints.txt\nflask==3.0.0 \\\n    --hash=sha256:abc\nhttps://example.org/x.whl\n-e ./libs/core\n",
        ),
        ("requirements/base.in", "numpy>=1.26  # fast\n"),
        ("requirements-dev.txt", "-r requirements.txt\nblack\n"),
        (
            "old/setup.cfg",
            "[metadata]\nname = old\nversion = attr: old.__version__\n[options]\ninstall_requires =\n    six>=1.16\n    # why\n    lxml\n[options.extras_require]\ndocs = sphinx\n",
        ),
        (
            "older/setup.py",
            "from setuptools import setup\nsetup(\n    name='older',\n    version=\"1.0\",\n    install_requires=[\n        'click>=8',  # cli\n        \"uvicorn[standard]\",\n    ],\n)\n",
        ),
        (
            "env/Pipfile",
            "[packages]\nrequests = \"*\"\nlocal = {path = \"../libs/core\"}\n[dev-packages]\nmypy = \">=1\"\n",
        ),
    ]);
    insta::assert_snapshot!(found, @r"
    pyproject.toml: shop 0.1.0 (Python)
      httpx >=0.27, shop-core (libs/core), Django >=4,<6
      optional: redis ~=5.0
      build: hatchling
      dev: pytest >=8, ruff
    requirements-dev.txt (Python)
      dev: black
    requirements.txt (Python)
      numpy >=1.26, flask ==3.0.0, core (libs/core)
    env/Pipfile (Python)
      local (libs/core), requests
      dev: mypy >=1
    old/setup.cfg: old (Python)
      six >=1.16, lxml
      optional: sphinx
    older/setup.py: older 1.0 (Python)
      click >=8, uvicorn
    libs/core/pyproject.toml: shop_core 0.2.0 (Python)
      attrs ^23, plugin (libs/plugin)
      optional: orjson ^3
      dev: hypothesis
    ");
}

#[test]
fn p04_go_modules_and_workspaces() {
    let found = text(&[
        ("go.work", "go 1.22\n\nuse (\n\t./api\n\t./lib\n)\n"),
        (
            "api/go.mod",
            "module example.com/shop/api\n\ngo 1.22\n\nrequire (\n\texample.com/shop/lib v0.0.0\n\tgithub.com/go-chi/chi/v5 v5.0.12 // router\n\tgolang.org/x/sys v0.20.0 // indirect\n)\n\nrequire example.com/forked v1.0.0\nreplace example.com/forked => ../third/forked\n",
        ),
        ("lib/go.mod", "module \"example.com/shop/lib\"\n"),
    ]);
    insta::assert_snapshot!(found, @r"
    api/go.mod: example.com/shop/api (Go)
      example.com/shop/lib (local), github.com/go-chi/chi/v5 v5.0.12, example.com/forked (third/forked)
    lib/go.mod: example.com/shop/lib (Go)
    ");
}

#[test]
fn p04_maven_modules_and_properties() {
    let found = text(&[
        (
            "pom.xml",
            r#"<?xml version="1.0"?><project xmlns="http://maven.apache.org/POM/4.0.0">
            <groupId>org.shop</groupId><artifactId>parent</artifactId><version>1.2</version>
            <modules><module>core</module><module>web</module></modules></project>"#,
        ),
        (
            "core/pom.xml",
            "<project><parent><groupId>org.shop</groupId><artifactId>parent</artifactId><version>1.2</version></parent><artifactId>core</artifactId></project>",
        ),
        (
            "web/pom.xml",
            r"<project><parent><groupId>org.shop</groupId><artifactId>parent</artifactId><version>1.2</version></parent>
            <artifactId>web</artifactId>
            <properties><jetty>12.0.1</jetty></properties>
            <dependencyManagement><dependencies><dependency><groupId>org.slf4j</groupId><artifactId>slf4j-api</artifactId><version>2.0</version></dependency></dependencies></dependencyManagement>
            <dependencies>
              <dependency><groupId>${project.groupId}</groupId><artifactId>core</artifactId><version>${project.version}</version></dependency>
              <dependency><groupId>org.eclipse.jetty</groupId><artifactId>jetty-server</artifactId><version>${jetty}</version></dependency>
              <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-api</artifactId></dependency>
              <dependency><groupId>org.junit</groupId><artifactId>junit</artifactId><version>${junit}</version><scope>test</scope></dependency>
            </dependencies></project>",
        ),
    ]);
    insta::assert_snapshot!(found, @r"
    pom.xml: org.shop:parent 1.2 (Maven)
    core/pom.xml: org.shop:core 1.2 (Maven)
    web/pom.xml: org.shop:web 1.2 (Maven)
      org.shop:core (local), org.eclipse.jetty:jetty-server 12.0.1, org.slf4j:slf4j-api 2.0
      dev: org.junit:junit ${junit}
    ");
}

#[test]
fn p04_gradle_scripts_settings_and_catalogs() {
    let found = text(&[
        (
            "settings.gradle.kts",
            "rootProject.name = \"shop\"\ninclude(\":core:util\", \":app\")\n",
        ),
        (
            "build.gradle",
            "versionCode 7\nversion = '1.0'\nbuildscript { dependencies {\n  classpath 'com.android.tools.build:gradle:8.1.0'\n} }\n",
        ),
        (
            "app/build.gradle.kts",
            "dependencies {\n    implementation(project(\":core:util\"))\n    implementation(libs.okhttp.core)\n    api(\"com.google.guava:guava:33.0.0-jre\") // json\n    compileOnly(\"org.x:y\")\n    testImplementation(kotlin(\"test\"))\n    implementation(platform(\"org.z:bom:1\"))\n    ksp(libs.unknown)\n}\n",
        ),
        (
            "core/util/build.gradle",
            "dependencies {\n  implementation group: 'org.a', name: 'b', version: '1.1'\n  testRuntimeOnly 'org.junit:junit:5'\n  implementation project(path: ':app')\n}\n",
        ),
        (
            "gradle/libs.versions.toml",
            "[versions]\nokhttp = '4.12.0'\n[libraries]\nokhttp-core = { module = 'com.squareup.okhttp3:okhttp', version.ref = 'okhttp' }\n",
        ),
    ]);
    insta::assert_snapshot!(found, @r"
    build.gradle: shop 1.0 (Gradle)
      build: com.android.tools.build:gradle 8.1.0
    app/build.gradle.kts: app (Gradle)
      :core:util (core/util), com.squareup.okhttp3:okhttp 4.12.0, com.google.guava:guava 33.0.0-jre, org.z:bom 1
      peer: org.x:y
      build: libs.unknown
      dev: org.jetbrains.kotlin:kotlin-test
    core/util/build.gradle: util (Gradle)
      org.a:b 1.1, :app (app)
      dev: org.junit:junit 5
    ");
}

#[test]
fn p04_further_ecosystems() {
    let found = text(&[
        (
            "php/composer.json",
            r#"{"name": "shop/php", "require": {"php": ">=8.1", "monolog/monolog": "^3"}, "require-dev": {"phpunit/phpunit": "^11"}}"#,
        ),
        (
            "ruby/Gemfile",
            "source 'https://rubygems.org'\ngemspec\ngem 'rails', '~> 7.1', '>= 7.1.2'\ngem \"core\", path: \"../core\"\ngem 'pry', group: :development\ngroup :test do\n  gem 'rspec', require: false\nend\ngem 'pg'\n",
        ),
        (
            "ruby/shop.gemspec",
            "Gem::Specification.new do |s|\n  s.name = 'shop'\n  s.version = Shop::VERSION\n  s.add_dependency 'thor', '~> 1.0'\n  s.add_development_dependency('rake')\nend\n",
        ),
        (
            "net/Directory.Packages.props",
            "<Project><ItemGroup><PackageVersion Include=\"Serilog\" Version=\"3.1.1\" /></ItemGroup></Project>",
        ),
        (
            "net/src/Web/Web.csproj",
            "\u{feff}<Project Sdk=\"Microsoft.NET.Sdk\"><PropertyGroup><Version>2.0</Version></PropertyGroup><ItemGroup><PackageReference Include=\"serilog\" /><PackageReference Include=\"Dapper\"><Version>2.1</Version></PackageReference><PackageReference Include=\"Analyzers\" Version=\"1\" PrivateAssets=\"all\" /><ProjectReference Include=\"..\\Core\\Core.csproj\" /></ItemGroup></Project>",
        ),
        (
            "net/src/Core/Core.csproj",
            "<Project><PropertyGroup><AssemblyName>Core</AssemblyName></PropertyGroup></Project>",
        ),
        (
            "elixir/apps/web/mix.exs",
            "def project do\n  [\n    app: :web,\n    version: \"0.1.0\",\n  ]\nend\ndefp deps do\n  [{:phoenix, \"~> 1.7\"}, {:core, in_umbrella: true},\n   {:credo, \"~> 1.7\", only: [:dev, :test], runtime: false}]\nend\n",
        ),
        ("elixir/apps/core/mix.exs", "[app: :core,\n"),
        (
            "swift/Package.swift",
            "let package = Package(\n  name: \"Shop\",\n  dependencies: [\n    .package(url: \"https://github.com/apple/swift-nio.git\", from: \"2.65.0\"),\n    .package(path: \"../Core\"),\n  ],\n  targets: [.target(name: \"Shop\", dependencies: [.product(name: \"NIO\", package: \"swift-nio\")])]\n)\n",
        ),
        (
            "scala/build.sbt",
            "name := \"shop\"\nThisBuild / version := \"0.1\"\nlazy val core = (project in file(\"core\"))\nlazy val web = project.dependsOn(core % \"test->test;compile->compile\")\nlibraryDependencies ++= Seq(\n  \"org.typelevel\" %% \"cats-core\" % \"2.10.0\",\n  \"org.scalatest\" %% \"scalatest\" % V.scalatest % Test\n)\n",
        ),
        (
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.20)\nproject(shop VERSION 1.4 LANGUAGES CXX)\nfind_package(Boost 1.80 REQUIRED\n  COMPONENTS system)\nFetchContent_Declare(fmt\n  GIT_REPOSITORY https://github.com/fmtlib/fmt.git GIT_TAG 11.0.0)\nfind_package(${X})\n",
        ),
        ("src/CMakeLists.txt", "add_library(shop shop.cc)\n"),
    ]);
    insta::assert_snapshot!(found, @r"
    CMakeLists.txt: shop 1.4 (CMake)
      Boost 1.80, fmt 11.0.0
    php/composer.json: shop/php (Composer)
      monolog/monolog ^3, php >=8.1
      dev: phpunit/phpunit ^11
    ruby/Gemfile (Ruby)
      rails ~> 7.1,>= 7.1.2, core (core), pg
      dev: pry, rspec
    ruby/shop.gemspec: shop (Ruby)
      thor ~> 1.0
      dev: rake
    scala/build.sbt: shop 0.1 (sbt)
      core (scala/core), org.typelevel:cats-core 2.10.0
      dev: org.scalatest:scalatest V.scalatest
    swift/Package.swift: Shop (Swift)
      swift-nio 2.65.0, Core (Core)
    elixir/apps/core/mix.exs: core (Hex)
    elixir/apps/web/mix.exs: web 0.1.0 (Hex)
      phoenix ~> 1.7, core (local)
      dev: credo ~> 1.7
    net/src/Core/Core.csproj: Core (.NET)
    net/src/Web/Web.csproj: Web 2.0 (.NET)
      serilog 3.1.1, Dapper 2.1, Core (local)
      build: Analyzers 1
    ");
}

#[test]
fn p04_what_cannot_be_read_is_said_and_stops_nothing() {
    let found = dependencies(
        &[
            "Cargo.toml",
            "a/package.json",
            "b/pom.xml",
            "c/go.mod",
            "d/requirements.txt",
            "pnpm-workspace.yaml",
        ],
        &|path| match path {
            "Cargo.toml" => Some("[package\nname".into()),
            "a/package.json" => Some("{\"name\": \"a\",}".into()),
            "b/pom.xml" => Some("<project><a></project>".into()),
            "c/go.mod" => None,
            "d/requirements.txt" => Some("-r ../../secret.txt\nflask\n".into()),
            _ => Some("packages: [a".into()),
        },
    );
    let problems: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(problems.join("\n"), @r"
    Cargo.toml: unclosed table, expected `]`
    a/package.json: trailing comma at line 1 column 14
    b/pom.xml: expected 'a' tag, not 'project' at 1:13
    c/go.mod: cannot be read
    d/requirements.txt: `../../secret.txt` is outside the workspace
    pnpm-workspace.yaml: unclosed bracket '[' at line 1, column 11
    ");
    let names: Vec<&str> = found
        .manifests
        .iter()
        .map(|manifest| manifest.path.as_str())
        .collect();
    assert_eq!(names, ["d/requirements.txt"]);
}

#[test]
fn texts_go_from_detailed_to_terse() {
    let found = read(&[
        (
            "Cargo.toml",
            "[package]\nname = 'app'\nversion = '1.0.0'\n[dependencies]\nserde = '1.0'\ntokio = '1'\n[dev-dependencies]\ninsta = '1'",
        ),
        (
            "lib/Cargo.toml",
            "[package]\nname = 'lib'\n[dependencies]\nserde = '1.0'",
        ),
        (
            "tests/x/Cargo.toml",
            "[package]\nname = 'x'\n[dependencies]\nlib = { path = '../../lib' }",
        ),
    ]);
    insta::assert_snapshot!(levels(&found).join("=====\n"), @r"
    Cargo.toml: app 1.0.0 (Cargo)
      serde 1.0, tokio 1
      dev: insta 1
    lib/Cargo.toml: lib (Cargo)
      serde 1.0
    tests/x/Cargo.toml: x (Cargo)
      lib (local)
    =====
    Cargo.toml: app 1.0.0 (Cargo)
      serde 1.0, tokio 1
      dev: insta 1
    lib/Cargo.toml: lib (Cargo)
      serde 1.0
    … 1 more manifest
    =====
    Cargo.toml: app 1.0.0 (Cargo)
      serde, tokio
      dev: insta
    lib/Cargo.toml: lib (Cargo)
      serde
    … 1 more manifest
    =====
    Cargo.toml: app 1.0.0 (Cargo)
      serde, tokio
    lib/Cargo.toml: lib (Cargo)
      serde
    … 1 more manifest
    =====
    Cargo, 2 manifests: serde, tokio
    ");
}

#[test]
fn output_is_bounded() {
    let many: String = (0..5_000).map(|n| format!("package-{n}==1\n")).collect();
    let found = read(&[("requirements.txt", &many)]);
    assert_eq!(found.manifests[0].dependencies.len(), 500);
    insta::assert_snapshot!(found.problems[0], @"requirements.txt: 4500 of 5000 dependencies are left out");
    assert!(levels(&found).iter().all(|text| text.len() < 4_000));
}

#[test]
fn deep_nesting_is_a_problem_and_no_crash() {
    for (path, open) in [
        ("pom.xml", "<a>"),
        ("package.json", "{\"a\":"),
        ("Cargo.toml", "a = ["),
        ("pnpm-workspace.yaml", "["),
        ("mix.exs", "{:"),
    ] {
        let deep = open.repeat(50_000);
        let found = dependencies(&[path], &|_| Some(deep.clone()));
        assert_eq!(found.manifests, [], "{path}");
    }
}

const NAMES: [&str; 21] = [
    "Cargo.toml",
    "package.json",
    "pnpm-workspace.yaml",
    "pyproject.toml",
    "Pipfile",
    "requirements.txt",
    "setup.cfg",
    "setup.py",
    "go.mod",
    "go.work",
    "pom.xml",
    "build.gradle",
    "settings.gradle",
    "composer.json",
    "Gemfile",
    "x.gemspec",
    "x.csproj",
    "mix.exs",
    "Package.swift",
    "build.sbt",
    "CMakeLists.txt",
];

proptest! {
    #[test]
    fn p04_any_text_is_no_reason_to_panic(
        text in r#"([a-z]{1,3}|[\[\]{}()<>=:"'%$#@/\\.,;*!~|-]|\n| |é|\PC|gem |require |find_package\(|"a:b:c"|\.package\(|implementation |version|name: |path: |%% |<dependency>|-r ){0,60}"#,
        folder in "([a-c]/){0,2}",
    ) {
        for name in NAMES {
            let path = format!("{folder}{name}");
            let found = dependencies(&[&path], &|_| Some(text.clone()));
            for level in levels(&found) {
                prop_assert!(level.ends_with('\n'));
            }
        }
    }
}
