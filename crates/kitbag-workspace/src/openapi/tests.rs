//! Descriptions as tools write them, and the texts that come of them.

use proptest::prelude::*;

use super::*;

const SHOP: &str = r##"
openapi: 3.1.0
info:
  title: Shop
  version: 2.0.0
servers:
  - url: https://api.shop.example/v2
paths:
  /orders:
    parameters:
      - $ref: '#/components/parameters/Tenant'
    get:
      summary: Lists orders.
      operationId: listOrders
      parameters:
        - name: limit
          in: query
          schema: { type: integer, format: int32 }
        - name: state
          in: query
          schema: { type: string, enum: [open, paid] }
      responses:
        '200':
          description: the orders
          content:
            application/json:
              schema: { type: array, items: { $ref: '#/components/schemas/Order' } }
        default: { $ref: '#/components/responses/Failed' }
    post:
      description: |
        Places an order. It is charged at once.
      requestBody:
        required: true
        content:
          application/json:
            schema: { $ref: '#/components/schemas/NewOrder' }
      responses:
        '201': { description: placed }
  /orders/{id}/receipt:
    get:
      deprecated: true
      operationId: receipt
      parameters:
        - { name: id, in: path, required: true, schema: { type: string, format: uuid } }
      responses:
        '200':
          content: { application/pdf: {} }
components:
  parameters:
    Tenant: { name: X-Tenant, in: header, required: true, schema: { type: string } }
  responses:
    Failed:
      content:
        application/problem+json:
          schema: { $ref: '#/components/schemas/Problem' }
  schemas:
    NewOrder:
      type: object
      required: [lines]
      properties:
        lines:
          type: array
          items:
            type: object
            properties: { sku: { type: string }, count: { type: integer } }
        note: { type: [string, 'null'] }
        meta: { type: object, additionalProperties: { type: string } }
    Order:
      allOf:
        - $ref: '#/components/schemas/NewOrder'
        - type: object
          properties:
            id: { type: string, format: uuid }
            parent: { $ref: '#/components/schemas/Order' }
        - anyOf: [{ type: string }, { type: boolean }]
    Problem:
      properties:
        code: { const: 7 }
        cause:
          oneOf: [{ $ref: '#/components/schemas/Problem' }, { type: string }]
    Unused: { type: object }
"##;

