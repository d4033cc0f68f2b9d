// Renders cases with Handlebars.js itself.
//
// Reads a list of {template, context, partials} from stdin and writes a list of texts, where
// null stands for an error. The helpers are those of layouts, in the words of JavaScript.
'use strict';

const fs = require('fs');
const path = require('path');
const Handlebars = require(path.join(process.env.KITBAG_TEST_NODE_MODULES, 'handlebars'));

// What a helper of this many arguments is given, without the options that come last.
const takes = (count, helper) =>
  function (...all) {
    const options = all.pop();
    if (all.length !== count) throw new Error('wrong number of arguments');
    return helper.call(this, ...all.map(plain), options);
  };
const several = (helper) => (...all) => {
  if (all.length < 2) throw new Error('no arguments');
  return helper(all.slice(0, -1));
};
// A text that needs no escaping is a text all the same.
const plain = (value) => (value instanceof Handlebars.SafeString ? String(value) : value);

function truncate(value, most) {
  if (typeof most !== 'number') throw new Error('not a number');
  if (!value) return '';
  const text = String(value);
  if (text.length <= most) return text;
  let cut = Math.max(0, Math.trunc(most));
  const before = text.charCodeAt(cut - 1);
  if (cut > 0 && before >= 0xd800 && before < 0xdc00) cut -= 1;
  return `${text.slice(0, cut)} (...+${text.length - cut} chars)`;
}

function formatFileSize(size) {
  if (typeof size !== 'number' || size < 0) return '';
  if (size === 0) return '0 B';
  const units = ['B', 'KB', 'MB', 'GB'];
  const power = Math.floor(Math.log(size) / Math.log(1024));
  const unit = Math.min(Math.max(power, 0), units.length - 1);
  return Math.round((size / Math.pow(1024, unit)) * 100) / 100 + ' ' + units[unit];
}

function formatConversation(...all) {
  const options = all.pop();
  const [messages, platform] = all;
  if (!Array.isArray(messages) || messages.length === 0) return '';
  const spoke = messages.filter((m) => m?.isAssistant && m?.metadata?.agent_id);
  const agentIds = [...new Set(spoke.map((m) => m.metadata.agent_id))];
  const primaryAgentId = agentIds.length > 0 ? agentIds[0] : '';
  const messagesCount = messages.length;
  return options.fn({ messages, platform, messagesCount, agentIds, primaryAgentId });
}

const helpers = {
  eq: takes(2, (a, b) => a === b),
  ne: takes(2, (a, b) => a !== b),
  gt: takes(2, (a, b) => a > b),
  lt: takes(2, (a, b) => a < b),
  gte: takes(2, (a, b) => a >= b),
  lte: takes(2, (a, b) => a <= b),
  contains: takes(2, (within, value) =>
    Array.isArray(within)
      ? within.includes(value)
      : typeof within === 'string' && typeof value === 'string' && within.includes(value)),
  and: several((values) => values.reduce((a, b) => a && b)),
  or: several((values) => values.reduce((a, b) => a || b)),
  not: takes(1, (value) => !value),
  json: takes(1, (value, options) =>
    value === undefined
      ? ''
      : new Handlebars.SafeString(JSON.stringify(value, null, options.hash.indent))),
  raw: takes(0, function (options) {
    return options.fn ? options.fn(this) : '';
  }),
  length: takes(1, (value) =>
    Array.isArray(value) || typeof value === 'string' ? value.length : 0),
  truncate: takes(2, truncate),
  formatFileSize: takes(1, formatFileSize),
  formatTimestamp: takes(1, (value) =>
    typeof value === 'string' || typeof value === 'number' ? value : ''),
  escapeHandlebars: takes(1, (value) =>
    typeof value === 'string'
      ? value.replace(/\{\{/g, '&#123;&#123;').replace(/\}\}/g, '&#125;&#125;')
      : ''),
  formatConversation,
};

// JSON for others holds no half of a letter that takes two units.
const halves = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function render({ template, context, partials }) {
  const handlebars = Handlebars.create();
  handlebars.registerHelper(helpers);
  // Names of the prototype are refused with a warning on the console, which nobody reads here.
  Handlebars.logger.log = handlebars.logger.log = () => {};
  handlebars.registerPartial(partials);
  try {
    return handlebars.compile(template)(context).replace(halves, '\ufffd');
  } catch {
    return null;
  }
}

const cases = JSON.parse(fs.readFileSync(0, 'utf8'));
fs.writeFileSync(1, JSON.stringify(cases.map(render)));
