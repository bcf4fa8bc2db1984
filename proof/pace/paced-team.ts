import type { ModelCallEffect, Reply } from "../../src/coordination";
import type { Usage } from "../../src/protocol/events";
import type { TeamRules } from "../../src/protocol/team";
import { Chance } from "../../simulated/chance";
import type { NumberedEvent } from "../../checker";
import { teamOf } from "../simulation/world/script";
import { Shell } from "../simulation/world/shell";
import type { CallContext, CallOutcome, World } from "../simulation/world/world";

/**
 * The speed of an agent: the durations of its first answer and of its other calls, in units of the
 * team's usual call. `improves`: whether it answers again before it votes. `fails`: its first call
 * fails for good after `answer` units.
 */
export type Member = { answer: number; later: number; improves?: true; fails?: true };

/**
 * A team with simulated time. `callMs`: the duration of its usual call. `jitter`: by how much
 * durations differ at random, as a share: 0.1 means from 0.9 to 1.1. `startMs`: the time that the
 * service needs to start a call; calls start one after another.
 */
export type PacedTeam = {
  members: readonly Member[];
  callMs: number;
  jitter: number;
  startMs: number;
};

/** `wallMs`: the time until coordination has ended. `pathMs`: its lower bound. */
export type PacedRun = { calls: number; wallMs: number; pathMs: number; log: NumberedEvent[] };

const USAGE: Usage = {
  input_tokens: 100,
  output_tokens: 10,
  reasoning_tokens: 0,
  cached_tokens: 0,
};
const EMPTY_REPLY: Reply = {
  stopReason: "stop",
  usage: USAGE,
  text: "Done.",
  tools: [],
  decisions: [],
  verdict: null,
  personas: null,
};

/** Plays one turn with the real rules. Equal seeds give equal durations, also with other rules. */
export function playPaced(team: PacedTeam, seed: number, rules: Partial<TeamRules>): PacedRun {
  const shell: Shell = new Shell(
    pacedWorld(team, seed, () => shell.now),
    () => {},
  );
  const startedAt = shell.now;
  const changes = { initial_round_timeout_ms: null, failing_member_grace_ms: 5_000, ...rules };
  shell.input({
    type: "turn_requested",
    rules: teamOf(team.members.length, changes),
    question: "Which way leads through the hills?",
    parentTurn: null,
    budget: {},
    timeoutMs: null,
  });
  shell.finish();
  const settledAt = shell.log.find(({ type }) => type === "attempt.settled")?.at ?? shell.now;
  const calls = shell.log.filter(({ type }) => type === "call.started").length;
  return { calls, wallMs: settledAt - startedAt, pathMs: pathOf(team, seed), log: shell.log };
}

/** The slowest first answer and the slowest vote, one after the other. */
function pathOf(team: PacedTeam, seed: number): number {
  const slowest = (nth: number): number =>
    Math.max(
      ...team.members.map(({ fails }, agent) =>
        fails ? 0 : durationOf(team, seed, { agent, nth }),
      ),
    );
  return slowest(0) + slowest(1);
}

type CallPlace = { agent: number; nth: number };

function durationOf(team: PacedTeam, seed: number, { agent, nth }: CallPlace): number {
  const { answer, later } = team.members[agent] ?? { answer: 1, later: 1 };
  const chance = new Chance(seed * 7_919 + agent * 131 + nth * 17);
  const deviation = (2 * chance.unit() - 1) * team.jitter;
  return Math.round(team.callMs * (nth === 0 ? answer : later) * (1 + deviation));
}

function pacedWorld(team: PacedTeam, seed: number, now: () => number): World {
  const callsOf = team.members.map(() => 0);
  let startsFrom = 0;
  let draws = 0;
  return {
    prepare: () => {
      startsFrom = Math.max(now(), startsFrom) + team.startMs;
      return { afterMs: startsFrom - now(), inputTokens: 100 };
    },
    call: (effect, context) => {
      const nth = callsOf[effect.agent] ?? 0;
      callsOf[effect.agent] = nth + 1;
      const afterMs = durationOf(team, seed, { agent: effect.agent, nth });
      const ends = endOf(effect, context, { nth, member: team.members[effect.agent] });
      return { headersMs: 0, afterMs, partial: null, charged: USAGE, ends };
    },
    tool: () => ({ afterMs: 0, outcome: "ok", notifications: [] }),
    listing: () => ({ afterMs: 0, servers: [] }),
    relisting: () => null,
    files: () => null,
    crashesNow: () => false,
    clockLagMs: () => 0,
    alarmLateMs: () => 0,
    deliversTwice: () => false,
    seed: () => {
      draws += 1;
      return draws;
    },
  };
}

/** `nth`: the number of the member's earlier calls. */
type Turn = { nth: number; member: Member | undefined };

function endOf(
  effect: ModelCallEffect,
  context: CallContext,
  { nth, member }: Turn,
): CallOutcome["ends"] {
  if (nth === 0 && member?.fails) {
    const problem = { class: "bad_credentials", code: "invalid_key", message: "No." } as const;
    return { type: "failure", failure: { ...problem, ...NOTHING_ELSE } };
  }
  if (effect.purpose !== "coordination") return { type: "reply", reply: EMPTY_REPLY };
  const improves = nth === 1 && member?.improves && context.started.offers.includes("new_answer");
  const answers = improves || !context.started.offers.includes("vote");
  const decision = { tool_call: `${effect.id}_decision` };
  const first = context.state.turn?.attempt.answers[0]?.agent ?? 0;
  const alias = context.state.turn?.aliases[first] ?? "";
  return {
    type: "reply",
    reply: {
      ...EMPTY_REPLY,
      stopReason: "tool_calls",
      decisions: [
        answers
          ? { name: "new_answer", ...decision, content: `Answer ${nth} of ${effect.agent}.` }
          : { name: "vote", ...decision, alias, reason: "It is clear." },
      ],
    },
  };
}

const NOTHING_ELSE = { retryAfterMs: null, usage: null, reached: true } as const;
