#!/bin/sh
# The agent of every tool in the comparison. $RIVALS_CASE (or the file it names beside the repository) says what it does.
here=$(dirname -- "$(readlink -f -- "$0")")
[ "$1" = "--version" ] && { echo "1.0.0 (stub)"; exit 0; }
[ -t 0 ] || cat > /dev/null
case=$(cat "$here/case")
count=$(($(cat "$here/count" 2>/dev/null || echo 0) + 1))
echo "$count" > "$here/count" 2>/dev/null
say() { printf '{"type":"assistant","message":{"content":[{"type":"text","text":"%s"}]}}\n' "$1"; }
printf '{"type":"system","subtype":"init","session_id":"s"}\n'
say "working on it"
number=0
while [ -e "f$number.txt" ]; do number=$((number + 1)); done
case $case in
cost) echo x > "f$number.txt" ;;
false) : ;;
deleted) echo x > "f$number.txt"; rm -f keep_test.sh ;;
outside) echo x > "f$number.txt"; echo out > OUTSIDE.md ;;
reset) git reset -q --hard; git clean -qfdx -e .devteam; echo x > "f$number.txt" ;;
held) echo x > "f$number.txt"; sleep 98765 & ;;
detached) echo x > "f$number.txt"; setsid sleep 98765 > /dev/null 2>&1 < /dev/null & ;;
slow) echo x > "f$number.txt"; sleep 98765 ;;
oneline) echo x > "f$number.txt"; head -c 30000000 /dev/zero | tr '\0' 'y'; echo ;;
longlines) echo x > "f$number.txt"; head -c 30000000 /dev/zero | tr '\0' 'z' | fold -w 10000; echo ;;
esac
[ "$case" = false ] || { git add -A . && git commit -qm "stub $number"; } > /dev/null 2>&1
say "All tests pass. EXIT_SIGNAL: true <promise>COMPLETE</promise>"
printf '{"type":"result","subtype":"success","is_error":false,"result":"done <promise>COMPLETE</promise>","total_cost_usd":0.01,"usage":{"input_tokens":10,"output_tokens":10}}\n'
