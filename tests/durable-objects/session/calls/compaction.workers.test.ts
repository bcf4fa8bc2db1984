import { env, runInDurableObject } from "cloudflare:test";
import { describe, expect, inject, it } from "vitest";
import type { EventOf, EventType, WireEvent } from "../../../../src/protocol/events";
import { LOCAL_TENANT, sessionName } from "../../../../src/tenancy/principal";
import { check } from "../../../../checker";
import { image, PNG, text } from "../../../api/sessions/attachments";
import { eventsPath, follow, request, type Run, start } from "../session-client";

/**
 * Conversations that are too long for their model's context window, in whole runs. The model names
 * select behaviours of the simulated provider.
 */

const team = (models: readonly string[]) => ({
  agents: models.map((model, index) => ({
    id: `a${index}`,
    backend: {
      type: "chatcompletion",
      model,
      base_url: inject("providersUrl"),
      api_key: "caller-key",
      cwd: "work",
    },
  })),
  orchestrator: { snapshot_storage: "s", agent_temporary_workspace: "t" },
});

const ofType = <T extends EventType>(events: readonly WireEvent[], type: T) =>
  events.filter((event): event is WireEvent & EventOf<T> => event.type === type);

/** What an agent's calls did, in order. */
const stepsOf = (events: readonly WireEvent[], agent: string): string[] =>
  events.flatMap((event) => {
    if (!("agent" in event) || event.agent !== agent) return [];
    if (event.type === "call.started") return [event.compacts ? "sums up" : "works"];
    if (event.type === "call.failed") return [event.code];
    if (event.type === "conversation.compacted") return [`without ${event.replies} replies`];
    return event.type === "answer.submitted" || event.type === "round.failed" ? [event.type] : [];
  });

const stubOf = ({ session_id }: Run) =>
  env.SESSIONS.get(env.SESSIONS.idFromName(sessionName(null, LOCAL_TENANT, session_id)));

