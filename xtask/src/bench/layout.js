// Renders what `cargo bench --bench layout -- write FOLDER` wrote, with Handlebars.js.
//
// node layout.js warm FOLDER    the median of many renderings, in microseconds
// node layout.js first FOLDER   one rendering, printed
"use strict";

const fs = require("fs");
const path = require("path");
const Handlebars = require(path.join(process.env.NODE_MODULES, "handlebars"));

const [, , what, folder] = process.argv;
const read = (name) => JSON.parse(fs.readFileSync(path.join(folder, name), "utf8"));
const { template, partials, conversation } = read("template.json");
const context = read("context.json");

for (const [name, text] of Object.entries(partials)) {
  Handlebars.registerPartial(name, Handlebars.compile(text, { noEscape: true }));
}
const history = Handlebars.compile(conversation, { noEscape: true });
Handlebars.registerHelper("escapeHandlebars", (text) => (typeof text === "string" ? text : ""));
Handlebars.registerHelper("formatFileSize", (bytes) => `${bytes} B`);
Handlebars.registerHelper("formatConversation", (messages, platform) => {
  const said = messages.filter((one) => one.isAssistant && one.metadata && one.metadata.agent_id);
  const agentIds = [...new Set(said.map((one) => one.metadata.agent_id))];
  const primaryAgentId = agentIds[0] || "";
  return history({ messages, platform, messagesCount: messages.length, agentIds, primaryAgentId });
});
const render = Handlebars.compile(template, { noEscape: true });

if (what === "first") {
  process.stdout.write(render(context));
} else {
  const times = [];
  let text = "";
  for (let round = 0; round < 400; round += 1) {
    const start = process.hrtime.bigint();
    text = render(context);
    times.push(Number(process.hrtime.bigint() - start) / 1000);
  }
  times.sort((one, two) => one - two);
  fs.writeFileSync(path.join(folder, "theirs.txt"), text);
  console.log(JSON.stringify({ render_us: times[200] }));
}
