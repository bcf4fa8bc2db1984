import { describe, expect, it } from "vitest";
import { hashOf } from "../../../../src/workspace/snapshot";
import type { ContextUpload } from "../../../../src/protocol/api/contexts";
import type { WireEvent } from "../../../../src/protocol/events";
import { follow, post, request, type Run, start, teamOf } from "../session-client";

/**
 * Whole runs in which agents read the files of earlier turns and of a rejected attempt. The models
 * do what the question says.
 */

/** A single agent with files, a shell and one context. */
function teamWith(model: string, orchestrator: object = {}): Record<string, unknown> {
  const team = teamOf([model]);
  const agents = (team["agents"] as { backend: object }[]).map((agent) => ({
    ...agent,
    backend: { ...agent.backend, enable_mcp_command_line: true },
  }));
  return { ...team, agents, orchestrator };
}

const steps = (kind: "first" | "again", ...calls: [tool: string, args: object][]): string =>
  calls.map(([tool, args]) => `${kind} ${tool} ${JSON.stringify(args)}`).join("\n");
const write = (path: string, content: string): [string, object] => [
  "write_file",
  { path, content },
];

/** Uploads a version. */
async function push(name: string, contents: Record<string, string>): Promise<void> {
  const hash = (text: string) => hashOf(new TextEncoder().encode(text));
  const files = await Promise.all(
    Object.entries(contents).map(async ([path, text]) => ({
      path,
      sha256: await hash(text),
      size: text.length,
    })),
  );
  const put = async (path: string, type: string, body: string) => {
    const response = await request(path, {
      method: "PUT",
      headers: { "content-type": type },
      body,
    });
    expect(response.status).toBeLessThan(300);
    return response.json<ContextUpload>();
  };
  const context = `/api/contexts/${name}`;
  const commit = () => put(context, "application/json", JSON.stringify({ files }));
  const upload = await commit();
  for (const text of Object.values(contents)) {
    if (!upload.missing.includes(await hash(text))) continue;
    const blob = `${context}/blobs/${await hash(text)}?version=${upload.version}`;
    await put(blob, "application/octet-stream", text);
  }
  await commit();
}

/** Starts a further turn, and returns its events. */
async function continues({ session_id }: Run, body: object): Promise<WireEvent[]> {
  const response = await post(`/api/sessions/${session_id}/turns`, body);
  expect(response.status).toBe(202);
  return (await follow(await response.json<Run>())).events;
}

const finalText = (events: readonly WireEvent[]): string =>
  events.findLast((event) => event.type === "presentation.completed")?.content ?? "";
const accessesIn = (events: readonly WireEvent[], place: string): string[] =>
  events.flatMap((event) =>
    event.type === "files.accessed"
      ? event.accesses
          .filter(({ path }) => path.startsWith(place))
          .map(({ operation, path, refused }) => `${operation} ${path} ${refused ?? "done"}`)
      : [],
  );

describe("in turn 3, an agent", () => {
  it("reads turn 1, compares it with its workspace, and sees what the user changed", async () => {
    await push("site-of-turns", { "index.html": "one\n", "style.css": "plain\n" });
    const grants = [{ path: "site-of-turns", permission: "write" }];
    const site = "/contexts/site-of-turns";
    const run = await start(teamWith("obedient", { context_paths: grants }), {
      question: steps("first", write("a.txt", "one\n"), write(`${site}/index.html`, "team\n")),
    });
    expect(finalText((await follow(run)).events)).toContain("nothing about earlier files");
    const second = await continues(run, { question: steps("first", write("a.txt", "two\n")) });
    expect(finalText(second)).toMatch(
      /^`\/workspace` begins with a writable copy .*`\/turns\/turn_1` holds, read-only.*`contexts\/NAME`/m,
    );
    expect(finalText(second)).toContain("I wrote /turns/turn_1/a.txt.");

    await push("site-of-turns", { "index.html": "one\n", "style.css": "fancy\n" });
    const third = await continues(run, {
      question: steps(
        "first",
        ["read_file", { path: "/turns/turn_1/a.txt" }],
        ["compare_files", { first: "/turns/turn_1/a.txt", second: "/workspace/a.txt" }],
        ["run_command", { command: "diff /turns/turn_2/a.txt a.txt ; ls /turns /" }],
        ["compare_directories", { first: "/turns/turn_2/contexts/site-of-turns", second: site }],
        ["grep", { pattern: "plain|team", path: "/turns" }],
        write("/turns/turn_1/a.txt", "mine"),
      ),
    });
    const report = finalText(third);
    expect(report).toContain("and so on up to `/turns/turn_2`");
    expect(report).toContain("I wrote /turns/turn_1/a.txt.\nI wrote /turns/turn_2/a.txt.\n");
    expect(report).toContain("--- /turns/turn_1/a.txt\n+++ /workspace/a.txt");
    expect(report).toContain("-one\n+two");
    expect(report).toContain("/turns:\nturn_1\nturn_2\n\n/:\ncontexts\npeers\ntmp\nworkspace");
    expect(report).toContain("Different (1):\n  style.css\nThe same: 1");
    expect(report).toContain("/turns/turn_2/contexts/site-of-turns/index.html:1:team");
    expect(report).toContain("/turns/turn_1/contexts/site-of-turns/style.css:1:plain");
    expect(report).toContain("is from an earlier turn and cannot be changed");
    expect(accessesIn(third, "/turns/turn_1/a.txt")).toEqual([
      "read /turns/turn_1/a.txt done",
      "read /turns/turn_1/a.txt done",
      "read /turns/turn_1/a.txt done",
      "write /turns/turn_1/a.txt read_only",
    ]);
  });

  it("reads the files of its branch only", async () => {
    const run = await start(teamWith("obedient"), {
      question: steps("first", write("a.txt", "one\n")),
    });
    await follow(run);
    await continues(run, { question: steps("first", write("a.txt", "two\n")) });
    const branch = await continues(run, {
      question: steps(
        "first",
        ["read_file", { path: "/workspace/a.txt" }],
        ["list_directory", { path: "/turns" }],
        ["read_file", { path: "/turns/turn_2/a.txt" }],
      ),
      parent_turn: 1,
    });
    expect(finalText(branch)).toContain("one\nturn_1/\n");
    expect(finalText(branch)).toContain(
      "/turns/turn_2/a.txt is not one of the places you see. There are /turns/turn_1.",
    );
  });
});

describe("in a second attempt, an agent", () => {
  it("reads the rejected result", async () => {
    const run = await start(
      teamWith("scrupulous", { coordination: { max_orchestration_restarts: 1 } }),
      {
        question: `${steps("first", write("a.txt", "rejected\n"))}\n${steps(
          "again",
          ["read_file", { path: "/attempts/1/a.txt" }],
          ["list_directory", {}],
          ["run_command", { command: "cp /attempts/1/a.txt a.txt && cat a.txt" }],
        )}`,
      },
    );
    const { events } = await follow(run);
    expect(events.filter(({ type }) => type === "attempt.restarted")).toHaveLength(1);
    expect(finalText(events)).toContain("rejected\n[/workspace is empty.]\nrejected");
    expect(accessesIn(events, "/attempts/")).toContain("read /attempts/1/a.txt done");
  });
});
