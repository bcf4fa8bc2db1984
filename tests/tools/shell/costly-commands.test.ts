import { describe, expect, it } from "vitest";
import { justBashRunner, runCommandTool, SHELL_LIMITS } from "../../../src/tools/shell";
import { silenceDuring } from "../../patterns/silence";
import { agentFiles, runTool } from "../files/agent-tree";

const tool = runCommandTool(justBashRunner(Date.now));
/**
 * A tool with a slow clock. On a busy machine, the time limit could otherwise stop a command before
 * its work budget is used up.
 */
const toolWithSlowClock = runCommandTool(justBashRunner(() => Date.now() / 4));
/** A tool with a tenth of the service's steps: enough to show whether a loop pauses. */
const toolWithFewSteps = runCommandTool(
  justBashRunner(Date.now, { limits: { ...SHELL_LIMITS, steps: 40_000 } }),
);
/** Maximum CPU time without a pause, in ms. A step of 4 million work units takes 60 to 120 ms. */
const MAX_STEP_MS = 250;
const MAX_LOOP_MS = 150;

const SET_LONG_X = "x=aaaaaaaaaaaaaaaa; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do x=$x$x; done;";
const WRITE_LONG_X = `${SET_LONG_X} echo $x > f;`;
/** A command that writes this many lines of 64 characters to the file `f`. */
const writeLines = (count: number): string =>
  `l=${"a".repeat(64)}; printf "$l\\n%.0s" {1..${count}} > f;`;
// With a literal `b` at the end, only that would be searched
const COSTLY_PATTERN = "(a?){500}a{500}[bc]";

/** A costly pattern for each command that matches patterns, on 131 kB of `a`. */
const COSTLY_COMMANDS = [
  { name: "[[ =~ ]]", command: `${SET_LONG_X} [[ $x =~ ${COSTLY_PATTERN} ]]` },
  {
    name: "[[ =~ ]] in a subshell in a pipe",
    command: `${SET_LONG_X} true | (echo; [[ $x =~ ${COSTLY_PATTERN} ]]) | cat`,
  },
  { name: "grep -E", command: `${WRITE_LONG_X} grep -E '${COSTLY_PATTERN}' f` },
  {
    name: "grep of many lines",
    command: `${writeLines(1_800)} grep -E '${COSTLY_PATTERN}' f`,
  },
  { name: "rg", command: `${WRITE_LONG_X} rg '${COSTLY_PATTERN}' f` },
  { name: "sed", command: `${WRITE_LONG_X} sed -E 's/${COSTLY_PATTERN}/x/' f` },
  { name: "awk", command: `${WRITE_LONG_X} awk '/${COSTLY_PATTERN}/' f` },
  { name: "jq", command: `${WRITE_LONG_X} jq -R 'test("${COSTLY_PATTERN}")' f` },
  { name: "expr", command: `${SET_LONG_X} expr "$x" : '(a?a*){300}[bc]'` },
  { name: "case", command: `${SET_LONG_X} case $x in ${"*a".repeat(200)}[bc]) echo y;; esac` },
  {
    name: "a replacement of a parameter",
    command: `shopt -s extglob; ${SET_LONG_X} : \${x//${"?(a)".repeat(300)}[bc]/}`,
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

/** Endless loops without a wait. The shell must pause in them by itself. */
const ENDLESS_LOOPS = [
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

const runMeasured = async (command: string, usedTool = tool) =>
  silenceDuring(async () =>
    runTool(usedTool, { command, timeout_seconds: 10 }, await agentFiles({})),
  );

describe("a costly command:", () => {
  it.each(COSTLY_COMMANDS)(
    "$name is stopped, and other requests wait only for one step (H5)",
    async ({ command }) => {
      await runMeasured("echo a | grep a"); // the first command loads the shell, which takes time
      const { result, cpuMs } = await runMeasured(command, toolWithSlowClock);
      expect(result.text).toContain("pattern_too_costly");
      expect(result.outcome).toBe("error");
      expect(cpuMs).toBeLessThan(MAX_STEP_MS);
    },
  );

  it.each(ENDLESS_LOOPS)("$name pauses regularly (H5)", async ({ command }) => {
    const { result, cpuMs } = await runMeasured(command, toolWithFewSteps);
    expect(result.text).toContain("[The command was stopped: ");
    expect(cpuMs).toBeLessThan(MAX_LOOP_MS);
  });

  it("a costly pattern stops only its own command line, not others at the same time", async () => {
    const costly = runMeasured(`${SET_LONG_X} [[ $x =~ ${COSTLY_PATTERN} ]]`);
    const cheap = Array.from({ length: 5 }, () =>
      runMeasured(`[[ aab =~ ${"a?".repeat(5)}b ]] && echo yes`),
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
      command: `${SET_LONG_X} y=\${x:0:30000}; y=\${y//a/bc}; echo \${#y}`,
      text: "60000",
    },
    {
      name: "searches in many files",
      command: "for i in {1..60}; do echo a1b22c333 > f$i; done; grep -oE '[0-9]+' f* | wc -l",
      text: "180",
    },
    {
      name: "references to groups",
      command: "echo 2026-11-24 | sed -E 's/([0-9]+)-([0-9]+)-([0-9]+)/\\3.\\2.\\1/'",
      text: "24.11.2026",
    },
    {
      name: "matches at the end of a line",
      command: "[[ 'abc' =~ (ab$)|(a) ]]; echo ${BASH_REMATCH[0]}-${BASH_REMATCH[2]}",
      text: "a-a",
    },
  ])("$name are not too costly", async ({ command, text }) => {
    expect((await runMeasured(command)).result.text.trim()).toBe(text);
  });
});

/** The original parser of the shell reads these without end. */
it.each([
  "echo $(($))",
  "echo $((1 + $ 2))",
  "((x = $))",
  "a=(1); echo ${a[$]}$((a[$]))",
  'echo $(("$"',
])("a dollar sign without a name is an arithmetic error: %s", async (command) =>
  expect((await runTool(tool, { command }, await agentFiles({}))).text).toMatch(/error/),
);

it("adjacent parts in arithmetic are one word", async () => {
  const { text } = await runTool(
    tool,
    { command: "x=5; echo $(($x$x + $x`echo 1`)) $(($$ > 0))" },
    await agentFiles({}),
  );
  expect(text).toBe("106 1");
});
