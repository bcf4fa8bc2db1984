import { tmpdir } from "node:os";
import type { Chance } from "../../simulated/chance";
import { type Charge, charges, type RecordedRequest } from "../../simulated/providers/ledger";
import { ProblemSchema, RunResponseSchema } from "../../src/protocol/api";
import { answersThenVotes, improvesOnce, paced } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { toSituation } from "../../simulated/providers/situation";
import { type ModelInput, textSent } from "../../simulated/providers/model-input";
import {
  CHARACTERS_PER_TOKEN,
  type Reply,
  type ReportedUsage,
  type Script,
} from "../../simulated/providers/reply";
import { chanceFor } from "./chance";
import { CAPPED_RUNS, descriptionOf } from "./descriptions";
import { type Figure, type Measurement, verdict } from "./figure";
import { type DrawnPrice, drawPrices } from "./random-prices";
import { endOf } from "./run-client";
import { startRuntime } from "./runtime";

/**
 * The real cost of runs with a cost cap and random prices, speeds and lengths. The cost is computed
 * from the requests that the simulated providers recorded and from the drawn prices.
 */
export type BudgetFigure = {
  runs: number;
  /** Runs that cost more than their cap. */
  overshot: number;
  /** The largest share of its cap that a run used. */
  mostOfCap: number;
  /** Runs that used more than `CLOSE` of their cap, and at most all of it. */
  close: number;
  /** Number of runs by how they ended. */
  endings: Record<string, number>;
  /** Requests that reached a provider, summed over all runs. */
  calls: number;
};

/** Number of concurrent runs. */
const AT_ONCE = 16;
const MODELS = 24;
/** Tolerance for the rounding errors of summed dollars, as a share of the cap. */
const ROUNDING = 1e-9;
/** The share of the cap above which a run can show that a reservation was too small. */
const CLOSE = 0.95;
/**
 * The largest output cap, in tokens, up to which a reply's text is really that long. Larger usage
 * is only reported: this measurement tests the service's arithmetic, not its reading of long texts.
 */
const LONGEST_TEXT = 2_000;

export const BUDGET: Measurement = {
  ...descriptionOf("budget"),
  async measure({ seed, trials }): Promise<Figure> {
    return judgeBudget(await measureBudget(seed, trials ?? CAPPED_RUNS), seed);
  },
};

/**
 * Makes the figure. It is broken if a run cost more than its cap, or if no run cost anything: then
 * no cap was tested.
 */
export function judgeBudget(data: BudgetFigure, seed: number): Figure {
  const { runs, overshot, mostOfCap, close, endings, calls } = data;
  const isTested = mostOfCap > 0;
  const ends = Object.entries(endings).map(([status, count]) => `${count} ${status}`);
  return {
    lines: [
      {
        figure: `runs over their cap, of ${runs} (${calls} calls; ${ends.join(", ")})`,
        measured: `${overshot}; at most ${(mostOfCap * 100).toFixed(2)} % of a cap was used, and over ${CLOSE * 100} % by ${close}`,
        runs: `${runs}, seed ${seed}`,
        bound: "0, by definition",
        aim: verdict("0", isTested && overshot === 0),
      },
    ],
    data,
    broken: [
      ...(isTested
        ? []
        : [`None of ${runs} runs cost anything: their caps were not tested (seed ${seed}).`]),
      ...(overshot === 0
        ? []
        : [`${overshot} of ${runs} runs cost more than their cap (seed ${seed}).`]),
    ],
  };
}

