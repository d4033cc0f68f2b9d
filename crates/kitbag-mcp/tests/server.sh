# A server of the Model Context Protocol for tests. Its tools misbehave as their names say.
reply() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
tool() { printf '{"name":"%s","description":"%s","inputSchema":{"type":"object"}%s}' "$1" "$1" "$2"; }
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
  *'"server/discover"'*) reply '"error":{"code":-32601,"message":"no such method"}' ;;
  *'"initialize"'*) reply '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
  *'"tools/list"'*)
    reply "\"result\":{\"tools\":[$(tool 'say it' ',"annotations":{"readOnlyHint":true}'),$(tool die ',"annotations":{"destructiveHint":true}'),$(tool hang),$(tool garbage),$(tool big),$(tool refuse)]}" ;;
  *'"name":"say it"'*) reply "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"${SAID:-nothing} ${LOG:-nothing}\"}]}" ;;
  *'"name":"refuse"'*) reply '"result":{"isError":true,"content":[{"type":"text","text":"no flour"}]}' ;;
  *'"name":"die"'*) exit 1 ;;
  *'"name":"garbage"'*) echo '{"jsonrpc": nonsense' ;;
  *'"name":"big"'*) head -c 50000000 /dev/zero | tr '\0' x && echo ;;
  esac
done
