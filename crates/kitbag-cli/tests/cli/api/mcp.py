"""Uses kitbag over MCP on HTTP. The SDK holds each result against the tool's schema."""

import asyncio
import json
import sys

from mcp import Client

URL, ERA = sys.argv[1:]
NOTE = "We decided to keep sessions in Postgres."


async def main():
    async with Client(URL, mode=ERA) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == sorted(tool.name for tool in tools)
        await client.call_tool("remember", {"text": NOTE})
        recalled = await client.call_tool("recall", {"query": "Where are sessions kept?"})
        packed = await client.call_tool("pack", {"task": "fix the redirect of login"})
        for name, arguments in [
            ("facts", {}),
            ("expand", {"handle": "auth.py"}),
            ("explain", {"task": "login", "path": "auth.py"}),
            ("forget", {"matching": "nothing like it"}),
            ("checkpoint", {"action": "list"}),
        ]:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, (name, result)
        refused = await client.call_tool("pack", {"budget": 1})
        assert refused.is_error, refused
        print(
            json.dumps(
                {
                    "version": client.protocol_version,
                    "recalled": recalled.structured_content["messages"][0]["text"],
                    "packed": packed.structured_content["shown"][0]["source"],
                }
            )
        )


asyncio.run(main())
