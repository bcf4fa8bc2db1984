import { AgentTools } from "../../../../durable-objects/session/tools/agent-tools";
import type { Containers } from "../../../../durable-objects/session/tools/containers";
import type { Performer } from "../../../../durable-objects/session/calls/effect-runner";
import { Engine } from "../../../../durable-objects/session/engine";
import { createTables } from "../../../../durable-objects/session/session-tables";
import { sessionWorkspaces } from "../../../../durable-objects/session/files/session-files";
import { SessionLog } from "../../../../durable-objects/session/log/session-log";
import type { Bucket } from "../../../../r2-layout/bucket";
import type { Team } from "../../../../src/config/team";
import type { ModelCallEffect } from "../../../../src/coordination";
import { isTerminal, type WireEvent } from "../../../../src/protocol/events";
import type { ReplyItem } from "../../../../src/providers/provider";
import { fileTools } from "../../../../src/tools/files";
import type { Tool } from "../../../../src/tools/tool";
import { noContexts } from "../../../builders/no-contexts";
import { FULL_CONTEXT, teamOf } from "../../../config/teams";
import { used } from "../../../coordination/builders";
import { Disk, Gone } from "../../../../simulated/disk";

/** No file of these tests is too large for a row; their upload, which nobody waits for, comes to nothing. */
const NO_BUCKET = { put: async () => null, delete: async () => {} } as unknown as Bucket;
const NO_MISHAPS = {
  beforeCommit: () => {},
  afterCommit: () => {},
  durable: () => {},
  lagMs: () => 0,
};

/** What an agent works with instead of file tools and what a test adds; made anew with each life of the session. */
type Own = {
  team: Team;
  containers: () => Containers;
  tools: (containers: Containers) => readonly Tool[];
};

export type ToolCall = { name: string; args?: Record<string, unknown> };

/**
 * `tokens`: how large a result may be to stay in the conversation; `calibration`: what its provider counts of our estimates;
 * `settle`: what becomes of the word that the turn has ended, absent: the tenant hears it.
 */
type Around = { tokens?: number; calibration?: number; settle?: () => Promise<void> };

/** The calls of the first reply, or of each, by its number from 1; a reply without any is the answer. */
type Calls = readonly ToolCall[] | ((reply: number) => readonly ToolCall[]);

/**
 * One agent with files whose replies make these calls, until one is its answer. Engine, runner and tools are the
 * service's own, over real tables; only the model is not there.
 */
export function workingAgent(more: readonly Tool[], calls: Calls, own?: Own, room: Around = {}) {
  const disk = new Disk({
    mishaps: NO_MISHAPS,
    schedule: (_, run) => void setTimeout(run, 0),
    toWorld: (at) => at,
  });
  const faults: unknown[] = [];
  const replies = { given: 0 };
  const team = own?.team ?? teamWith([...fileTools(), ...more], room);
  const begin = (boot: number): Engine => {
    const ctx = disk.state(
      (work) => void work.catch((error: unknown) => faults.push(error)),
      () => {},
    );
    createTables(ctx.storage.sql);
    const { storage } = ctx;
    const log = new SessionLog(storage.sql);
    const place = { tenant: "t", session: "s" };
    const workspaces = sessionWorkspaces({
      storage,
      log,
      bucket: NO_BUCKET,
      place,
      team,
      contexts: noContexts,
    });
    const containers = own?.containers();
    const tools = own && containers ? own.tools(containers) : [...fileTools(), ...more];
    return new Engine({
      ...{ ctx, log, workspaces, team, sessionId: "s", boot, maxReaders: 1, nonce: () => "n0nce" },
      performer: (made) => performer(made, { tools, calls, faults, replies, room }),
      ...(containers && { containers }),
      settle: room.settle ?? (async () => {}),
    });
  };
  let engine = begin(1);
  const events = (): WireEvent[] =>
    disk.read<Row>("SELECT type, body FROM events ORDER BY seq").map(toEvent);
  return {
    faults,
    events,
    engine: () => engine,
    alarmAt: () => disk.alarmAt,
    /** What the alarm does, to which it rings whether or not it stands. */
    ring: () => {
      disk.takeAlarm();
      return engine.wake();
    },
    /** The platform forgets it. */
    loseAlarm: () => disk.takeAlarm(),
    /** What is on disk is all that is left, and a new life begins. */
    restart: async () => {
      await disk.whenDurable();
      disk.crash();
      disk.revive();
      engine = begin(2);
      engine.boot();
    },
    ask: () =>
      void engine.handle({
        ...{
          type: "turn_requested",
          rules: team.rules,
          question: "What is there?",
          parentTurn: null,
          budget: {},
        },
        timeoutMs: null,
      }),
    /** How each call that has ended did, in the order of their ends. */
    ended: () =>
      events().flatMap((event) =>
        event.type === "tool.completed" ? [`${event.name} ${event.outcome}`] : [],
      ),
    isOver: () => events().some(({ type }) => isTerminal(type)),
    close: () => disk.close(),
  };
}

