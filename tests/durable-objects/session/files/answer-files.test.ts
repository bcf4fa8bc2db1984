import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentFiles } from "../../../../src/workspace/agent-files";
import { answers, says, tool, uses, votes } from "../../../coordination/builders";
import { World } from "../../../coordination/world";
import { FilesSession, Shelf } from "./files-session";

/** Which files belong to each answer of an attempt, with real tables. */

const SETTINGS = { fileTools: true, shell: true, readBeforeDelete: false, contexts: [] };
const PATHS = ["a", "b", "deep/c"] as const;
const encoder = new TextEncoder();

type Step =
  | { does: "write"; path: string; text: string }
  | { does: "delete" | "vanish" | "read"; path: string }
  | { does: "keep"; text: string }
  | { does: "restart" }
  | { does: "vote" };

const path = fc.constantFrom(...PATHS);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ does: fc.constant("write" as const), path, text: fc.constantFrom("1", "2") }),
  fc.record({ does: fc.constantFrom("delete", "vanish", "read"), path }),
  fc.record({ does: fc.constant("keep" as const), text: fc.constantFrom("1", "2") }),
  fc.record({ does: fc.constantFrom("restart", "vote") }),
) as fc.Arbitrary<Step>;
/** The steps of each round before its answer. */
const rounds = fc.array(fc.array(step, { maxLength: 4 }), { minLength: 1, maxLength: 4 });
/** The files at the start of the turn, which an earlier turn has written. */
const earlier = fc.dictionary(path, fc.constantFrom("1", "2"), { maxKeys: 3 });

/** Performs steps with an agent's files, and computes the expected files independently. */
class Round {
  readonly files: Map<string, string>;
  readonly touched = new Set<string>();

  constructor(base: ReadonlyMap<string, string>) {
    this.files = new Map(base);
  }

  async do(step: Step, agent: AgentFiles): Promise<void> {
    switch (step.does) {
      case "write":
        await agent.write(step.path, encoder.encode(step.text));
        this.files.set(step.path, step.text);
        this.touched.add(step.path);
        return;
      case "delete":
        if (!this.files.delete(step.path)) return;
        agent.remove(step.path);
        this.touched.add(step.path);
        return;
      case "vanish":
        await agent.write(`${step.path}.tmp`, encoder.encode("x"));
        agent.remove(`${step.path}.tmp`);
        this.touched.add(`${step.path}.tmp`);
        return;
      case "read":
        if (this.files.has(step.path)) await agent.read(step.path);
        return;
      case "keep":
        await agent.write(`.tool_results/${step.text}.txt`, encoder.encode(step.text));
        return;
      default:
        return;
    }
  }
}

const RULES = { max_new_answers_per_agent: 10, fairness_lead_cap_answers: null };

function begin(): {
  world: World;
  session: FilesSession;
  does: (id: string, work: (files: AgentFiles) => Promise<void>) => Promise<void>;
} {
  const every = { workspace: true, tools: [tool("files", { idempotent: true })] };
  const world = new World({ agents: ["a", "b"], every, rules: RULES });
  const session = new FilesSession(world, new Shelf(), SETTINGS);
  const does = async (id: string, work: (files: AgentFiles) => Promise<void>) => {
    session.does(id, uses(["files"]));
    expect(await session.tool(id, work)).toBeNull();
  };
  return { world, session, does };
}

/** The contents of an answer's files, by path. */
async function filesOf(
  session: FilesSession,
  turn: number,
  label: string,
  snapshot: string | null,
): Promise<Map<string, string>> {
  const { tree } = session.workspaces.frozen(turn, { attempt: 1, label, snapshot });
  const texts = await Promise.all(
    tree.map(async ({ path: file, hash }): Promise<[string, string]> => {
      const contents = await session.workspaces.contents(hash);
      return [file, contents.ok ? new TextDecoder().decode(contents.bytes) : "gone"];
    }),
  );
  return new Map(texts);
}

const sorted = (files: ReadonlyMap<string, string>) => Object.fromEntries([...files].sort());

describe("an answer of an attempt", () => {
  it("has the files of its author's workspace, or of the previous answer if its round changed no file (D1)", async () => {
    await fc.assert(
      fc.asyncProperty(earlier, rounds, async (earlierFiles, roundSteps) => {
        const { world, session, does } = begin();
        session.asks();
        await does("a", async (files) => {
          for (const [file, text] of Object.entries(earlierFiles))
            await files.write(file, encoder.encode(text));
        });
        session.does("a", answers("First."));
        session.does("b", answers("Other."));
        session.does("a", votes("a"));
        session.does("b", votes("a"));
        session.does("a", says("Done."));
        expect(world.ending).toMatchObject({ type: "turn.completed" });
        const base = new Map(Object.entries(earlierFiles));
        session.asks();
        session.does("b", answers("Other."));
        let before: ReadonlyMap<string, string> | null = null;
        for (const [nth, steps] of roundSteps.entries()) {
          const round = new Round(base);
          for (const step of steps) {
            if (step.does === "restart") session.restart();
            else if (step.does === "vote" && nth > 0) await voteAndReopen(world, session);
            else await does("a", (files) => round.do(step, files));
          }
          session.does("a", answers(`Idea ${nth}`));
          const event = world.events("answer.submitted").at(-1);
          const changed = round.touched.size > 0;
          const expected: ReadonlyMap<string, string> = changed ? round.files : (before ?? base);
          expect(
            sorted(await filesOf(session, 2, event?.label ?? "", event?.snapshot ?? null)),
          ).toEqual(sorted(expected));
          expect(event?.files).toBe(
            !changed ? "kept" : expected.size === 0 ? "workspace_cleared" : "workspace",
          );
          const missing = changed
            ? [...(before?.keys() ?? [])].filter(
                (file) => !expected.has(file) && !round.touched.has(file),
              )
            : [];
          expect(event?.left_out?.paths ?? []).toEqual(missing.sort());
          before = expected;
        }
      }),
      { numRuns: 60 },
    );
  });

  it("includes changes that its round made before a vote that became invalid (D1)", async () => {
    const { world, session, does } = begin();
    session.asks();
    session.does("a", answers("A"));
    session.does("b", answers("B"));
    await does("a", (files) => files.write("a", encoder.encode("1")));
    await voteAndReopen(world, session);
    session.restart();
    session.does("a", answers("A2"));
    expect(world.events("answer.submitted").at(-1)).toMatchObject({
      label: "agent1.2",
      snapshot: "agent1.2",
      files: "workspace",
    });
    expect(sorted(await filesOf(session, 1, "agent1.2", "agent1.2"))).toEqual({ a: "1" });
  });

  it("is the source of a final text's files if the presenter changed no file (D1)", async () => {
    const { world, session, does } = begin();
    session.asks();
    await does("a", (files) => files.write("a", encoder.encode("1")));
    session.does("a", answers("A"));
    session.does("b", answers("B"));
    session.does("a", votes("a"));
    session.does("b", votes("a"));
    session.does("a", says("Done."));
    expect(world.events("presentation.completed")).toMatchObject([
      { snapshot: "agent1.1", files: "kept" },
    ]);
    expect(session.workspaces.frozen(1, null).tree).toMatchObject([{ path: "a" }]);
  });
});

/** `a` votes, and a new answer of `b` makes the vote invalid: the round of `a` continues. */
async function voteAndReopen(world: World, session: FilesSession): Promise<void> {
  const round = world.agent("a").rounds;
  session.does("a", votes("b"));
  session.does("b", answers(`Other ${world.log.length}`));
  expect(world.agent("a").rounds).toBe(round);
}
