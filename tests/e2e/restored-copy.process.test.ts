import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { worksOnFiles } from "../../simulated/providers/coding";
import type { Script } from "../../simulated/providers/reply";
import { SessionFilesSchema } from "../../src/protocol/api/files";
import { sessionPath } from "../../src/protocol/paths";
import { runningService } from "./support/running-service";
import type { RunOptions } from "./support/service-client";
import { STORY_AGENTS, storyModels } from "./support/story";
import { sha256 } from "../../local/sha256";
import { hashesIn, StoredCopy, wipe } from "./support/stored-copy";
import { broken, judge, misfolded, toEvent } from "./support/verdict";
import { Watcher } from "./support/watcher";

/**
 * Restore: the service's storage is copied while the service is stopped, deleted, and restored. The
 * sessions of the copy are equal, byte for byte, and continue (I1, I19).
 */
const AGAIN = "And in the mountains?";
const NOTES = "It boils at 100 °C.\n";
/** 1.2 MB: too large for a row of the session, so its contents are in R2 alone. */
const HEAP =
  "seq 1 9000 > a && cat a a a a > b && for i in 1 2 3 4 5 6 7; do cat b >> heap; done; rm a b";
const first = worksOnFiles({
  answer: "As the notes say.",
  last: [
    ["write_file", { path: "NOTES.md", content: NOTES }],
    ["run_command", { command: HEAP }],
  ],
});
const later = worksOnFiles({
  answer: "As the notes of before say.",
  last: [["run_command", { command: "cp NOTES.md more.md && tail -n 1 heap >> more.md" }]],
});
const keeper: Script = (situation) =>
  (situation.question.includes(AGAIN) ? later : first)(situation);

const on = runningService({ ...storyModels(3), keeper });
const KEEPER = {
  id: "keeper",
  model: "keeper",
  backend: { cwd: "work", enable_mcp_command_line: true },
};

const start = async (agents: RunOptions["agents"]): Promise<string> =>
  (await on.client.start({ baseUrl: on.providers.baseUrl, agents })).session_id;

const follow = (session: string, turns = 1): Watcher =>
  new Watcher(`${on.client.url}${sessionPath(session)}/events`, { turns });

async function ask(
  path: string,
  more: Record<string, string> = {},
): Promise<{ status: number; body: Buffer }> {
  const headers = { accept: "application/json", connection: "close", ...more };
  const response = await fetch(`${on.client.url}${path}`, { headers });
  return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
}

const filesOf = async (session: string, turn: number) =>
  SessionFilesSchema.parse(
    JSON.parse((await ask(`${sessionPath(session)}/turns/${turn}/files`)).body.toString()),
  ).data;

/** Everything that clients can get of a session after its first turn: SHA-256 by request. */
async function everything(session: string): Promise<Record<string, string>> {
  const watcher = follow(session);
  await watcher.ended;
  const paths = [
    "",
    "/turns/1",
    "/turns/1/files",
    ...(await filesOf(session, 1)).map(({ path }) => `/turns/1/files/${path}`),
  ];
  const answers = paths.map(async (path): Promise<[string, string]> => {
    const { status, body } = await ask(`${sessionPath(session)}${path}`);
    return [path, `${status} ${sha256(body)}`];
  });
  const listed = await ask("/api/sessions");
  return {
    ...Object.fromEntries(await Promise.all(answers)),
    log: sha256(watcher.bytes),
    list: sha256(listed.body),
  };
}

/** A session that has ended and an interrupted one at the time of the copy, and the copy itself. */
type Original = {
  over: string;
  seen: Record<string, string>;
  open: string;
  acknowledged: Buffer;
  lastId: string;
  copy: StoredCopy;
};

async function keep(): Promise<Original> {
  const over = await start([KEEPER]);
  expect(await on.client.ended(over, 60_000)).toMatchObject({ status: "completed" });
  const open = await start(STORY_AGENTS);
  const seen = await everything(over);
  const watcher = follow(open);
  while (!watcher.has("answer.submitted")) await sleep(5);
  await on.service.kill();
  await sleep(50); // data on its way to the client has arrived
  const acknowledged = watcher.bytes;
  const copy = await StoredCopy.take(on.service.stateDir);
  await on.service.start(); // the service continues after the copy, until its new data is lost
  await watcher.ended;
  await on.service.kill();
  return { over, seen, open, acknowledged, lastId: String(watcher.frames.length), copy };
}

describe("a copy of the service's storage", () => {
  let kept: Original;
  beforeAll(async () => {
    kept = await keep();
    await wipe(on.service.stateDir);
    await on.service.start();
    expect((await ask(sessionPath(kept.over))).status).toBe(404);
    await on.service.kill();
    await kept.copy.putBack(on.service.stateDir);
    expect(await hashesIn(on.service.stateDir)).toEqual(await kept.copy.hashes());
    await on.service.start();
  }, 120_000);
  afterAll(() => kept?.copy.discard());

  it("rejects a client that has seen later events, and sends it no other events instead", async () => {
    const headers = { accept: "text/event-stream", "last-event-id": kept.lastId };
    const { status, body } = await ask(`${sessionPath(kept.open)}/events`, headers);
    expect([status, JSON.parse(body.toString())]).toEqual([
      409,
      expect.objectContaining({ code: "event_id_ahead" }),
    ]);
  });

  it("contains an ended session with the same log, status, turn, files and position in the list", async () => {
    expect(Object.keys(kept.seen)).toEqual(
      expect.arrayContaining(["/turns/1/files/NOTES.md", "/turns/1/files/heap"]),
    );
    expect(await everything(kept.over)).toEqual(kept.seen);
    const watcher = follow(kept.over);
    await watcher.ended;
    const log = watcher.frames.map(toEvent);
    expect([...broken(log), ...misfolded(log, await on.client.status(kept.over))]).toEqual([]);
  });

  it("contains an interrupted session, which continues after its last sent event to one correct end", async () => {
    const watcher = follow(kept.open);
    await watcher.ended;
    expect(watcher.bytes.subarray(0, kept.acknowledged.length).equals(kept.acknowledged)).toBe(
      true,
    );
    const status = await on.client.status(kept.open);
    expect(judge({ frames: watcher.frames, status, requests: [] })).toEqual([]);
  });

  it("lets a session run its next turn, whose agent finds the files of the last one, also files in R2", async () => {
    await on.client.ask(kept.over, AGAIN);
    const watcher = follow(kept.over, 2);
    await watcher.ended;
    expect(watcher.has("turn.completed")).toBe(true);
    const before = await filesOf(kept.over, 1);
    const after = await filesOf(kept.over, 2);
    expect(after.filter(({ path }) => path !== "more.md")).toEqual(before);
    const { body } = await ask(`${sessionPath(kept.over)}/turns/2/files/more.md`);
    expect(body.toString()).toBe(`${NOTES}9000\n`);
  });
});
