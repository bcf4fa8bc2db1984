import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Client } from "../../../client/index";
import { answersThenVotes, paced } from "../../../simulated/providers/scripts";
import { runningService } from "../../e2e/support/running-service";
import { startInTerminal } from "../terminal/real-terminal";

/** Another team in a conversation with the real service, in a real terminal. */
const stack = runningService({
  slow: paced({ ttftMs: 2_000 }, answersThenVotes({ answer: "Yes, so it is." })),
  quick: answersThenVotes({ answer: "It depends." }),
});
let home = "";

const PROGRAM = [process.execPath, path.resolve("scripts/run.mjs"), path.resolve("cli/main.ts")];
const hasScript =
  spawnSync("script", ["--version"]).stdout?.toString().includes("util-linux") ?? false;

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "team-"));
  const agent = (id: string, model: string) =>
    `  - {id: ${id}, backend: {type: chatcompletion, model: ${model}, base_url: "${stack.providers.baseUrl}", api_key: simulated}}\n`;
  await writeFile(path.join(home, "team.yaml"), `agents:\n${agent("ann", "slow")}`);
  const reviewers = `agents:\n${agent("rita", "quick")}${agent("rolf", "quick")}`;
  const contexts = "orchestrator: {context_paths: [{path: ./site, permission: read}]}\n";
  await writeFile(path.join(home, "reviewers.yaml"), reviewers + contexts);
  await mkdir(path.join(home, "site"));
  await writeFile(path.join(home, "site", "index.html"), "<p>Hello</p>\n");
}, 120_000);
afterAll(() => rm(home, { recursive: true, force: true }));

it.skipIf(!hasScript)(
  "/config during a turn lets another team answer what is typed after it, in the same session",
  async () => {
    const words = [...PROGRAM, "--config", "team.yaml", "--server", stack.service.url];
    const talk = startInTerminal(words.join(" "), { columns: 100, home });
    await talk.waitFor("/quit leaves.");
    talk.press("First question?\r");
    await talk.waitFor("presentation  ");
    talk.press("Second question?\r");
    await talk.waitFor("queued  1  Second question?");
    talk.press("/config reviewers.yaml\r");
    await talk.waitFor("/config reviewers.yaml runs when the turns have ended.");
    talk.press("Third question?\r");
    await talk.waitFor("Third question? is asked when the turns have ended.");
    await talk.waitFor("reviewers.yaml names folders of this machine:");
    talk.press("y");
    await talk.waitFor("team     reviewers.yaml: rita (quick), rolf (quick)");
    await talk.waitFor("\n> Third question?");
    await expect
      .poll(() => talk.plainText().split("It depends.").length, { timeout: 30_000 })
      .toBeGreaterThan(1);
    talk.press("/config\r");
    await talk.waitFor("that of turn 3: rita (quick), rolf (quick)");
    talk.press("Fourth question?\r");
    const client = new Client({ server: stack.service.url });
    const [{ id = "" } = {}] = (await client.sessions.list({ limit: 5 })).data;
    await expect
      .poll(async () => (await client.turns.list(id)).data.map(({ status }) => status), {
        timeout: 30_000,
      })
      .toEqual(["completed", "completed", "completed", "completed"]);
    talk.press("/quit\r");
    await talk.ended;
    const { data } = await client.turns.list(id);
    expect(data.map(({ question_preview, team }) => [question_preview, team[0]?.agent])).toEqual([
      ["First question?", "ann"],
      ["Second question?", "ann"],
      ["Third question?", "rita"],
      ["Fourth question?", "rita"],
    ]);
    expect((await client.sessions.list({ limit: 5 })).data).toHaveLength(1);
  },
  120_000,
);
