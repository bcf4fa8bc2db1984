import { AgentTools } from "../../durable-objects/agent-tools";
import type { Performer } from "../../durable-objects/effect-runner";
import { Engine } from "../../durable-objects/engine";
import { createTables } from "../../durable-objects/schema";
import { sessionWorkspaces } from "../../durable-objects/session-files";
import { SessionLog } from "../../durable-objects/session-log";
import type { Bucket } from "../../r2-layout/bucket";
import type { Team } from "../../src/config/team";
import type { ModelCallEffect } from "../../src/coordination";
import { isTerminal, type WireEvent } from "../../src/protocol/events";
import type { ReplyItem } from "../../src/providers/provider";
import { fileTools } from "../../src/tools/files";
import type { Tool } from "../../src/tools/tool";
import { noContexts } from "../builders/no-contexts";
import { FULL_CONTEXT, teamOf } from "../config/teams";
import { used } from "../coordination/builders";
import { Disk } from "../simulation/engine/disk";

/** No file of these tests is too large for a row; their upload, which nobody waits for, comes to nothing. */
const NO_BUCKET = { put: async () => null, delete: async () => {} } as unknown as Bucket;
const NO_MISHAPS = { beforeCommit: () => {}, afterCommit: () => {}, durable: () => {}, lagMs: () => 0 };

export type ToolCall = { name: string; args?: Record<string, unknown> };

/**
 * One agent with files whose first reply makes these calls, and whose second is its answer. Engine, runner and tools are the
 * service's own, over real tables; only the model is not there.
 */
export function workingAgent(more: readonly Tool[], calls: readonly ToolCall[]) {
  const disk = new Disk({ mishaps: NO_MISHAPS, schedule: (_, run) => void setTimeout(run, 0), toWorld: (at) => at });
  const faults: unknown[] = [];
  const ctx = disk.state(
    (work) => void work.catch((error: unknown) => faults.push(error)),
    () => {},
  );
  createTables(ctx.storage.sql);
  const log = new SessionLog(ctx.storage.sql);
  const tools = [...fileTools(), ...more];
  const team = teamWith(tools);
  const place = { tenant: "t", session: "s" };
  const workspaces = sessionWorkspaces({
    storage: ctx.storage,
    log,
    bucket: NO_BUCKET,
    place,
    team,
    contexts: noContexts.reader,
  });
  const engine = new Engine({
    ...{ ctx, log, workspaces, team, sessionId: "s", boot: 1, maxReaders: 1, nonce: () => "n0nce" },
    performer: (made) => performer(made, { tools, calls, faults }),
    settle: async () => {},
  });
  const events = (): WireEvent[] => disk.read<Row>("SELECT type, body FROM events ORDER BY seq").map(toEvent);
  return {
    faults,
    events,
    ask: () =>
      void engine.handle({
        ...{ type: "turn_requested", rules: team.rules, question: "What is there?", parentTurn: null, budget: {} },
        timeoutMs: null,
      }),
    /** How each call that has ended did, in the order of their ends. */
    ended: () => events().flatMap((event) => (event.type === "tool.completed" ? [`${event.name} ${event.outcome}`] : [])),
    isOver: () => events().some(({ type }) => isTerminal(type)),
    close: () => disk.close(),
  };
}

type Row = { type: string; body: string };
const toEvent = ({ type, body }: Row): WireEvent => ({ ...JSON.parse(body), type });

function teamWith(tools: readonly Tool[]): Team {
  const team = teamOf("agent: {id: a, backend: {type: claude, cwd: work}}", FULL_CONTEXT);
  const agents = team.rules.agents.map((agent) => ({ ...agent, tools: tools.map(({ rule }) => rule) }));
  return { ...team, rules: { ...team.rules, agents } };
}

type Work = { tools: readonly Tool[]; calls: readonly ToolCall[]; faults: unknown[] };

function performer(engine: Engine, { tools, calls, faults }: Work): Performer {
  const working = new AgentTools({ engine, toolsOf: () => tools, fetch, calibrationOf: () => 1 });
  let nth = 0;
  return {
    admitCall: () => null,
    dropCall: () => {},
    prepareCall: (effect) => {
      engine.handle({ type: "call_ready", effect: effect.id, inputTokens: 1_000 });
      nth += 1;
      const made = nth === 1 ? calls : [];
      return { send: async () => () => replied(engine, effect, made) };
    },
    resumeCall: () => null,
    performTool: (...given) => working.perform(...given),
    listTools: async () => {},
    onFault: (error) => {
      faults.push(error);
      engine.fault(error);
    },
  };
}

/** The model has replied: with calls of tools, or else with its answer. */
function replied(engine: Engine, effect: ModelCallEffect, calls: readonly ToolCall[]): void {
  const items: ReplyItem[] = calls.map(({ name, args = {} }, nth) => ({
    ...{ type: "tool_call", id: `t${nth}`, name, arguments: JSON.stringify(args) },
  }));
  const text = calls.length === 0 ? "That is all there is." : "";
  const reply = {
    ...{ stopReason: calls.length === 0 ? ("stop" as const) : ("tool_calls" as const), usage: used(100, 10), text },
    tools: calls.map(({ name }, nth) => ({ toolCall: `t${nth}`, name })),
    ...{ decisions: [], verdict: null, personas: null, workspaceFiles: 0 },
  };
  const all: ReplyItem[] = text === "" ? items : [{ type: "text", text }];
  engine.handle({ type: "call_replied", effect: effect.id, reply }, { reply: { agent: effect.agent, items: all } });
}
