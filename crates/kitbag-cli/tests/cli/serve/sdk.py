"""Uses both official SDKs through one address, and tells what came back."""

import json
import sys

import anthropic
import openai

BASE = sys.argv[1]
HI = [{"role": "user", "content": "Where are the bees? é \U0001f41d"}]
SCHEMA = {"type": "object", "properties": {"where": {"type": "string"}}}
told = {}

claude = anthropic.Anthropic(base_url=BASE, api_key="sk-client", max_retries=0)
message = {"model": "m", "max_tokens": 9, "messages": HI}
told["text"] = claude.messages.create(**message).content[0].text
with claude.messages.stream(**message) as stream:
    told["stream"] = "".join(stream.text_stream)
tool = {"name": "look", "description": "Looks.", "input_schema": SCHEMA}
told["tool"] = claude.messages.create(**message, tools=[tool]).content[0].input
told["counted"] = claude.messages.count_tokens(model="m", messages=HI).input_tokens
told["errors"] = []
for status in (400, 401, 403, 404, 413, 429, 500, 529):
    try:
        claude.messages.create(**{**message, "model": f"error-{status}"})
    except anthropic.APIStatusError as error:
        told["errors"].append([type(error).__name__, error.status_code])

gpt = openai.OpenAI(base_url=f"{BASE}/v1", api_key="sk-client", max_retries=0)
chat = {"model": "m", "messages": HI}
told["chat"] = gpt.chat.completions.create(**chat).choices[0].message.content
chunks = gpt.chat.completions.create(**chat, stream=True)
told["chunks"] = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
tool = {"type": "function", "function": {"name": "look", "parameters": SCHEMA}}
called = gpt.chat.completions.create(**chat, tools=[tool]).choices[0].message.tool_calls
told["called"] = called[0].function.arguments
told["response"] = gpt.responses.create(model="m", input=HI[0]["content"]).output_text
events = gpt.responses.create(model="m", input=HI, stream=True)
told["events"] = [event.type for event in events]
told["models"] = [model.id for model in gpt.models.list()]
told["refusals"] = []
for status in (400, 401, 403, 404, 429, 500):
    try:
        gpt.chat.completions.create(**{**chat, "model": f"error-{status}"})
    except openai.APIStatusError as error:
        told["refusals"].append([type(error).__name__, error.status_code])

print(json.dumps(told))
