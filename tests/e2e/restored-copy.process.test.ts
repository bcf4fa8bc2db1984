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
 * A backup of the service's storage is restored: the storage is copied while the service is
 * stopped, then deleted, then restored. The restored sessions must be equal, byte for byte, and
 * must continue (invariants I1 and I19).
 */

const AGAIN = "And in the mountains?";
const NOTES = "It boils at 100 °C.\n";
/**
 * Creates a file of 1.2 MB. It is too large for a row of the session, so only R2 has its contents.
 */
const WRITE_HEAP =
  "seq 1 9000 > a && cat a a a a > b && for i in 1 2 3 4 5 6 7; do cat b >> heap; done; rm a b";
const firstTurn = worksOnFiles({
  answer: "As the notes say.",
  last: [
    ["write_file", { path: "NOTES.md", content: NOTES }],
    ["run_command", { command: WRITE_HEAP }],
  ],
});
const secondTurn = worksOnFiles({
  answer: "As the notes of before say.",
  last: [["run_command", { command: "cp NOTES.md more.md && tail -n 1 heap >> more.md" }]],
});
const keeper: Script = (situation) =>
  (situation.question.includes(AGAIN) ? secondTurn : firstTurn)(situation);

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

/** The SHA-256 of everything that a client can read of a session after its first turn. */
async function hashesOfSession(session: string): Promise<Record<string, string>> {
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

/** The copy, and the two sessions that it contains. */
type Backup = {
  /** Id of a session whose turn had ended, and its hashes before the copy. */
  endedId: string;
  endedHashes: Record<string, string>;
  /** Id of a session whose turn was interrupted by the copy. */
  openId: string;
  /** Bytes of its stream that a client had received before the copy. */
  bytesBefore: Buffer;
  /** Id of the last event that the client received after the copy. */
  lastId: string;
  copy: StoredCopy;
};

async function takeBackup(): Promise<Backup> {
  const endedId = await start([KEEPER]);
  expect(await on.client.ended(endedId, 60_000)).toMatchObject({ status: "completed" });
  const openId = await start(STORY_AGENTS);
  const endedHashes = await hashesOfSession(endedId);
  const watcher = follow(openId);
  while (!watcher.has("answer.submitted")) await sleep(5);
  await on.service.kill();
  await sleep(50); // until the last sent data has arrived at the client
  const bytesBefore = watcher.bytes;
  const copy = await StoredCopy.take(on.service.stateDir);
  await on.service.start(); // the service continues after the copy; its later data will be lost
  await watcher.ended;
  await on.service.kill();
  const lastId = String(watcher.frames.length);
  return { endedId, endedHashes, openId, bytesBefore, lastId, copy };
}

describe("a copy of the service's storage", () => {
  let backup: Backup;
  beforeAll(async () => {
    backup = await takeBackup();
    await wipe(on.service.stateDir);
    await on.service.start();
    expect((await ask(sessionPath(backup.endedId))).status).toBe(404);
    await on.service.kill();
    await backup.copy.putBack(on.service.stateDir);
    expect(await hashesIn(on.service.stateDir)).toEqual(await backup.copy.hashes());
    await on.service.start();
  }, 120_000);
  afterAll(() => backup?.copy.discard());

  it("rejects a client that has received later events, and sends it no events", async () => {
    const headers = { accept: "text/event-stream", "last-event-id": backup.lastId };
    const { status, body } = await ask(`${sessionPath(backup.openId)}/events`, headers);
    expect([status, JSON.parse(body.toString())]).toEqual([
      409,
      expect.objectContaining({ code: "event_id_ahead" }),
    ]);
  });

  it("contains an ended session with the same log, status, turn, files and position in the list", async () => {
    expect(Object.keys(backup.endedHashes)).toEqual(
      expect.arrayContaining(["/turns/1/files/NOTES.md", "/turns/1/files/heap"]),
    );
    expect(await hashesOfSession(backup.endedId)).toEqual(backup.endedHashes);
    const watcher = follow(backup.endedId);
    await watcher.ended;
    const log = watcher.frames.map(toEvent);
    expect([...broken(log), ...misfolded(log, await on.client.status(backup.endedId))]).toEqual([]);
  });

  it("contains an interrupted session, which continues after its last sent event and ends correctly", async () => {
    const watcher = follow(backup.openId);
    await watcher.ended;
    expect(watcher.bytes.subarray(0, backup.bytesBefore.length).equals(backup.bytesBefore)).toBe(
      true,
    );
    const status = await on.client.status(backup.openId);
    expect(judge({ frames: watcher.frames, status, requests: [] })).toEqual([]);
  });

  it("lets a session run its next turn, in which the agent has the files of the previous turn, also files in R2", async () => {
    await on.client.ask(backup.endedId, AGAIN);
    const watcher = follow(backup.endedId, 2);
    await watcher.ended;
    expect(watcher.has("turn.completed")).toBe(true);
    const before = await filesOf(backup.endedId, 1);
    const after = await filesOf(backup.endedId, 2);
    expect(after.filter(({ path }) => path !== "more.md")).toEqual(before);
    const { body } = await ask(`${sessionPath(backup.endedId)}/turns/2/files/more.md`);
    expect(body.toString()).toBe(`${NOTES}9000\n`);
  });
});
