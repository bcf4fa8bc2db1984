import { AgentTools } from "../../../../durable-objects/session/tools/agent-tools";
import type { Containers } from "../../../../durable-objects/session/tools/containers";
import {
  composeSession,
  createEngine,
  type SessionParts,
  stopSession,
} from "../../../../durable-objects/session/compose";
import { createTables } from "../../../../durable-objects/session/session-tables";
import type { FileBucket } from "../../../../r2-layout/session-files";
import type { Team } from "../../../../src/config/team";
import type { InputBody, ModelCallEffect } from "../../../../src/coordination";
import type { Engine } from "../../../../src/engine/engine";
import type { Performer, SessionInputs } from "../../../../src/engine/ports";
import { isTerminal, type WireEvent } from "../../../../src/protocol/events";
import type { ReplyItem } from "../../../../src/providers/provider";
import { fileTools } from "../../../../src/tools/files";
import type { Tool } from "../../../../src/tools/tool";
import { fixedTeams } from "../../../builders/fixed-teams";
import { noContexts } from "../../../builders/no-contexts";
import { noQueue } from "../../../builders/no-queue";
import { FULL_CONTEXT, teamOf } from "../../../config/teams";
import { used } from "../../../coordination/builders";
import { Disk, ProcessGone } from "../../../../simulated/disk";

/** Discards uploads. No file of these tests is too large for a row, so no test reads from R2. */
const NO_BUCKET: FileBucket = {
  put: async () => null,
  get: async () => null,
  head: async () => null,
  delete: async () => {},
};
const NO_MISHAPS = {
  beforeCommit: () => {},
  afterCommit: () => {},
  durable: () => {},
  lagMs: () => 0,
};

/**
 * A team and tools that replace the default team with file tools. They are created again at each
 * start of the session.
 */
type Own = {
  team: Team;
  containers: () => Containers;
  tools: (containers: Containers) => readonly Tool[];
};

export type ToolCall = { name: string; args?: Record<string, unknown> };

/**
 * `tokens`: size limit of a result in the conversation. `calibration`: tokens that the provider
 * counts per estimated token. `settle`: reports the end of the turn to the tenant; if omitted, the
 * report succeeds.
 */
type RoomOptions = { tokens?: number; calibration?: number; settle?: () => Promise<void> };

/**
 * The tool calls of the first reply, or a function that returns the calls of each reply by its
 * number, which begins at 1. A reply without calls is the answer.
 */
type Calls = readonly ToolCall[] | ((reply: number) => readonly ToolCall[]);

/**
 * A session with one agent that has files. Its replies make these tool calls. Engine, effect runner
 * and tools are those of the service, with real tables; only the model is simulated.
 */
export function workingAgent(
  more: readonly Tool[],
  calls: Calls,
  own?: Own,
  room: RoomOptions = {},
) {
  const disk = new Disk({
    mishaps: NO_MISHAPS,
    schedule: (_, run) => void setTimeout(run, 0),
    toWorld: (at) => at,
  });
  const faults: unknown[] = [];
  const replies = { given: 0 };
  const team = own?.team ?? teamWith([...fileTools(), ...more], room);
  // `ProcessGone` comes from work of the session before its restart.
  const noteFault = (error: unknown) => void (error instanceof ProcessGone || faults.push(error));
  const begin = (boot: number) =>
    beginLife(
      { ...{ disk, team, boot, more, noteFault }, ...(own && { own }) },
      { calls, replies, room },
    );
  let life = begin(1);
  const events = (): WireEvent[] =>
    disk.read<Row>("SELECT type, body FROM events ORDER BY seq").map(toEvent);
  return {
    faults,
    events,
    session: () => ({ ...life.parts, engine: life.engine }),
    stop: () => stopSession(life.parts, life.engine),
    alarmAt: () => disk.alarmAt,
    /** Runs the alarm, also if no alarm is set. */
    ring: () => {
      disk.takeAlarm();
      return life.engine.wake();
    },
    /** Removes the alarm without running it. */
    loseAlarm: () => disk.takeAlarm(),
    /** Restarts the session from its storage. */
    restart: async () => {
      await disk.whenDurable();
      disk.crash();
      disk.revive();
      life = begin(2);
      life.engine.boot();
    },
    ask: () => void life.parts.coordinator.handle(requestOf(team)),
    /** Name and outcome of each completed call, in the order of completion. */
    ended: () =>
      events().flatMap((event) =>
        event.type === "tool.completed" ? [`${event.name} ${event.outcome}`] : [],
      ),
    isOver: () => events().some(({ type }) => isTerminal(type)),
    close: () => disk.close(),
  };
}

const requestOf = ({ rules }: Team): InputBody => ({
  type: "turn_requested",
  rules,
  question: "What is there?",
  parentTurn: null,
  budget: {},
  timeoutMs: null,
});

type Life = {
  disk: Disk;
  team: Team;
  boot: number;
  more: readonly Tool[];
  own?: Own;
  noteFault: (error: unknown) => void;
};

/** Loads the session from the disk. */
function beginLife(
  { disk, team, boot, more, own, noteFault }: Life,
  work: Omit<Work, "tools">,
): { parts: SessionParts; engine: Engine } {
  const platform = disk.state(
    (running) => void running.catch(noteFault),
    () => {},
  );
  createTables(platform.storage.sql);
  const containers = own?.containers();
  const tools = own && containers ? own.tools(containers) : [...fileTools(), ...more];
  const parts = composeSession({
    ...{ platform, bucket: NO_BUCKET, contexts: noContexts, maxReaders: 1, onFault: noteFault },
    facts: { teams: fixedTeams(team), sessionId: "s", boot, nonce: () => "n0nce" },
    place: { tenant: "t", session: "s" },
    ...(containers && { containers }),
    queuedStarts: noQueue,
    settle: work.room.settle ?? (async () => {}),
  });
  return { parts, engine: createEngine(parts, performerOf(parts, { ...work, tools })) };
}

type Row = { type: string; body: string };
const toEvent = ({ type, body }: Row): WireEvent => ({ ...JSON.parse(body), type });

function teamWith(tools: readonly Tool[], { tokens }: RoomOptions): Team {
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
  replies: { given: number };
  room: RoomOptions;
};

function performerOf(parts: SessionParts, { tools, calls, replies, room }: Work): Performer {
  const { coordinator, facts, workspaces, now } = parts;
  const agentTools = new AgentTools({
    ...{ session: coordinator, team: () => facts.teams.current() },
    ...{ sessionId: facts.sessionId, calls: parts.calls, workspaces, now, fetchOver: () => fetch },
    toolsOf: () => tools,
    calibrationOf: () => room.calibration ?? 1,
  });
  const callsOf = (reply: number) =>
    typeof calls === "function" ? calls(reply) : reply === 1 ? calls : [];
  return {
    admitCall: () => null,
    dropCall: () => {},
    prepareCall: (effect) => {
      coordinator.handle({ type: "call_ready", effect: effect.id, inputTokens: 1_000 });
      replies.given += 1;
      const reply = replies.given;
      return {
        send: async () => () =>
          reportReply(coordinator, effect, callsOf(reply), reply === 1 ? "t" : `r${reply}t`),
      };
    },
    resumeCall: () => null,
    performTool: (...args) => agentTools.perform(...args),
    listTools: async () => {},
  };
}

/** Reports a model's reply to the engine: tool calls, or the answer if there are no calls. */
function reportReply(
  session: SessionInputs,
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
  session.handle(
    { type: "call_replied", effect: effect.id, reply },
    { reply: { agent: effect.agent, items: all } },
  );
}
