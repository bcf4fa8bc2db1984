import type { Effect, Problem, Reply } from "../../../src/coordination";
import type { Usage } from "../../../src/protocol/events";
import { historyFacts } from "./history-facts";
import type { AskedTeam, Script, Step } from "./script";
import { Shell } from "./shell";
import type { CallOutcome, CallContext, World } from "./world";

const INPUT_TOKENS = 1_000;
const FIRST_BYTE_MS = 40;

const EMPTY_REPLY: Reply = {
  stopReason: "stop",
  usage: null,
  text: "",
  tools: [],
  decisions: [],
  verdict: null,
  personas: null,
};

/** A world without chance: everything happens as scripted, always at the same times. */
function scriptedWorld({ steps, listings = [], notifications = [], heldMs }: Script): World {
  /** The number of finished steps of each agent. */
  const finishedSteps = steps.map(() => 0);
  let draws = 0;
  return {
    prepare: (effect) => {
      const held =
        effect.type === "model_call" && finishedSteps[effect.agent] === 0 ? heldMs : undefined;
      return {
        afterMs: held ?? 1,
        inputTokens: INPUT_TOKENS,
        ...(held !== undefined && { heldMs: held }),
      };
    },
    call: (effect, context) => perform(nextStep(effect), { effect, context }),
    tool: () => ({ afterMs: 300, outcome: "ok", notifications }),
    listing: (_, { tool_servers = [] }) => ({
      afterMs: 100,
      servers: listings.filter(({ server }) => tool_servers.includes(server)),
    }),
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

  function nextStep({ agent, id }: Effect): Step {
    const nth = finishedSteps[agent] ?? 0;
    const step = steps[agent]?.[nth];
    if (!step) throw new Error(`the script has no step for ${id}`);
    finishedSteps[agent] = nth + 1;
    return step;
  }
}

function perform(
  { afterMs, partial, reply, failure }: Step,
  { effect, context }: { effect: Effect; context: CallContext },
): CallOutcome {
  const usage = usageOf(context);
  const shared = {
    headersMs: FIRST_BYTE_MS,
    afterMs: afterMs ?? 1_000 + 100 * effect.agent,
    partial: partial ?? null,
  };
  if (failure)
    return {
      ...shared,
      charged: failure.reached ? usage : null,
      ends: { type: "failure", failure },
    };
  const fullReply = { ...EMPTY_REPLY, usage, ...reply?.(context, effect.id) };
  return { ...shared, charged: usage, ends: { type: "reply", reply: fullReply } };
}

const usageOf = ({ started }: CallContext): Usage => ({
  input_tokens: 800,
  output_tokens: Math.min(200, started.max_output_tokens),
  reasoning_tokens: 0,
  cached_tokens: 400,
});

/** How a turn of the queue starts: `refused` if it fails at its start. */
type QueuedTurn = { queueId?: string; refused?: Problem };
const REFUSAL: Problem = { code: "context_missing", message: "Push the folder, then ask again." };

/** Runs a script to the end of its turn. */
export function play(script: Script): Shell {
  const shell = new Shell(scriptedWorld(script), () => {});
  const ask = (
    parentTurn: number | null,
    { team = {}, queued = {} }: { team?: AskedTeam; queued?: QueuedTurn } = {},
  ) =>
    shell.input({
      type: "turn_requested",
      ...team,
      rules: parentTurn === null ? script.rules : (team.rules ?? null),
      question: "Which way leads through the hills?",
      parentTurn,
      history: historyFacts(shell.log, parentTurn, (_, what) =>
        what === "summary" ? 5_000 : (script.turnBytes ?? 1_000),
      ),
      budget: script.budget ?? {},
      timeoutMs: script.timeoutMs ?? null,
      ...queued,
    });
  ask(null);
  if (script.cancelAfterMs !== undefined) shell.cancelAt(shell.now + script.cancelAfterMs);
  if (script.crashAfterMs !== undefined)
    shell.timeline.schedule(shell.now + script.crashAfterMs, () => shell.crash());
  shell.finish();
  for (let turn = 2; turn <= (script.turns ?? 1); turn += 1) {
    ask(turn - 1);
    shell.finish();
  }
  for (const [nth, team] of (script.then ?? []).entries()) {
    ask(nth + 1, { team });
    shell.finish();
  }
  if (script.queues) {
    ask(1, { queued: { queueId: "queued_1", refused: REFUSAL } });
    ask(2, { queued: { queueId: "queued_2" } });
    shell.finish();
  }
  if (!script.goesBack) return shell;
  ask(1);
  shell.finish();
  shell.input({ type: "head_requested", turn: 1 });
  ask(1);
  shell.finish();
  return shell;
}
