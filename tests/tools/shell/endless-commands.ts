/** Command lines that would run forever or for hours. The shell must stop them. */
const SET_LONG_X =
  "x=aaaaaaaaaaaaaaaa; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do x=$x$x; done;";
const WRITE_LONG_X = `${SET_LONG_X} echo $x > f;`;

export const ENDLESS: { name: string; command: string }[] = [
  { name: "an empty endless loop", command: "while true; do :; done" },
  { name: "an endless loop with commands", command: "while true; do ls / > /dev/null; done" },
  { name: "an endless loop with pipes", command: "while true; do true | true; done" },
  { name: "an endless loop with subshells", command: "while true; do x=$(echo $x a); done" },
  { name: "an endless arithmetic loop", command: "while ((1)); do ((i++)); done" },
  { name: "an endless for loop", command: "for ((;;)); do :; done" },
  {
    name: "an endless until loop in nested shells",
    command: "bash -c 'bash -c \"until false; do :; done\"'",
  },
  { name: "an endless loop in eval", command: "eval 'while :; do :; done'" },
  { name: "an endless loop under timeout", command: "timeout 1000 sh -c 'while true; do :; done'" },
  { name: "recursion", command: "f() { f; }; f" },
  { name: "a fork bomb", command: ":(){ :|:& };:" },
  { name: "branching recursion", command: "f() { f; f; f; }; f" },
  { name: "a script that calls itself", command: "echo 'bash s.sh' > s.sh; bash s.sh" },
  { name: "a script that sources itself", command: "echo '. ./s.sh' > s.sh; . ./s.sh" },
  { name: "a billion numbers", command: "seq 1000000000 | tail -1" },
  { name: "a huge brace expansion", command: "echo {1..1000000000}" },
  { name: "a product of brace expansions", command: `echo ${"{a,b}".repeat(30)}` },
  { name: "a string that is doubled again and again", command: "x=x; while :; do x=$x$x; done" },
  { name: "a here-document that grows", command: "x=a; while :; do x=$(cat <<E\n$x$x\nE\n); done" },
  { name: "an sed that branches forever", command: "sed ':a;s/x/x/;ba' <<< x" },
  { name: "an sed that doubles a line", command: "sed -E ':a;s/(.*)/\\1\\1/;ba' <<< x" },
  { name: "an awk that loops forever", command: "awk 'BEGIN{while(1){}}'" },
  {
    name: "nested awk loops",
    command: "awk 'BEGIN{for(i=0;i<90000;i++) for(j=0;j<90000;j++) k++}'",
  },
  {
    name: "an awk that grows a string",
    command: "awk 'BEGIN{for(;;) s = s \"aaaaaaaaaaaaaaaaaaaa\"}'",
  },
  {
    name: "an awk that replaces forever",
    command: 'awk \'BEGIN{s="aaaaaaaaaa"; for(i=0;i<90000;i++) gsub(/a/,"a",s)}\'',
  },
  {
    name: "an awk that compares each line with each other line",
    command: "seq 1 9000 > f; awk 'NR==FNR{a[$1]=1;next} {for (k in a) n++}' f f",
  },
  { name: "a jq that never ends", command: "jq -n 'last(range(1e9))'" },
  { name: "a jq that calls itself", command: "jq -n 'def f: f; f'" },
  { name: "an eval of many evals", command: "eval \"$(printf 'eval %.0s' {1..5000})\"" },
  {
    name: "globs on a long variable in an endless loop",
    command: `${SET_LONG_X} while :; do [[ $x == *b* ]]; done`,
  },
  {
    name: "regular expressions on a long variable in an endless loop",
    command: `${SET_LONG_X} while :; do [[ $x =~ (a+)+b ]]; done`,
  },
  {
    name: "substrings of a long variable in an endless loop",
    command: `${SET_LONG_X} while :; do : \${x:0:9}; done`,
  },
  {
    name: "an endless loop that hashes a file",
    command: `${WRITE_LONG_X} while :; do sha256sum f > /dev/null; done`,
  },
  {
    name: "an endless loop that searches a file",
    command: `${WRITE_LONG_X} while :; do grep -E '(a|b)+c' f; done`,
  },
  {
    name: "an endless loop that fills the scratch directory",
    command: `${WRITE_LONG_X} while :; do cat f >> /tmp/all; done`,
  },
  {
    name: "an endless loop that lists many files",
    command: "for i in {1..900}; do :> f$i; done; while :; do : *; done",
  },
  { name: "a long sleep", command: "sleep 100000" },
];
/** A text on which a backtracking matcher would not end. The shell's matcher ends quickly. */
const trap = `${"a".repeat(40)}!`;
export const BACKTRACKING: { name: string; command: string }[] = [
  { name: "grep -E", command: `echo ${trap} | grep -E '^(a+)+$'` },
  { name: "grep -P", command: `echo ${trap} | grep -P '^(a|aa)+$'` },
  { name: "rg", command: `echo ${trap} | rg '^(a*)*$'` },
  { name: "sed", command: `echo ${trap} | sed -E 's/^(a+)+$/x/'` },
  { name: "awk", command: `echo ${trap} | awk '/^(a+)+$/'` },
  { name: "[[ =~ ]]", command: `[[ ${trap} =~ ^(a+)+$ ]]` },
  { name: "jq", command: `jq -n '"${trap}" | test("^(a+)+$")'` },
  { name: "case", command: `shopt -s extglob; case ${trap} in *(*(a))b) echo y;; esac` },
  { name: "a nested repetition", command: "echo a | grep -E '((a{1000}){1000}){1000}'" },
];