async function measureBudget(seed: number, runs: number): Promise<BudgetFigure> {
  const prices = drawPrices(chanceFor(seed, "prices"), MODELS);
  const models = [...prices.keys()];
  const variables = { BENCH_PRICES: JSON.stringify(Object.fromEntries(prices)) };
  const runtime = await startRuntime(tmpdir(), "proof/bench/random-prices-worker.ts", variables);
  const scripts = models.map((model) => [model, randomReplies(seed, model)] as const);
  const providers = await startSimulatedProviders({ models: Object.fromEntries(scripts) });
  try {
    const caps = new Map<string, number>();
    const endings = new Map<string, number>();
    let pendingRuns = runs;
    const worker = async () => {
      while (pendingRuns-- > 0) {
        const question = `What is worth its price? (${pendingRuns})`;
        const chance = chanceFor(seed, question);
        const team = Array.from({ length: chance.int(1, 3) }, () => chance.pick(models));
        const cap = drawCap(chance, team, prices);
        caps.set(question, cap);
        const status = await playRun(runtime.service, request(providers, { question, cap, team }));
        endings.set(status, (endings.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    const costs = costOf(providers.requests(), prices);
    const shares = [...caps].map(([question, cap]) => (costs.get(question) ?? 0) / cap);
    return {
      runs: caps.size,
      overshot: shares.filter(isOver).length,
      mostOfCap: Math.max(...shares),
      close: shares.filter((share) => share > CLOSE && !isOver(share)).length,
      endings: Object.fromEntries(endings),
      calls: providers.requests().length,
    };
  } finally {
    await providers.close();
    await runtime.stop();
  }
}

/** Plays a run; returns its status, or `refused` if its cap is below the cheapest first call. */
async function playRun(service: string, body: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${service}/api/runs`, { method: "POST", headers, body });
  const answer: unknown = await response.json();
  if (ProblemSchema.safeParse(answer).data?.code === "budget_too_small") return "refused";
  return endOf(`${service}${RunResponseSchema.parse(answer).links.turn}`);
}

/**
 * A random cap in US dollars. Half of the caps are between a hundredth of a cent and ten cents. The
 * other half pay for a few replies of the team's most expensive model.
 */
function drawCap(
  chance: Chance,
  team: readonly string[],
  prices: ReadonlyMap<string, DrawnPrice>,
): number {
  if (chance.is(0.5)) return 10 ** (-4 + chance.unit() * 3);
  const highestPrice = Math.max(...team.map((model) => prices.get(model)?.output ?? 0));
  return (highestPrice * chance.int(5_000, 50_000)) / 1_000_000;
}

const isOver = (share: number): boolean => share > 1 + ROUNDING;

const randomWords = (chance: Chance): string =>
  Array.from({ length: chance.int(1, 300) }, () => chance.unit().toString(36).slice(2, 9)).join(
    " ",
  );

/**
 * A script whose replies have random length and speed. Some replies fail or are cut; their output
 * is charged too. Some report the maximum usage that their request allows, or write up to its
 * output cap. The n-th reply of a model to a question depends only on the seed.
 */
function randomReplies(seed: number, model: string): Script {
  const replies = new Map<string, number>();
  const tokensPerByte = chanceFor(seed, model, "tokenizer").is(0.5) ? 1 : 1 / CHARACTERS_PER_TOKEN;
  return async (situation) => {
    const nth = (replies.get(situation.question) ?? 0) + 1;
    replies.set(situation.question, nth);
    const chance = chanceFor(seed, situation.question, model, nth);
    const script = chance.is(0.3)
      ? improvesOnce({ answer: randomWords(chance), improved: randomWords(chance) })
      : answersThenVotes({ answer: randomWords(chance) });
    const reply = await paced({ ttftMs: chance.int(0, 40) }, script)(situation);
    const fate = chance.unit();
    if (fate < 0.03) return { fail: { status: 500 } };
    if (fate < 0.06) return { ...reply, cutAfterChunks: chance.int(0, 40) };
    if (fate < 0.4 || tokensPerByte === 1)
      return { ...reply, usage: mostUsage(situation.asked, tokensPerByte) };
    if (fate < 0.5 && (situation.asked.outputCap ?? Number.POSITIVE_INFINITY) <= LONGEST_TEXT)
      return endlessText(situation.asked, tokensPerByte);
    return reply;
  };
}

/**
 * The maximum usage of a request. `tokensPerByte` depends on the model's tokenizer, so it is the
 * same for all requests of a model. All allowed output is reported as reasoning.
 */
function mostUsage(asked: ModelInput, tokensPerByte: number): ReportedUsage {
  const outputTokens = asked.outputCap ?? 0;
  return {
    inputTokens: Math.ceil(Buffer.byteLength(textSent(asked)) * tokensPerByte),
    outputTokens,
    reasoningTokens: outputTokens,
  };
}

/** A text longer than the output cap; the simulated provider cuts it. Its usage is the maximum. */
function endlessText(asked: ModelInput, tokensPerByte: number): Reply {
  const length = (asked.outputCap ?? 0) * CHARACTERS_PER_TOKEN;
  return {
    text: "and so on ".repeat(Math.ceil(length / 10) + 1),
    usage: mostUsage(asked, tokensPerByte),
  };
}

type RunOptions = { question: string; cap: number; team: readonly string[] };

function request({ baseUrl }: SimulatedProviders, { question, cap, team }: RunOptions): string {
  const agents = team.map((model, n) => ({
    id: `agent-${n}`,
    backend: { type: "chatcompletion", model, base_url: baseUrl, api_key: "simulated" },
  }));
  return JSON.stringify({ question, config: { agents }, budget: { max_cost_usd: cap } });
}

/**
 * The cost of each run in US dollars, by its question. Cost only grows, so the final cost of a run
 * is its maximum.
 */
function costOf(
  requests: readonly RecordedRequest[],
  prices: ReadonlyMap<string, DrawnPrice>,
): Map<string, number> {
  const costs = new Map<string, number>();
  for (const request of requests) {
    const { question } = toSituation(request.asked);
    const price = prices.get(request.model);
    if (!price) throw new Error(`${request.model} has no price.`);
    const [charge] = charges([request]);
    if (charge) costs.set(question, (costs.get(question) ?? 0) + usd(charge, price));
  }
  return costs;
}

const usd = (
  { inputTokens, outputTokens }: Omit<Charge, "at" | "model">,
  price: DrawnPrice,
): number => (inputTokens * price.input + outputTokens * price.output) / 1_000_000;
