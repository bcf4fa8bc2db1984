import { describe, expect, it } from "vitest";
import type { WireEvent } from "../../src/protocol/events";
import { follow, request, start, teamOf } from "./session-client";

/** Agents that work on files, in whole runs: what they write is theirs, is frozen with their answers, and is the turn's result. */

const ofType = <T extends WireEvent["type"]>(events: readonly WireEvent[], type: T) =>
  events.filter((event): event is Extract<WireEvent, { type: T }> => event.type === type);

/** A team whose agents have workspaces. */
function withFiles(models: readonly string[]): Record<string, unknown> {
  const team = teamOf(models);
  const agents = (team["agents"] as { backend: object }[]).map((agent) => ({
    ...agent,
    backend: { ...agent.backend, cwd: "work", enable_mcp_command_line: true },
  }));
  return { ...team, agents, orchestrator: { snapshot_storage: "s", agent_temporary_workspace: "t" } };
}

const trail = (events: readonly WireEvent[], agent: string) =>
  ofType(events, "files.accessed")
    .filter((event) => event.agent === agent)
    .flatMap(({ accesses }) =>
      accesses.map(({ operation, path, refused }) => `${operation} ${path}${refused ? ` ${refused}` : ""}`),
    );

const outcomes = (events: readonly WireEvent[]) =>
  ofType(events, "tool.completed").map(({ agent, name, outcome }) => `${agent} ${name} ${outcome}`);

describe("agents with workspaces", () => {
  it("write, look at each other's files, and hand over the winner's", async () => {
    const run = await start(withFiles(["builder", "critic"]));
    const { events } = await follow(run);
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
    expect(outcomes(events)).toContain("a0 write_file ok");
    expect(outcomes(events).filter((outcome) => !outcome.endsWith("ok"))).toEqual([]);
    expect(trail(events, "a0")).toContain("write /workspace/src/sum.sh");
    expect(trail(events, "a1").some((line) => /^read \/peers\/agent[12]\/src\/sum\.sh$/.test(line))).toBe(true);
    const [answer] = ofType(events, "answer.submitted").filter(({ agent }) => agent === "a0");
    expect(answer?.snapshot).toBe(answer?.label);
    const files = await request(`/api/sessions/${run.session_id}/turns/1/files`);
    expect(await files.json()).toMatchObject({ data: [{ path: "NOTES.md" }, { path: "src/sum.sh" }] });
    const file = await request(`/api/sessions/${run.session_id}/turns/1/files/src/sum.sh`);
    expect(await file.text()).toBe("echo $((6 * 7))\n");
    expect(file.headers.get("content-disposition")).toContain("attachment");
    expect(file.headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("F8 reach neither another agent's workspace nor anything else, and every try is on record", async () => {
    const { events } = await follow(await start(withFiles(["burglar", "critic"])));
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
    const refused = ofType(events, "files.accessed").flatMap(({ accesses }) =>
      accesses.filter(({ refused }) => refused !== null),
    );
    expect(refused.length).toBeGreaterThanOrEqual(4);
  });

  it("begin the next turn with the files of the last", async () => {
    const first = await start(withFiles(["builder", "critic"]));
    await follow(first);
    const response = await request(`/api/sessions/${first.session_id}/turns`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ question: "And seven times eight?" }),
    });
    expect(response.status).toBe(202);
    const { events } = await follow({ session_id: first.session_id, turn: 2 });
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
    const files = await request(`/api/sessions/${first.session_id}/turns/2/files`);
    expect(await files.json()).toMatchObject({ data: [{ path: "NOTES.md" }, { path: "src/sum.sh" }] });
  });
});