type Row = { type: string; body: string };
const toEvent = ({ type, body }: Row): WireEvent => ({ ...JSON.parse(body), type });

function teamWith(tools: readonly Tool[], { tokens }: Around): Team {
  const limit = tokens === undefined ? "" : `, tool_result_max_tokens: ${tokens}`;
  const team = teamOf(`agent: {id: a, backend: {type: claude, cwd: work${limit}}}`, FULL_CONTEXT);
  const agents = team.rules.agents.map((agent) => ({
    ...agent,
    tools: tools.map(({ rule }) => rule),
  }));
  return { ...team, rules: { ...team.rules, agents } };
}

type Work = {
  tools: readonly Tool[];
  calls: Calls;
  faults: unknown[];
  replies: { given: number };
  room: Around;
};

function performer(engine: Engine, { tools, calls, faults, replies, room }: Work): Performer {
  const working = new AgentTools({
    engine,
    toolsOf: () => tools,
    fetch,
    calibrationOf: () => room.calibration ?? 1,
  });
  const callsOf = (reply: number) =>
    typeof calls === "function" ? calls(reply) : reply === 1 ? calls : [];
  return {
    admitCall: () => null,
    dropCall: () => {},
    prepareCall: (effect) => {
      engine.handle({ type: "call_ready", effect: effect.id, inputTokens: 1_000 });
      replies.given += 1;
      const reply = replies.given;
      return {
        send: async () => () =>
          replied(engine, effect, callsOf(reply), reply === 1 ? "t" : `r${reply}t`),
      };
    },
    resumeCall: () => null,
    performTool: (...given) => working.perform(...given),
    listTools: async () => {},
    onFault: (error) => {
      if (error instanceof Gone) return; // what a life before this one had begun
      faults.push(error);
      engine.fault(error);
    },
  };
}

/** The model has replied: with calls of tools, or else with its answer. */
function replied(
  engine: Engine,
  effect: ModelCallEffect,
  calls: readonly ToolCall[],
  id: string,
): void {
  const items: ReplyItem[] = calls.map(({ name, args = {} }, nth) => ({
    ...{ type: "tool_call", id: `${id}${nth}`, name, arguments: JSON.stringify(args) },
  }));
  const text = calls.length === 0 ? "That is all there is." : "";
  const reply = {
    ...{
      stopReason: calls.length === 0 ? ("stop" as const) : ("tool_calls" as const),
      usage: used(100, 10),
      text,
    },
    tools: calls.map(({ name }, nth) => ({ toolCall: `${id}${nth}`, name })),
    ...{ decisions: [], verdict: null, personas: null },
  };
  const all: ReplyItem[] = text === "" ? items : [{ type: "text", text }];
  engine.handle(
    { type: "call_replied", effect: effect.id, reply },
    { reply: { agent: effect.agent, items: all } },
  );
}
