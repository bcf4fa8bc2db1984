import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ordersText, TREE_MODELS } from "../../simulated/providers/tree-models";
import { DiffSchema } from "../../src/protocol/api/diff";
import { runAt } from "../cli/commands/terminal";
import { slowness } from "../machine-speed";
import { runningService } from "./support/running-service";

/**
 * A diff of 2,000 changed files in the real runtime: from the request to the response, with all
 * reads of contents. It is limited in processor time of the service's process, because a clock also
 * counts other work of the machine. A slower machine has proportionally more time.
 */
const FILES = 2_000;
const LIMIT_MS = 1_000;
const TRIES = 3;
/** The unit of processor times in `/proc`. */
const TICK_MS = 10;

const stack = runningService(TREE_MODELS);
let folder = "";
let session = "";

const cli = async (...args: string[]): Promise<string> =>
  (await runAt({ cwd: folder }, ...args, "--server", stack.service.url)).stdout;

/** Writes each file, in which a tenth of the lines names the version, and pushes them. */
async function push(version: number): Promise<void> {
  const site = path.join(folder, "site");
  const lines = (file: number): string =>
    Array.from({ length: 40 }, (_, line) =>
      line % 10 === 5 ? `version ${version} of ${file}` : `line ${line} of ${file}`,
    ).join("\n");
  for (let file = 0; file < FILES; file += 1) {
    const place = path.join(site, `part-${file % 50}`);
    await mkdir(place, { recursive: true });
    await writeFile(path.join(place, `file-${file}.ts`), lines(file));
  }
  await cli("push", site, "--name", "site");
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "large-diff-"));
  const backend = `{type: chatcompletion, model: chronicler, base_url: "${stack.providers.baseUrl}", api_key: simulated}`;
  const team = `agents:\n  - {id: ann, backend: ${backend}}\norchestrator:\n  context_paths: [{path: site, permission: write}]\n`;
  await writeFile(path.join(folder, "team.yaml"), team);
  for (const turn of [1, 2]) {
    await push(turn);
    const question = ordersText({
      ...{ id: turn, ends: "completed", reads: [], answer: [], final: [], rejected: null },
    });
    const place = turn === 1 ? ["--config", "team.yaml"] : ["--session", session];
    ({ session_id: session } = JSON.parse(await cli(...place, "--json", question)));
  }
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Processor time of the service's process so far in ms, of all its threads. */
function processorMs(): number {
  const stat = readFileSync(`/proc/${stack.service.pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

it.skipIf(process.platform !== "linux")(
  `a diff of ${FILES} changed files needs less than a second`,
  async () => {
    const times: number[] = [];
    for (let run = 0; run < TRIES; run += 1) {
      const before = processorMs();
      const query = `/api/sessions/${session}/diff?from=turn_1&to=turn_2`;
      const response = await fetch(new URL(query, stack.service.url));
      const diff = DiffSchema.parse(await response.json());
      times.push(processorMs() - before);
      expect([diff.counts.changed, diff.data.length, diff.more]).toEqual([FILES, FILES, 0]);
      expect(diff.data.filter(({ hunks }) => hunks.length !== 4)).toEqual([]);
    }
    expect(Math.min(...times)).toBeLessThan(LIMIT_MS * slowness());
  },
  60_000,
);
