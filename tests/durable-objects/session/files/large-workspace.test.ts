import { beforeEach, describe, expect, it } from "vitest";
import { FILES } from "../../../../durable-objects/shared/object-limits";
import { FILE_TOOL_LIMITS } from "../../../../src/tools/files";
import type { AgentFiles } from "../../../../src/workspace/agent-files";
import { answers, tool, uses } from "../../../coordination/builders";
import { World } from "../../../coordination/world";
import { fileTool, readAsText, runTool } from "../../../tools/files/agent-tree";
import { FilesSession, Shelf } from "./files-session";
import { cpuMs } from "../../../fakes/cpu-time";

/** Workspaces with the maximum of 5,000 files, with real tables. */
const SETTINGS = { fileTools: true, shell: true, readBeforeDelete: true, contexts: [] };
/**
 * CPU time limit of one call. The slowest call, which writes all files, takes a third of a second.
 */
const CALL_LIMIT_MS = 2_000;

const pathOf = (nth: number) => `src/${nth % 50}/file-${String(nth).padStart(4, "0")}.txt`;
const textOf = (nth: number) =>
  `This is file ${nth}.\n${"It has a line like all others.\n".repeat(8)}`;
const write = (path: string, text: string) => (files: AgentFiles) =>
  files.write(path, new TextEncoder().encode(text));

let world: World;
let session: FilesSession;

/** Makes one tool call of the agent, which may not take long. Returns its error; `null` if none. */
async function callTool(
  id: string,
  work: (files: AgentFiles) => Promise<unknown>,
): Promise<unknown> {
  session.does(id, uses(["files"]));
  const startedAt = cpuMs();
  const problem = await session.tool(id, work);
  expect(cpuMs() - startedAt).toBeLessThan(CALL_LIMIT_MS);
  return problem;
}

/** Calls a file tool and returns the text of its result. */
async function runFileTool(id: string, name: string, args: object): Promise<string> {
  let text = "";
  const problem = await callTool(id, async (files) => {
    text = (await runTool(fileTool(name), args, files)).text;
  });
  expect(problem).toBe(null);
  return text;
}

async function writeAll(files: AgentFiles): Promise<void> {
  for (let nth = 0; nth < FILES.files; nth += 1) await write(pathOf(nth), textOf(nth))(files);
}

beforeEach(async () => {
  const every = { workspace: true, tools: [tool("files", { idempotent: true })] };
  world = new World({ agents: ["a", "b"], every });
  world.ask();
  session = new FilesSession(world, new Shelf(), SETTINGS);
  expect(await callTool("a", writeAll)).toBe(null);
});

describe(`a workspace of ${FILES.files} files`, () => {
  it("refuses more files, and no file is lost by the refusal", async () => {
    expect(await callTool("a", write("one-more.txt", "1"))).toMatchObject({
      code: "too_many_files",
    });
    expect(await callTool("a", write(pathOf(7), "changed"))).toBe(null);
    expect(await callTool("a", async (files) => files.remove(pathOf(8)))).toBe(null);
    expect(await callTool("a", write("one-more.txt", "1"))).toBe(null);
    let paths: string[] = [];
    await callTool("a", async (files) => {
      ({ paths } = await files.walk("/workspace", 2 * FILES.files));
      expect(await readAsText(files, pathOf(7))).toBe("changed");
    });
    expect([paths.length, paths.includes(`/workspace/${pathOf(8)}`)]).toEqual([FILES.files, false]);
  });

  it("has a limited number of directories, also if the files in them are deleted again", async () => {
    const createAndDelete = async (files: AgentFiles) => {
      files.remove(pathOf(8));
      for (let nth = 0; nth < FILES.files; nth += 1) {
        const path = `${nth}/${"deep/".repeat(38)}x`;
        await write(path, "1")(files);
        files.remove(path);
      }
    };
    expect(await callTool("a", createAndDelete)).toMatchObject({ code: "too_many_files" });
  });

  it("is listed up to the limit of a tool result, with a note that there is more", async () => {
    const all = await runFileTool("a", "list_directory", { recursive: true });
    expect(all.split("\n").length).toBeLessThanOrEqual(FILE_TOOL_LIMITS.entries + 1);
    expect(all.length).toBeLessThan(FILE_TOOL_LIMITS.resultBytes + 200);
    expect(all).toContain("[There is more.");
    expect((await runFileTool("a", "list_directory", { path: "src/49" })).split("\n")).toHaveLength(
      FILES.files / 50,
    );
  });

  it("is searched to its last file", async () => {
    expect(
      await runFileTool("a", "grep", { pattern: `^This is file ${FILES.files - 1}\\.$` }),
    ).toContain(pathOf(FILES.files - 1));
    const everywhere = await runFileTool("a", "grep", { pattern: "a line like" });
    expect(everywhere).toContain(`only until ${FILE_TOOL_LIMITS.entries} lines matched`);
    expect(everywhere.length).toBeLessThan(FILE_TOOL_LIMITS.resultBytes + 200);
  });

  it("is frozen with an answer, and another agent can read it after a restart", async () => {
    session.does("a", answers("All is in the files."));
    session.does("b", answers("I have none."));
    session.restart();
    const { tree } = session.workspaces.frozen(1, {
      attempt: 1,
      label: "agent1.1",
      snapshot: "agent1.1",
    });
    expect(tree).toHaveLength(FILES.files);
    const path = `/peers/${world.alias("a")}/${pathOf(4_321)}`;
    expect(await runFileTool("b", "read_file", { path })).toContain("This is file 4321.");
  });
});
