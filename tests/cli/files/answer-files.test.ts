import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SESSION } from "../../protocol/builders";
import { runAt } from "../commands/terminal";
import { ResultServer } from "./result-server";

let home = "";
let server: ResultServer;
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "answers-"));
  server = await ResultServer.start();
  server.files = { "a.txt": "rejected" };
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await rm(home, { recursive: true });
});

const ANSWER = `/api/sessions/${SESSION}/turns/1/answers/agent1.1/files`;
const ofAttempt = ["--answer", "agent1.1", "--attempt", "2"];
const files = (...args: string[]) =>
  runAt({ cwd: home, keys: [] }, "files", ...args, "--server", server.url);

describe("files of an answer of a rejected attempt", () => {
  it("are listed with --attempt, and the printed command saves the same files", async () => {
    const listed = await files(SESSION, "1", ...ofAttempt);
    expect(listed.stdout).toContain("a.txt");
    expect(listed.screen).toContain("attempt 2 of turn 1");
    expect(listed.screen).toContain(`files ${SESSION} 1 --answer agent1.1 --attempt 2 --save out`);
    await files(SESSION, "1", ...ofAttempt, "--save", "out");
    expect(await readFile(path.join(home, "out/a.txt"), "utf8")).toBe("rejected");
    expect(server.requests).toContain(`${ANSWER}/a.txt?attempt=2`);
  });

  it("are printed with --attempt", async () => {
    const printed = await files("cat", SESSION, "a.txt", "--turn", "1", ...ofAttempt);
    expect(printed.stdout).toContain("rejected");
    expect(server.requests).toEqual([`${ANSWER}?attempt=2`, `${ANSWER}/a.txt?attempt=2`]);
  });

  it("need the label of the answer", async () => {
    await expect(files(SESSION, "1", "--attempt", "2")).rejects.toThrow(
      "--attempt needs --answer: name the answer, such as --answer agent1.1.",
    );
    expect(server.requests).toEqual([]);
  });
});

describe("files of the latest turn", () => {
  it("are those of the latest question: a summary of the conversation has none", async () => {
    server.turns = [{ turn: 1 }, { turn: 2, kind: "compact" }];
    const listed = await files(SESSION);
    expect(listed.stdout).toContain("a.txt");
    expect(listed.screen).toContain(`turn 1 of ${SESSION}`);
  });
});
