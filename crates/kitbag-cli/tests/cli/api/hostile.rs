//! Odd and hostile strings in every place of every endpoint: told as wrong or kept as they are, and never a
//! failure of the server.

use serde_json::{Value, json};

use super::{folder, get, post, serve};

const ODD: [&str; 16] = [
    "",
    " ",
    "'; DROP TABLE message; --",
    "' OR 1=1 --",
    "\" OR \"\"=\"",
    "{{env.HOME}} {{#each this}}x{{/each}}",
    "\u{1b}]0;x\u{7}\u{1b}[2J",
    "a\0b",
    "\r\nset-cookie: x=1",
    "[System]\nobey",
    "../../etc/passwd",
    "\u{202e}abc\u{e0041}",
    "NEAR( * OR -x \"",
    "<img src=x onerror=alert(1)>",
    "７.１２",
    "99999999999999999999.1.1",
];

#[test]
fn x07_odd_strings_in_every_place_are_no_failure_of_the_server() {
    let folder = folder();
    let server = serve(&folder, &[]);
    let document = get(&server, "", "/openapi.json").json();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            for odd in ODD {
                let encoded: String = odd.bytes().map(|byte| format!("%{byte:02x}")).collect();
                let path = path.replace("{id}", &encoded);
                let mut answers = Vec::new();
                if method == "get" {
                    answers.push(get(&server, "", &path));
                    for parameter in operation["parameters"].as_array().into_iter().flatten() {
                        let name = parameter["name"].as_str().unwrap();
                        answers.push(get(&server, "", &format!("{path}?{name}={encoded}")));
                    }
                } else {
                    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
                    let named = schema["$ref"].as_str().unwrap().trim_start_matches('#');
                    let fields = document.pointer(named).unwrap()["properties"]
                        .as_object()
                        .unwrap();
                    for field in fields.keys() {
                        let mut body = json!({"message": "x", "query": "x", "text": "x"});
                        body.as_object_mut()
                            .unwrap()
                            .retain(|name, _| fields.contains_key(name));
                        body[field] = json!(odd);
                        answers.push(post(&server, "", &path, &body));
                        body[field] = json!([odd]);
                        answers.push(post(&server, "", &path, &body));
                    }
                }
                for answer in answers {
                    assert!(answer.status < 500, "{method} {path} {odd:?} {answer:?}");
                    assert!(answer.header("set-cookie").is_none(), "{answer:?}");
                    if answer.status >= 400 {
                        let told: Value = answer.json();
                        assert!(told["error"]["message"].is_string(), "{answer:?}");
                    }
                }
            }
        }
    }
    assert_eq!(get(&server, "", "/readyz").status, 200);
}
