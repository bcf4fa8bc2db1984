import { describe, expect, it } from "vitest";
import { justBashRunner, runCommandTool, SHELL_LIMITS } from "../../../src/tools/shell";
import { silenceDuring } from "../../patterns/silence";
import { agentFiles, runTool } from "../files/agent-tree";

const tool = runCommandTool(justBashRunner(Date.now));
/**
 * A slow clock, so that the time limit never ends a command before its step budget on a busy
 * machine.
 */
const patient = runCommandTool(justBashRunner(() => Date.now() / 4));
/** Enough steps to show whether a loop pauses; the service allows ten times as many. */
const soonStopped = runCommandTool(
  justBashRunner(Date.now, { limits: { ...SHELL_LIMITS, steps: 40_000 } }),
);
/** CPU time without a pause, in ms. A step of 4 M units of work takes 60 to 120. */
const MOST_SILENT_MS = 250;
const LOOP_SILENT_MS = 150;

const long = "x=aaaaaaaaaaaaaaaa; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do x=$x$x; done;";
const big = `${long} echo $x > f;`;
/** This many lines of 64 characters, made by a loop of a few rounds. */
const lines = (count: number): string =>
  `l=${"a".repeat(64)}; printf "$l\\n%.0s" {1..${count}} > f;`;
const heavy = "(a?){500}a{500}[bc]"; // a literal `b` would be searched first

/** Patterns of each kind that the shell matches, over 131 kB of `a`. */
const COSTLY = [
  { name: "[[ =~ ]]", command: `${long} [[ $x =~ ${heavy} ]]` },
  {
    name: "[[ =~ ]] in a subshell in a pipe",
    command: `${long} true | (echo; [[ $x =~ ${heavy} ]]) | cat`,
  },
  { name: "grep -E", command: `${big} grep -E '${heavy}' f` },
  {
    name: "grep of many lines",
    command: `${lines(1_800)} grep -E '${heavy}' f`,
  },
  { name: "rg", command: `${big} rg '${heavy}' f` },
  { name: "sed", command: `${big} sed -E 's/${heavy}/x/' f` },
  { name: "awk", command: `${big} awk '/${heavy}/' f` },
  { name: "jq", command: `${big} jq -R 'test("${heavy}")' f` },
  { name: "expr", command: `${long} expr "$x" : '(a?a*){300}[bc]'` },
  { name: "case", command: `${long} case $x in ${"*a".repeat(200)}[bc]) echo y;; esac` },
  {
    name: "a replacement of a parameter",
    command: `shopt -s extglob; ${long} : \${x//${"?(a)".repeat(300)}[bc]/}`,
  },
  {
    name: "find -regex",
    command: `mkdir -p ${"a".repeat(200)}; for i in {1..500}; do :> ${"a".repeat(200)}/a$i; done; find . -regex '.${"/*a?".repeat(200)}[bc]'`,
  },
  {
    name: "a file glob",
    command: `mkdir d; for i in {1..900}; do :> d/${"a".repeat(200)}$i; done; echo d/${"*[!x]".repeat(300)}[bc]`,
  },
];

/** Loops that never await anything, and so never yield the thread. */
const LOOPS = [
  { name: "a string that grows", command: `for ((;;)); do x+=${"a".repeat(256)}; done` },
  { name: "an endless for", command: "for ((;;)); do :; done" },
  { name: "an endless while in a pipe", command: "while true; do ((i++)); done | cat" },
  { name: "recursion", command: "f() { ((n++)); f; }; while :; do (f); done" },
  {
    name: "sed that branches forever",
    command: `printf abc%.0s {1..700} | sed ':a;y/abc/bca/;ba'`,
  },
  { name: "awk that loops forever", command: "awk 'BEGIN{while(1){}}'" },
  { name: "awk that grows a string", command: `awk 'BEGIN{for(;;) s = s "${"a".repeat(60)}"}'` },
];

const ran = async (command: string, by = tool) =>
  silenceDuring(async () => runTool(by, { command, timeout_seconds: 10 }, await agentFiles({})));

describe("a costly command", () => {
  it.each(COSTLY)(
    "of $name is stopped, and other requests wait at most for one step (H5)",
    async ({ command }) => {
      await ran("echo a | grep a"); // loading and compiling the shell takes a moment
      const { result, cpuMs } = await ran(command, patient);
      expect(result.text).toContain("pattern_too_costly");
      expect(result.outcome).toBe("error");
      expect(cpuMs).toBeLessThan(MOST_SILENT_MS);
    },
  );

  it.each(LOOPS)("of $name yields the thread regularly (H5)", async ({ command }) => {
    const { result, cpuMs } = await ran(command, soonStopped);
    expect(result.text).toContain("[The command was stopped: ");
    expect(cpuMs).toBeLessThan(LOOP_SILENT_MS);
  });

  it("ends only its own command line, beside others with the same patterns", async () => {
    const costly = ran(`${long} [[ $x =~ ${heavy} ]]`);
    const cheap = Array.from({ length: 5 }, () =>
      ran(`[[ aab =~ ${"a?".repeat(5)}b ]] && echo yes`),
    );
    expect((await costly).result.outcome).toBe("error");
    for (const { result } of await Promise.all(cheap)) expect(result.text).toBe("yes");
  });

  it.each([
    {
      name: "ordinary lines",
      command: "printf 'line %s of a log\\n' {1..3000} > f; grep -cE '[13579] of' f",
      text: "1500",
    },
    {
      name: "loops over patterns",
      command: "for i in {1..3000}; do [[ a$i == a*7 ]] && ((n++)); done; echo $n",
      text: "300",
    },
    {
      name: "replacements in a long text",
      command: `${long} y=\${x:0:30000}; y=\${y//a/bc}; echo \${#y}`,
      text: "60000",
    },
    {
      name: "files side by side",
      command: "for i in {1..60}; do echo a1b22c333 > f$i; done; grep -oE '[0-9]+' f* | wc -l",
      text: "180",
    },
    {
      name: "groups",
      command: "echo 2026-11-24 | sed -E 's/([0-9]+)-([0-9]+)-([0-9]+)/\\3.\\2.\\1/'",
      text: "24.11.2026",
    },
    {
      name: "a match at the end of a line",
      command: "[[ 'abc' =~ (ab$)|(a) ]]; echo ${BASH_REMATCH[0]}-${BASH_REMATCH[2]}",
      text: "a-a",
    },
  ])("does not include $name", async ({ command, text }) => {
    expect((await ran(command)).result.text.trim()).toBe(text);
  });
});

/** The parser once read these forever, until the memory was exhausted. */
it.each([
  "echo $(($))",
  "echo $((1 + $ 2))",
  "((x = $))",
  "a=(1); echo ${a[$]}$((a[$]))",
  'echo $(("$"',
])("a dollar sign without a name is an arithmetic error: %s", async (command) =>
  expect((await runTool(tool, { command }, await agentFiles({}))).text).toMatch(/error/),
);

it("adjacent parts in arithmetic are still one word", async () => {
  const { text } = await runTool(
    tool,
    { command: "x=5; echo $(($x$x + $x`echo 1`)) $(($$ > 0))" },
    await agentFiles({}),
  );
  expect(text).toBe("106 1");
});
