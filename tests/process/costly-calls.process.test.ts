import { describe, expect, it } from "vitest";
import { worksOnFiles } from "../../scripts/simulated-providers/coding";
import { healthDuring } from "./support/health-watch";
import { runningService } from "./support/running-service";

/** What once stopped the whole service for seconds, asked for while `/healthz` is watched. */

const ANSWERS_WITHIN_MS = 250;
const ENDED_WITHIN_MS = 120_000;

type Step = [string, Record<string, unknown>];
const shell = (command: string): Step => ["run_command", { command }];
const long = "x=abbabaab; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do x=$x$x; done;";
const sameLetter = long.replace("abbabaab", "aaaaaaaa");
/** One line of 393 kB. */
const lineOf = (file: string): Step => shell(`${long} for i in 1 2 3; do printf %s "$x"; done > ${file}`);
const name = "abcdefgh".repeat(30);
const paths = [1, 2, 3].map((part) =>
  shell(`mkdir -p ${name}/${name}/${name}; for i in {1..900}; do :> ${name}/${name}/${name}/${part}-$i; done`),
);

/** Rows of H5's table. `told`: what the model reads; null: the call ends by itself. */
const H5 = [
  {
    row: "grep for an expression of 1,444 instructions in 393 kB",
    steps: [lineOf("f.txt"), ["grep", { pattern: "(?:[ab]?){480}a[ab]{480}[cd]" }] satisfies Step],
    told: "pattern_too_costly",
  },
  { row: "[[ =~ ]] as it was reported", steps: [shell(`${long} [[ $x =~ (a?){500}a{500}b ]]`)], told: "" },
  {
    row: "[[ =~ ]] without a literal",
    steps: [shell(`${sameLetter} [[ $x =~ (a?){500}a{500}[bc] ]]`)],
    told: "pattern_too_costly",
  },
  {
    row: "[[ =~ ]] over mixed text",
    steps: [shell(`${long} [[ $x =~ ([ab]?){480}a[ab]{480}[cd] ]]`)],
    told: "pattern_too_costly",
  },
  {
    row: "search_files with 1,000 characters of classes over long paths",
    steps: [...paths, ["search_files", { pattern: `${"*[!x]".repeat(195)}[yz]` }] satisfies Step],
    told: "pattern_too_costly",
  },
  { row: "for ((;;)) with a string that grows", steps: [shell("for ((;;)); do x+=aaaaaaaaaaaaaaaa; done")], told: "was stopped" },
  { row: "an endless for", steps: [shell("for ((;;)); do :; done")], told: "was stopped" },
] as const;

const choices = Array.from({ length: 600 }, (_, nth) => ({ type: "string", minLength: nth + 9 }));
const toolWith = (items: object): object => ({
  name: "send",
  description: "Sends values.",
  url: "http://127.0.0.1:9/send",
  method: "POST",
  parameters: { type: "object", properties: { list: { type: "array", items } } },
});

const models = Object.fromEntries(
  H5.map(({ steps }, nth) => [`row-${nth}`, worksOnFiles({ last: steps, answer: "Tried." })] as const),
);
const running = runningService(
  {
    ...models,
    sender: worksOnFiles({ last: [["send", { list: Array.from({ length: 20_000 }, () => "a") }]], answer: "Tried." }),
  },
  { ALLOWED_TOOL_ORIGINS: "http://127.0.0.1:9" }, // nothing listens there: the call is refused before it is sent
);

async function answerOf(model: string, backend: Record<string, unknown>): Promise<string> {
  const { client, providers } = running;
  const { session_id: id } = await client.start({ baseUrl: providers.baseUrl, agents: [{ id: "a", model }], backend });
  return (await client.ended(id, ENDED_WITHIN_MS)).answer ?? "";
}

async function validated(config: unknown): Promise<string> {
  const body = JSON.stringify(typeof config === "string" ? { config_yaml: config } : { config });
  const headers = { "content-type": "application/json" };
  return (await fetch(`${running.service.url}/api/configs/validate`, { method: "POST", headers, body })).text();
}

/** Texts of M12's finding, 240 kB each. */
const M12 = [
  { row: "commas in a list", yaml: `a: [${",".repeat(240_000)}` },
  { row: "quotes", yaml: '"'.repeat(240_000) },
  { row: "closing brackets", yaml: "]".repeat(240_000) },
  { row: "escapes", yaml: `a: "${"\\x".repeat(120_000)}"` },
];

describe("/healthz answers all the while", () => {
  it.each(H5.map((row, nth) => ({ ...row, nth })))("of $row (H5)", async ({ nth, told }) => {
    let answer = "";
    const wait = await healthDuring(running.service, async () => {
      answer = await answerOf(`row-${nth}`, { cwd: "work", enable_mcp_command_line: true });
    });
    expect(answer).toContain("Tried.");
    expect(answer).toContain(told);
    expect(wait.cpuMs, JSON.stringify(wait)).toBeLessThan(ANSWERS_WITHIN_MS);
  });

  it("of 20,000 values for a schema of 1,200 parts (M7)", async () => {
    let answer = "";
    const wait = await healthDuring(running.service, async () => {
      answer = await answerOf("sender", { custom_tools: [toolWith({ anyOf: choices })] });
    });
    expect(answer).toContain("pattern_too_costly");
    expect(wait.cpuMs, JSON.stringify(wait)).toBeLessThan(ANSWERS_WITHIN_MS);
  });

  it("of a schema of 10,000 parts (M7)", async () => {
    const items = { allOf: Array.from({ length: 10_000 }, () => true) };
    const backend = { type: "openai", model: "gpt-5", custom_tools: [toolWith(items)] };
    let said = "";
    const wait = await healthDuring(running.service, async () => {
      said = await validated({ agents: [{ id: "a", backend }] });
    });
    expect(said).toContain("more than 2000 parts");
    expect(wait.cpuMs, JSON.stringify(wait)).toBeLessThan(ANSWERS_WITHIN_MS);
  });

  it.each(M12)("of a config of 240 kB of $row, five times over (M12)", async ({ yaml }) => {
    const said: string[] = [];
    const wait = await healthDuring(running.service, async () => {
      for (let time = 0; time < 5; time++) said.push(await validated(yaml));
    });
    for (const text of said) expect(text).toMatch(/"code":\s*"(?:syntax|too_large|too_deep)"/);
    expect(wait.cpuMs, JSON.stringify(wait)).toBeLessThan(ANSWERS_WITHIN_MS);
  });
});