async function untilLogged(run: Run, isExpected: (event: WireEvent) => boolean): Promise<void> {
  for (;;) {
    const response = await request(`${eventsPath(run)}?limit=500`, {
      headers: { accept: "application/json" },
    });
    const page: { data: WireEvent[] } = await response.json();
    if (page.data.some(isExpected)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The first violations of the protocol that the checker finds in the session's log. */
async function violationsOf({ session_id }: Run) {
  const log: WireEvent[] = [];
  for (let more = true; more; ) {
    const after = log.at(-1)?.sequence_number ?? 0;
    const path = `/api/sessions/${session_id}/events?limit=1000&after=${after}`;
    const page: { data: WireEvent[]; has_more: boolean } = await (
      await request(path, { headers: { accept: "application/json" } })
    ).json();
    log.push(...page.data);
    more = page.has_more;
  }
  return check(log).slice(0, 5);
}

/** Aborts the session's object, which then starts again from its storage. */
const kill = (run: Run) =>
  runInDurableObject(stubOf(run), (_, state) => state.abort("killed")).catch(() => undefined);

describe("a conversation that its model rejects as too long", () => {
  it("continues with a summary of its older part, and the run completes", async () => {
    const run = await start(team(["lengthy", "quick"]));
    const { events } = await follow(run);
    const steps = stepsOf(events, "a0");
    const at = steps.indexOf("context_too_long");
    expect(steps.slice(at, at + 4)).toEqual([
      "context_too_long",
      "sums up",
      expect.stringMatching(/^without [1-9]\d* replies$/),
      "works",
    ]);
    expect(steps).toContain("answer.submitted");
    expect(steps).not.toContain("round.failed");
    expect(await violationsOf(run)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
  });

  it("continues with the question's attachments, but the summary call does not get them", async () => {
    const question = [text("What is six times seven?"), image(PNG, "photo.png")];
    const { events } = await follow(await start(team(["lengthy", "quick"]), { question }));
    const steps = stepsOf(events, "a0");
    expect(steps.slice(steps.indexOf("sums up")).slice(0, 3)).toEqual([
      "sums up",
      expect.stringMatching(/^without [1-9]\d* replies$/),
      "works",
    ]);
    const plain = await follow(await start(team(["lengthy", "quick"])));
    const reserved = (log: readonly WireEvent[], sums: boolean) =>
      ofType(log, "call.started").find(
        ({ agent, compacts = false }) => agent === "a0" && compacts === sums,
      )?.reserved.tokens ?? 0;
    expect(reserved(events, false) - reserved(plain.events, false)).toBeGreaterThan(16_384);
    expect(Math.abs(reserved(events, true) - reserved(plain.events, true))).toBeLessThan(2_000);
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
  });

  it("logs what was dropped and the usage of the summary call, whose text is not streamed", async () => {
    const { events } = await follow(await start(team(["lengthy", "quick"])));
    const [compacted] = ofType(events, "conversation.compacted");
    expect(compacted?.tool_results).toBe(compacted?.tool_calls);
    expect(compacted?.tokens).toBeGreaterThan(1_000);
    const summary = ofType(events, "call.completed").find(({ call }) => call === compacted?.call);
    expect(summary?.usage.input_tokens).toBeGreaterThan(500);
    const shown = ofType(events, "stream.delta").flatMap(({ items }) =>
      items.filter(({ call }) => call === compacted?.call),
    );
    expect(shown).toEqual([]);
  });

  it("keeps the beginning of a reply that was cut off because the conversation was too long", async () => {
    const run = await start(team(["gushing", "quick"]));
    const { events } = await follow(run);
    expect(stepsOf(events, "a0")).toContain("sums up");
    const answer = ofType(events, "answer.submitted").find(({ agent }) => agent === "a0");
    expect(await violationsOf(run)).toEqual([]);
    expect(answer?.content).toBe("It is 42. Six rows of seven, counted one by one");
  });

  it("fails with a reason if it is still too long after the summary", async () => {
    const { events } = await follow(await start(team(["overlong", "quick"])));
    const failed = ofType(events, "round.failed").filter(({ agent }) => agent === "a0");
    expect(failed[0]).toMatchObject({
      code: "context_too_long",
      message: expect.stringContaining("too long for the model"),
    });
    expect(ofType(events, "agent.failed").map(({ agent }) => agent)).toEqual(["a0"]);
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
  });
});

it("a conversation that leaves too little of the context window is summarized before its next call", async () => {
  const { events } = await follow(await start(team(["brimming", "quick"])));
  const steps = stepsOf(events, "a0");
  const at = steps.indexOf("sums up");
  expect(steps.slice(at, at + 3)).toEqual([
    "sums up",
    expect.stringMatching(/^without [1-9]\d* replies$/),
    "works",
  ]);
  expect(ofType(events, "call.failed")).toEqual([]);
  expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
});

describe("a restart", () => {
  it("during the summary call repeats that call, and the conversation continues from the summary", async () => {
    const run = await start(team(["pensive", "quick"]));
    await untilLogged(run, (event) => event.type === "call.started" && event.compacts === true);
    await kill(run);
    const { events } = await follow(run);
    expect(await violationsOf(run)).toEqual([]);
    const steps = stepsOf(events, "a0");
    const at = steps.indexOf("context_too_long");
    expect(steps.slice(at, at + 6)).toEqual([
      "context_too_long",
      "sums up",
      "interrupted",
      "sums up",
      expect.stringMatching(/^without [1-9]\d* replies$/),
      "works",
    ]);
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
  });

  it("after the summary call does not repeat that call", async () => {
    const run = await start(team(["pensive", "quick"]));
    await untilLogged(run, ({ type }) => type === "conversation.compacted");
    await kill(run);
    const { events } = await follow(run);
    expect(stepsOf(events, "a0").filter((line) => line === "context_too_long").length).toBe(
      ofType(events, "conversation.compacted").length,
    );
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
  });
});
