import type { Effect, ModelCallEffect, WorkspaceFacts } from "../../../src/coordination";
import type { ToolsListing, Usage } from "../../../src/protocol/events";
import type { AgentRules } from "../../../src/protocol/team";
import { drawFailure } from "./failing";
import { drawUses, tokensOf } from "./hosting";
import { drawNotifications } from "./notifications";
import { Chance } from "../../../simulated/chance";
import { drawReply } from "./replying";
import { type Feature, SERVED_TOOLS, type Situation } from "./rules-situation";
import type { Character, ReplySources } from "./character";
import { drawText } from "./texts";
import type { CallOutcome, CallContext, World } from "./world";

/** A world with random providers, tools and faults, all derived from the situation's seed. */
export function randomWorld(situation: Situation): World {
  const chance = new Chance(situation.seed + 2);
  const notificationChance = new Chance(situation.seed + 4);
  const has = (feature: Feature): boolean => situation.features.includes(feature);
  /** The input tokens of each effect, by its id. */
  const inputs = new Map<string, number>();
  const characters = Array.from({ length: situation.agents }, () => drawCharacter(chance, has));
  const hangingAgent = has("hangs") ? chance.int(0, situation.agents - 1) : -1;
  const crashRate = has("crashes") ? chance.pick([0.01, 0.03, 0.1, 0.25]) : 0;
  return {
    prepare: (effect) => {
      const inputTokens = inputOf(effect);
      return {
        afterMs: chance.int(0, 3),
        inputTokens,
        heldMs: inputTokens % 5 === 0 ? inputTokens : 0,
      };
    },
    call: (effect, context) => {
      const outcome = drawCall(
        { chance, has, character: characters[effect.agent] ?? "agreeable" },
        effect,
        context,
      );
      const hangs = effect.agent === hangingAgent && chance.is(0.5);
      return hangs ? { ...outcome, afterMs: Number.POSITIVE_INFINITY } : outcome;
    },
    tool: () => ({
      afterMs: chance.latency(1, 20_000),
      outcome: chance.weighted({ ok: 8, error: 2, unknown: 1 }),
      notifications: drawNotifications(notificationChance),
    }),
    listing: (_, rules) => ({
      afterMs: chance.latency(1, 20_000),
      servers: drawListings(chance, rules),
    }),
    relisting: (_, rules) => (chance.is(0.1) ? drawListings(chance, rules) : null),
    files: () => drawFacts(chance),
    crashesNow: () => chance.is(crashRate),
    clockLagMs: () => (has("clock_jumps") && chance.is(0.1) ? chance.latency(1, 3_600_000) : 0),
    alarmLateMs: () => (has("late_alarms") && chance.is(0.5) ? chance.latency(1, 600_000) : 0),
    deliversTwice: () => has("double_delivery") && chance.is(0.3),
    seed: () => chance.int(0, 2 ** 32 - 1),
  };

  /** The upper bound of an effect's input tokens. It stays the same after a crash. */
  function inputOf(effect: Effect): number {
    const existing = inputs.get(effect.id);
    if (existing !== undefined) return existing;
    const tokens = chance.latency(200, has("tiny_windows") ? 1_500 : 8_000);
    inputs.set(effect.id, tokens);
    return tokens;
  }
}

/** Random facts of a workspace. They need not fit each other, because there are no real files. */
function drawFacts(chance: Chance): WorkspaceFacts | null {
  const changed = chance.is(0.6);
  const leftOut =
    changed && chance.is(0.3) ? { leftOut: { count: 2, paths: ["a.txt", "b.txt"] } } : {};
  const written =
    changed && chance.is(0.5)
      ? { written: chance.pick([["notes.md"], ["notes.md", "src/app.js"]]) }
      : {};
  return chance.is(0.1) ? null : { files: chance.pick([0, 1, 7]), changed, ...leftOut, ...written };
}

function drawCharacter(chance: Chance, has: (feature: Feature) => boolean): Character {
  return chance.weighted({
    agreeable: 5,
    improver: 4,
    stubborn: has("stubborn") ? 8 : 0,
    careless: has("mistakes") ? 8 : 0,
  });
}

/** Draws the listings of an agent's servers: usually all tools, sometimes fewer or none. */
function drawListings(chance: Chance, { tool_servers = [] }: AgentRules): ToolsListing[] {
  return tool_servers.map((server) => {
    const isDown = chance.is(0.1);
    const tools = SERVED_TOOLS.filter(() => !isDown && chance.is(0.9)).map((rule) => ({
      ...rule,
      tool: rule.name,
      hash: rule.name,
    }));
    return {
      server,
      version: isDown ? null : "2026-07-28",
      problem: isDown ? "It cannot be reached." : null,
      tools,
      refused: [],
    };
  });
}

function drawCall(
  sources: ReplySources,
  effect: ModelCallEffect,
  context: CallContext,
): CallOutcome {
  const { chance, has } = sources;
  const afterMs = chance.latency(20, has("slow") ? 400_000 : 20_000);
  const headersMs = Math.round(afterMs * chance.unit());
  const usage = drawUsage(chance, effect, context);
  const partial = (has("deltas") || has("skip")) && chance.is(0.6) ? drawText(chance) : null;
  const failure = drawFailure(sources, usage);
  if (failure) {
    const charged = failure.usage ?? (failure.reached ? usage : null);
    return { afterMs, headersMs, partial, charged, ends: { type: "failure", failure } };
  }
  const reply = drawReply(sources, effect, context);
  return {
    afterMs,
    headersMs,
    partial,
    charged: usage,
    ends: { type: "reply", reply: { ...reply, usage: chance.is(0.95) ? usage : null } },
  };
}

/** Draws the usage of a call, up to the limits of the call. */
function drawUsage(
  chance: Chance,
  { agent }: ModelCallEffect,
  { state, started, inputTokens }: CallContext,
): Usage {
  const rules = state.turn?.rules.agents[agent];
  const hosted_uses = drawUses(chance, started);
  const input_tokens = chance.int(
    Math.floor(inputTokens / 4),
    inputTokens + (rules ? tokensOf(hosted_uses, rules) : 0),
  );
  const cached_tokens = chance.is(0.3) ? chance.int(0, input_tokens) : 0;
  const written = chance.is(0.3) ? chance.int(0, input_tokens - cached_tokens) : 0;
  const output_tokens = chance.int(0, started.max_output_tokens);
  return {
    input_tokens,
    output_tokens,
    reasoning_tokens: chance.int(0, output_tokens),
    cached_tokens,
    ...(written > 0 ? { cache_write_tokens: written } : {}),
    ...(Object.keys(hosted_uses).length > 0 ? { hosted_uses } : {}),
  };
}
