// Uses both official SDKs through one address, and tells what came back.

import { createRequire } from "node:module";

const [modules, base] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { default: Anthropic } = require("@anthropic-ai/sdk");
const { default: OpenAI } = require("openai");
const hi = [{ role: "user", content: "Where are the bees? é \u{1f41d}" }];
const schema = { type: "object", properties: { where: { type: "string" } } };
const told = {};

async function refused(statuses, ask) {
  const told = [];
  for (const status of statuses) {
    await ask(`error-${status}`).catch((error) => told.push([error.constructor.name, error.status]));
  }
  return told;
}

const claude = new Anthropic({ baseURL: base, apiKey: "sk-client", maxRetries: 0 });
const message = { model: "m", max_tokens: 9, messages: hi };
told.text = (await claude.messages.create(message)).content[0].text;
told.stream = await claude.messages.stream(message).finalText();
let tools = [{ name: "look", description: "Looks.", input_schema: schema }];
told.tool = (await claude.messages.create({ ...message, tools })).content[0].input;
told.counted = (await claude.messages.countTokens({ model: "m", messages: hi })).input_tokens;
told.errors = await refused([400, 401, 403, 404, 413, 429, 500, 529], (model) =>
  claude.messages.create({ ...message, model }),
);

const gpt = new OpenAI({ baseURL: `${base}/v1`, apiKey: "sk-client", maxRetries: 0 });
const chat = { model: "m", messages: hi };
told.chat = (await gpt.chat.completions.create(chat)).choices[0].message.content;
told.chunks = "";
for await (const chunk of await gpt.chat.completions.create({ ...chat, stream: true })) {
  told.chunks += chunk.choices[0]?.delta.content ?? "";
}
tools = [{ type: "function", function: { name: "look", parameters: schema } }];
const called = (await gpt.chat.completions.create({ ...chat, tools })).choices[0].message.tool_calls;
told.called = called[0].function.arguments;
told.response = (await gpt.responses.create({ model: "m", input: hi[0].content })).output_text;
told.events = [];
for await (const event of await gpt.responses.create({ model: "m", input: hi, stream: true })) {
  told.events.push(event.type);
}
told.models = (await gpt.models.list()).data.map((model) => model.id);
told.refusals = await refused([400, 401, 403, 404, 429, 500], (model) =>
  gpt.chat.completions.create({ ...chat, model }),
);

console.log(JSON.stringify(told));
