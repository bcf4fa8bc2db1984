import { describe, expect, it } from "vitest";
import type { AgentFiles } from "../../../../src/workspace/agent-files";
import { FileError } from "../../../../src/workspace/types";
import { answers, rejects, says, tool, uses, votes } from "../../../coordination/builders";
import { World } from "../../../coordination/world";
import { FilesSession, Shelf } from "./files-session";

/** How the agents of a later attempt see the rejected result, with real tables. */

const GRANT = { name: "site", permission: "write" as const, protectedPaths: [] };
const SETTINGS = { fileTools: true, shell: true, readBeforeDelete: false, contexts: [GRANT] };
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const write = (path: string, text: string) => (files: AgentFiles) =>
  files.write(path, encoder.encode(text));

/** Starts a session with two agents: `a` has the context, `b` does not. */
function begin() {
  const every = { workspace: true, tools: [tool("files", { idempotent: true })] };
  const contexts = [{ name: "site", version: "v1", permissions: { a: "write" as const } }];
  const rules = { max_orchestration_restarts: 2 };
  const world = new World({ agents: ["a", "b"], every, rules, contexts });
  const shelf = new Shelf();
  shelf.put("v1", { "app.js": "old", "gone.js": "x", "same.js": "y" });
  const session = new FilesSession(world, shelf, SETTINGS);
  const does = async (id: string, work: (files: AgentFiles) => Promise<unknown>) => {
    session.does(id, uses(["files"]));
    expect(await session.tool(id, work)).toBeNull();
  };
  return { world, session, does };
}

/**
 * Plays attempt `nth` up to the rejection of its final text. Agent `a` writes a file with its
 * answer, and as presenter a second file and changes to the context.
 */
async function playRejectedAttempt(
  { session, does }: ReturnType<typeof begin>,
  nth: number,
): Promise<void> {
  await does("a", write("answer.txt", `answer ${nth}`));
  session.does("a", answers(`A ${nth}`));
  session.does("b", answers(`B ${nth}`));
  session.does("a", votes("a"));
  session.does("b", votes("a"));
  await does("a", async (files) => {
    await write(`final${nth}.txt`, `final ${nth}`)(files);
    await write("/contexts/site/app.js", `new ${nth}`)(files);
    files.remove("/contexts/site/gone.js");
  });
  session.does("a", says(`Done ${nth}.`));
  session.does("a", rejects("wrong", "again"));
}

/** The contents of all files that an agent sees below a directory, by path. */
async function filesBelow(
  run: ReturnType<typeof begin>,
  id: string,
  directory: string,
): Promise<Record<string, string>> {
  const found: [string, string][] = [];
  await run.does(id, async (files) => {
    for (const path of (await files.walk(directory, 100)).paths)
      found.push([path, decoder.decode(await files.read(path))]);
  });
  return Object.fromEntries(found);
}

/** The code of the `FileError` that `work` throws; `none` if it throws nothing. */
const errorCode = async (work: () => unknown): Promise<string> => {
  try {
    await work();
    return "none";
  } catch (error) {
    if (error instanceof FileError) return error.code;
    throw error;
  }
};

describe("an agent after a rejected attempt", () => {
  it("reads the rejected result with its changes to contexts, also after a restart (D4)", async () => {
    const run = begin();
    run.session.asks();
    await playRejectedAttempt(run, 1);
    run.session.restart();
    expect(await filesBelow(run, "a", "/attempts")).toEqual({
      "/attempts/1/answer.txt": "answer 1",
      "/attempts/1/final1.txt": "final 1",
      "/attempts/1/contexts/site/app.js": "new 1",
      "/attempts/1/contexts/site/same.js": "y",
    });
    // The workspace itself is the same as at the start of the turn.
    expect(await filesBelow(run, "a", "/workspace")).toEqual({});
    expect(await filesBelow(run, "a", "/contexts")).toMatchObject({
      "/contexts/site/app.js": "old",
      "/contexts/site/gone.js": "x",
    });
  });

  it("does not see changes to a context that it has no access to (D4)", async () => {
    const run = begin();
    run.session.asks();
    await playRejectedAttempt(run, 1);
    expect(Object.keys(await filesBelow(run, "b", "/attempts"))).toEqual([
      "/attempts/1/answer.txt",
      "/attempts/1/final1.txt",
    ]);
  });

  it("sees only the result of the latest rejected attempt (D4)", async () => {
    const run = begin();
    run.session.asks();
    await playRejectedAttempt(run, 1);
    await playRejectedAttempt(run, 2);
    expect(await filesBelow(run, "a", "/attempts")).toMatchObject({
      "/attempts/2/final2.txt": "final 2",
      "/attempts/2/contexts/site/app.js": "new 2",
    });
    await run.does("a", async (files) => {
      expect(await errorCode(() => files.read("/attempts/1/final1.txt"))).toBe("unknown_place");
      expect(files.list("/attempts").map(({ name }) => name)).toEqual(["2"]);
    });
  });

  it("may copy the rejected files but not change them, and may have its own directory `attempts` (D4)", async () => {
    const run = begin();
    run.session.asks();
    await playRejectedAttempt(run, 1);
    await run.does("a", async (files) => {
      expect(await errorCode(() => files.write("/attempts/1/x", encoder.encode("x")))).toBe(
        "read_only",
      );
      expect(await errorCode(() => files.remove("/attempts/1/final1.txt"))).toBe("read_only");
      expect(await errorCode(() => files.move("/attempts/1/final1.txt", "x"))).toBe("read_only");
      expect(files.list("/").map(({ name }) => name)).toEqual([
        "attempts",
        "contexts",
        "peers",
        "workspace",
      ]);
      files.copy("/attempts/1/final1.txt", "mine.txt");
      // A relative path with this name is a directory of the workspace.
      await write("attempts/1/x", "x")(files);
    });
    expect(await filesBelow(run, "a", "/workspace")).toEqual({
      "/workspace/attempts/1/x": "x",
      "/workspace/mine.txt": "final 1",
    });
  });

  it("is the only one that sees `/attempts`: the path does not exist in the first attempt (D4)", async () => {
    const run = begin();
    run.session.asks();
    await run.does("a", async (files) => {
      expect(files.list("/").map(({ name }) => name)).toEqual(["contexts", "peers", "workspace"]);
      expect(await errorCode(() => files.read("/attempts/1/x"))).toBe("unknown_place");
    });
  });
});
