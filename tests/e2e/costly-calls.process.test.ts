import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { worksOnFiles } from "../../simulated/providers/coding";
import { bestOf, healthDuring } from "./support/health-watch";
import { IdleServer } from "./support/idle-server";
import { runningService } from "./support/running-service";

/**
 * Requests that could block the whole service for seconds. During each request, `/healthz` must
 * respond.
 */

const ANSWERS_WITHIN_MS = 250;
const ENDED_WITHIN_MS = 120_000;
const TRIES = 3;

type Step = [string, Record<string, unknown>];
const shell = (command: string): Step => ["run_command", { command }];
const longValue = "x=abbabaab; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do x=$x$x; done;";
const longSameLetter = longValue.replace("abbabaab", "aaaaaaaa");
/** Writes a file of one line with 393 kB. */
const writeLine = (file: string): Step =>
  shell(`${longValue} for i in 1 2 3; do printf %s "$x"; done > ${file}`);
/** Writes a file of `times` × 250 kB, with many lines. */
const writeLines = (file: string, times: number): Step =>
  shell(
    `printf '%s alpha beta gamma delta epsilon zeta eta theta iota\\n' {1..4500} > p; for i in {1..${times}}; do cat p; done > ${file}`,
  );
const name = "abcdefgh".repeat(30);
const paths = [1, 2, 3].map((part) =>
  shell(
    `mkdir -p ${name}/${name}/${name}; for i in {1..900}; do :> ${name}/${name}/${name}/${part}-$i; done`,
  ),
);

/** The tool calls of finding H5. `expected`: a part of the result that the model reads. */
const H5 = [
  {
    row: "grep for an expression of 1,444 instructions in 393 kB",
    steps: [
      writeLine("f.txt"),
      ["grep", { pattern: "(?:[ab]?){480}a[ab]{480}[cd]" }] satisfies Step,
    ],
    expected: "pattern_too_costly",
  },
  {
    row: "[[ =~ ]] with the pattern of the report",
    steps: [shell(`${longValue} [[ $x =~ (a?){500}a{500}b ]]`)],
    expected: "",
  },
  {
    row: "[[ =~ ]] without a literal",
    steps: [shell(`${longSameLetter} [[ $x =~ (a?){500}a{500}[bc] ]]`)],
    expected: "pattern_too_costly",
  },
  {
    row: "[[ =~ ]] over mixed text",
    steps: [shell(`${longValue} [[ $x =~ ([ab]?){480}a[ab]{480}[cd] ]]`)],
    expected: "pattern_too_costly",
  },
  {
    row: "search_files with 1,000 characters of classes over long paths",
    steps: [...paths, ["search_files", { pattern: `${"*[!x]".repeat(195)}[yz]` }] satisfies Step],
    expected: "pattern_too_costly",
  },
  {
    row: "for ((;;)) with a string that grows",
    steps: [shell("for ((;;)); do x+=aaaaaaaaaaaaaaaa; done")],
    expected: "was stopped",
  },
  { row: "an endless for", steps: [shell("for ((;;)); do :; done")], expected: "was stopped" },
  {
    row: "sort, uniq, rev, wc and diff over 2 MB",
    steps: [
      writeLines("f.txt", 7),
      shell(
        "sort -n f.txt | uniq -c | head -1; rev f.txt | wc; sed 's/^9/x/' p > g; diff p g | wc -l; fold p | wc; jq -R . p | wc -l",
      ),
    ],
    expected: "7 1 alpha beta",
  },
  {
    row: "sort, fold, jq, comm and others over 7 MB",
    steps: [
      writeLines("f.txt", 28),
      shell(
        "for c in sort fold md5sum tac rev uniq gzip cat wc head 'jq .' 'comm p'; do eval \"$c f.txt > /tmp/g; $c < f.txt > /tmp/g\"; done",
      ),
    ],
    expected: "MiB are too much at once",
  },
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
  H5.map(
    ({ steps }, nth) => [`row-${nth}`, worksOnFiles({ last: steps, answer: "Tried." })] as const,
  ),
);
const running = runningService(
  {
    ...models,
    sender: worksOnFiles({
      last: [["send", { list: Array.from({ length: 20_000 }, () => "a") }]],
      answer: "Tried.",
    }),
  },
  // no server listens there, because the call is refused before it is sent
  { ALLOWED_TOOL_ORIGINS: "http://127.0.0.1:9" },
);

let idle: IdleServer | undefined;
beforeAll(async () => {
  idle = await IdleServer.start();
});
afterAll(() => idle?.stop());

/** Fails if `/healthz` responds too late in every try. */
async function expectHealth(work: () => Promise<unknown>): Promise<void> {
  const idleServer = idle;
  if (!idleServer) throw new Error("the idle server runs only during the tests");
  const wait = await bestOf(TRIES, ANSWERS_WITHIN_MS, () =>
    healthDuring({ service: running.service, idle: idleServer }, work),
  );
  expect(wait.ownMs, JSON.stringify(wait)).toBeLessThan(ANSWERS_WITHIN_MS);
}

async function answerOf(model: string, backend: Record<string, unknown>): Promise<string> {
  const { client, providers } = running;
  const { session_id: id } = await client.start({
    baseUrl: providers.baseUrl,
    agents: [{ id: "a", model }],
    backend,
  });
  return (await client.ended(id, ENDED_WITHIN_MS)).answer ?? "";
}

async function validated(config: unknown): Promise<string> {
  const body = JSON.stringify(typeof config === "string" ? { config_yaml: config } : { config });
  const headers = { "content-type": "application/json" };
  return (
    await fetch(`${running.service.url}/api/configs/validate`, { method: "POST", headers, body })
  ).text();
}

/** Configs of finding M12. Each has 240 kB. */
const M12 = [
  { row: "commas in a list", yaml: `a: [${",".repeat(240_000)}` },
  { row: "quotes", yaml: '"'.repeat(240_000) },
  { row: "closing brackets", yaml: "]".repeat(240_000) },
  { row: "escapes", yaml: `a: "${"\\x".repeat(120_000)}"` },
];

describe("/healthz responds during a request", () => {
  it.each(H5.map((row, nth) => ({ ...row, nth })))("of $row (H5)", async ({ nth, expected }) => {
    let answer = "";
    await expectHealth(async () => {
      answer = await answerOf(`row-${nth}`, { cwd: "work", enable_mcp_command_line: true });
    });
    expect(answer).toContain("Tried.");
    expect(answer).toContain(expected);
  });

  it("of 20,000 values for a schema of 1,200 parts (M7)", async () => {
    let answer = "";
    await expectHealth(async () => {
      answer = await answerOf("sender", { custom_tools: [toolWith({ anyOf: choices })] });
    });
    expect(answer).toContain("pattern_too_costly");
  });

  it("of a schema of 10,000 parts (M7)", async () => {
    const items = { allOf: Array.from({ length: 10_000 }, () => true) };
    const backend = { type: "openai", model: "gpt-5", custom_tools: [toolWith(items)] };
    let responses = "";
    await expectHealth(async () => {
      responses = await validated({ agents: [{ id: "a", backend }] });
    });
    expect(responses).toContain("more than 2000 parts");
  });

  it.each(M12)("of a config of 240 kB of $row, sent five times (M12)", async ({ yaml }) => {
    let responses: string[] = [];
    await expectHealth(async () => {
      responses = [];
      for (let time = 0; time < 5; time++) responses.push(await validated(yaml));
    });
    for (const text of responses) expect(text).toMatch(/"code":\s*"(?:syntax|too_large|too_deep)"/);
  });
});
