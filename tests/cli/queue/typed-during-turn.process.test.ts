import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Client } from "../../../client/index";
import { answersThenVotes, paced } from "../../../simulated/providers/scripts";
import { runningService } from "../../e2e/support/running-service";
import { startInTerminal } from "../terminal/real-terminal";

/** A conversation with the real service in a real terminal: questions during a turn are queued. */
const stack = runningService({
  slow: paced({ ttftMs: 2_500 }, answersThenVotes({ answer: "Yes, so it is." })),
});
let home = "";

const PROGRAM = [process.execPath, path.resolve("scripts/run.mjs"), path.resolve("cli/main.ts")];
const hasScript =
  spawnSync("script", ["--version"]).stdout?.toString().includes("util-linux") ?? false;

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "queue-"));
  const backend = `{type: chatcompletion, model: slow, base_url: "${stack.providers.baseUrl}", api_key: simulated}`;
  await writeFile(path.join(home, "team.yaml"), `agents:\n  - {id: ann, backend: ${backend}}\n`);
}, 120_000);
afterAll(() => rm(home, { recursive: true, force: true }));

describe.each([60, 100])("in a terminal of %i columns", (columns) => {
  it.skipIf(!hasScript)(
    "what the user types while a turn runs is queued, removable, and not lost",
    async () => {
      const words = [...PROGRAM, "--config", "team.yaml", "--server", stack.service.url];
      const talk = startInTerminal(words.join(" "), { columns, home });
      await talk.waitFor("/quit leaves.");
      talk.press("First question?\r");
      await talk.waitFor("presentation  ");
      talk.press("Second question?\r");
      await talk.waitFor("queued  1  Second question?");
      talk.press("Unwanted question?\r");
      await talk.waitFor("queued  2  Unwanted question?");
      talk.press("/queue remove 2\r");
      await talk.waitFor("Removed: Unwanted question?");
      await talk.waitFor("\n> Second question?");
      talk.press("Half a que");
      await talk.waitFor("> Half a que");
      await expect
        .poll(() => talk.plainText().split("Yes, so it is.").length, { timeout: 30_000 })
        .toBeGreaterThan(2);
      await talk.waitFor("> Half a que");
      talk.press("stion?\r");
      await expect
        .poll(() => talk.plainText().split("Yes, so it is.").length, { timeout: 30_000 })
        .toBeGreaterThan(3);
      talk.press("/quit\r");
      await talk.ended;
      const client = new Client({ server: stack.service.url });
      const [{ id = "" } = {}] = (await client.sessions.list({ limit: 1 })).data;
      const { data } = await client.turns.list(id);
      expect(data.map(({ question_preview, status }) => [question_preview, status])).toEqual([
        ["First question?", "completed"],
        ["Second question?", "completed"],
        ["Half a question?", "completed"],
      ]);
    },
    120_000,
  );
});