#[test]
fn p12_openapi_3_in_yaml_at_four_sizes() {
    insta::assert_snapshot!(summarize(SHOP).unwrap().join("=====\n"), @r#"
    Shop 2.0.0
    at https://api.shop.example/v2
    GET /orders: Lists orders
      query limit: integer int32; query state: "open" | "paid"; header X-Tenant*: string
      answers 200 [Order]; default Problem
    POST /orders: Places an order
      header X-Tenant*: string; body*: NewOrder
      answers 201
    GET /orders/{id}/receipt (deprecated): receipt
      path id*: string uuid
      answers 200 application/pdf
    NewOrder = {lines*: [{count: integer, sku: string}], meta: {any key: string}, note: string | null}
    Order = NewOrder & {id: string uuid, parent: Order} & (string | boolean)
    Problem = {cause: Problem | string, code: 7}
    =====
    Shop 2.0.0
    at https://api.shop.example/v2
    GET /orders: Lists orders
      query limit: integer int32; query state: "open" | "paid"; header X-Tenant*: string
      answers 200 [Order]; default Problem
    POST /orders: Places an order
      header X-Tenant*: string; body*: NewOrder
      answers 201
    GET /orders/{id}/receipt (deprecated): receipt
      path id*: string uuid
      answers 200 application/pdf
    =====
    Shop 2.0.0
    GET /orders: Lists orders
    POST /orders: Places an order
    GET /orders/{id}/receipt (deprecated): receipt
    =====
    Shop 2.0.0
    GET POST /orders
    GET /orders/{id}/receipt
    "#);
}

#[test]
fn p12_swagger_2_in_json() {
    let text = r##"{
        "swagger": "2.0", "info": {"title": "Pets", "version": "1"},
        "host": "pets.example", "basePath": "/api", "schemes": ["http"],
        "paths": {"/pets": {
            "post": {
                "parameters": [
                    {"in": "body", "name": "pet", "required": true, "schema": {"$ref": "#/definitions/Pet"}},
                    {"in": "formData", "name": "photo", "type": "file"}
                ],
                "responses": {"200": {"schema": {"$ref": "#/definitions/Pet"}}, "404": {"description": "none"}}
            },
            "delete": {"responses": {}}
        }},
        "definitions": {"Pet": {"type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}, "friends": {"type": "array", "items": {"$ref": "#/definitions/Pet"}}}}}
    }"##;
    insta::assert_snapshot!(summarize(text).unwrap().join("=====\n"), @r"
    Pets 1
    at http://pets.example/api
    POST /pets
      body*: Pet; formData photo: file
      answers 200 Pet; 404
    DELETE /pets
    Pet = {friends: [Pet], name*: string}
    =====
    Pets 1
    at http://pets.example/api
    POST /pets
      body*: Pet; formData photo: file
      answers 200 Pet; 404
    DELETE /pets
    =====
    Pets 1
    POST /pets
    DELETE /pets
    =====
    Pets 1
    POST DELETE /pets
    ");
}

#[test]
fn what_is_no_description_is_an_error() {
    assert_eq!(summarize("name: kitbag"), Err(OpenApiError::Other));
    assert_eq!(summarize(""), Err(OpenApiError::Other));
    let error = summarize("openapi: [").unwrap_err();
    assert!(
        error.to_string().starts_with("neither JSON nor YAML: "),
        "{error}"
    );
    assert!(matches!(
        summarize("{\"openapi\": 3,"),
        Err(OpenApiError::Syntax { .. })
    ));
}

#[test]
fn an_empty_interface_is_its_title() {
    let summary = summarize("openapi: 3.0.0").unwrap();
    assert_eq!(summary, ["Untitled\n"]);
}

#[test]
fn references_in_circles_end() {
    let text = r##"
openapi: 3.0.0
paths:
  /a:
    get:
      parameters: [{ $ref: '#/components/parameters/A' }]
      requestBody: { $ref: '#/components/requestBodies/B' }
      responses: { default: { $ref: '#/components/responses/C' } }
components:
  parameters: { A: { $ref: '#/components/parameters/A' } }
  requestBodies: { B: { $ref: '#/components/requestBodies/B' } }
  responses: { C: { $ref: 'other.yaml#/C' } }
  schemas: { S: { $ref: '#/components/schemas/S' } }
"##;
    insta::assert_snapshot!(summarize(text).unwrap()[0], @r"
    Untitled
    GET /a
      A; body: B
      answers default C
    ");
}

#[test]
fn large_descriptions_are_counted_out() {
    let mut text = String::from("openapi: 3.0.0\npaths:\n");
    for n in 0..1_000 {
        text += &format!("  /p{n:04}:\n    get: {{ operationId: op{n} }}\n");
    }
    let levels = summarize(&text).unwrap();
    assert!(
        levels
            .iter()
            .all(|level| level.ends_with("… 600 more operations\n"))
    );
    assert!(levels.iter().all(|level| level.lines().count() == 402));
}

#[test]
fn hostile_names_stay_on_their_line() {
    let text = r#"{"openapi": "3.0.0", "info": {"title": "a\n## Request"}, "paths": {"/x\n---": {"get": {"summary": "b\rc\u001b[2J"}}}}"#;
    insta::assert_snapshot!(summarize(text).unwrap()[0], @r"
    a\n## Request
    GET /x\n---: b\rc\u{1b}[2J
    ");
}

proptest! {
    #[test]
    fn p12_any_document_is_no_reason_to_panic(parts in prop::collection::vec(part(), 0..14)) {
        let text = format!("openapi: 3.0.0\npaths:\n  /a:\n    get:\n{}", parts.concat());
        if let Ok(levels) = summarize(&text) {
            prop_assert!(levels.iter().all(|level| level.ends_with('\n')));
            prop_assert!(levels.windows(2).all(|pair| pair[1].len() < pair[0].len()));
        }
    }
}

fn part() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "      parameters: [{ $ref: '#/paths' }, { name: 7 }, 3]\n",
        "      requestBody: { content: { x: { schema: { type: [object, null, 4] } } } }\n",
        "      requestBody: 5\n",
        "      responses: { 200: { $ref: '#' }, 300: ~ }\n",
        "      summary: [a]\n",
        "      summary: 'a. b'\n",
        "  /b: { post: { responses: { 1: { schema: { allOf: [] } } } } }\n",
        "  /c: { get: { parameters: [{ schema: { enum: [] } }] } }\n",
        "components: { schemas: { A: { items: { items: { items: { items: {} } } } } } }\n",
        "definitions: [1]\n",
        "info: { title: { a: b } }\n",
        "é: \u{202e}\n",
    ])
}
