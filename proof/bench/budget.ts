import { tmpdir } from "node:os";
import type { Chance } from "../../simulated/chance";
import { type Charge, charges, type RecordedRequest } from "../../simulated/providers/ledger";
import { ProblemSchema, RunResponseSchema } from "../../src/protocol/api";
import { answersThenVotes, improvesOnce, paced } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { toSituation } from "../../simulated/providers/situation";
import { type ModelInput, textSent } from "../../simulated/providers/asked";
import {
  CHARACTERS_PER_TOKEN,
  type Reply,
  type ReportedUsage,
  type Script,
} from "../../simulated/providers/reply";
import { chanceFor } from "./chance";
import { type Figure, type Measurement, verdict } from "./figure";
import { type DrawnPrice, drawPrices } from "./random-prices";
import { endOf } from "./run-client";
import { startRuntime } from "./runtime";

/** What runs with caps, at random prices, speeds and lengths, really cost, by their providers' own books and the prices drawn. */
export type BudgetFigure = {
  runs: number;
  overshot: number;
  /** The largest share of its cap that a run used. */
  mostOfCap: number;
  /** Runs that used more than `CLOSE` of their cap and not more than all of it. */
  close: number;
  /** How runs ended, counted. */
  endings: Record<string, number>;
  /** Requests that reached a provider, of all runs. */
  calls: number;
};

const RUNS = 1_000;
const AT_ONCE = 16;
const MODELS = 24;
/** For more than that beyond its cap no run is to blame: sums of dollars are no whole numbers. */
const ROUNDING = 1e-9;
/** A reservation that is too small shows only where a run comes as close to its cap as this. */
const CLOSE = 0.95;
/** No reply is written to its cap where that is larger: it is the service's sum that is tried, not its reading. */
const LONGEST_WRITTEN = 2_000;

export const BUDGET: Measurement = {
  name: "budget",
  about: "Caps: runs at random prices, speeds and lengths",
  counts: true,
  trials: RUNS,
  async measure({ seed, trials }): Promise<Figure> {
    return judgeBudget(await measureBudget(seed, trials ?? RUNS), seed);
  },
};

/** Broken as soon as one run cost more than its cap, and where none cost anything: then no cap was tried. */
export function judgeBudget(data: BudgetFigure, seed: number): Figure {
  const { runs, overshot, mostOfCap, close, endings, calls } = data;
  const isTried = mostOfCap > 0;
  const ends = Object.entries(endings).map(([status, count]) => `${count} ${status}`);
  return {
    lines: [
      {
        figure: `runs over their cap, of ${runs} (${calls} calls; ${ends.join(", ")})`,
        measured: `${overshot}; at most ${(mostOfCap * 100).toFixed(2)} % of a cap was used, and over ${CLOSE * 100} % by ${close}`,
        runs: `${runs}, seed ${seed}`,
        bound: "0, by definition",
        aim: verdict("0", isTried && overshot === 0),
      },
    ],
    data,
    broken: [
      ...(isTried
        ? []
        : [`None of ${runs} runs cost anything: their caps were not tried (seed ${seed}).`]),
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
  const scripts = models.map((model) => [model, randomly(seed, model)] as const);
  const providers = await startSimulatedProviders({ models: Object.fromEntries(scripts) });
  try {
    const caps = new Map<string, number>();
    const endings = new Map<string, number>();
    let left = runs;
    const worker = async () => {
      while (left-- > 0) {
        const question = `What is worth its price? (${left})`;
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

/** How a run ended; `refused` if its cap is below the cheapest first call. */
async function playRun(service: string, body: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${service}/api/runs`, { method: "POST", headers, body });
  const answer: unknown = await response.json();
  if (ProblemSchema.safeParse(answer).data?.code === "budget_too_small") return "refused";
  return endOf(`${service}${RunResponseSchema.parse(answer).links.turn}`);
}

/** From a hundredth of a cent to ten cents; every other one such that it binds: it pays for a few replies of the team's dearest model. */
function drawCap(
  chance: Chance,
  team: readonly string[],
  prices: ReadonlyMap<string, DrawnPrice>,
): number {
  if (chance.is(0.5)) return 10 ** (-4 + chance.unit() * 3);
  const dearest = Math.max(...team.map((model) => prices.get(model)?.output ?? 0));
  return (dearest * chance.int(5_000, 50_000)) / 1_000_000;
}

const isOver = (share: number): boolean => share > 1 + ROUNDING;

const words = (chance: Chance): string =>
  Array.from({ length: chance.int(1, 300) }, () => chance.unit().toString(36).slice(2, 9)).join(
    " ",
  );

/**
 * Each reply of another length and speed, some of them failures and cuts: what was written is charged all the same. Some cost all
 * that their request lets them cost, or write until it stops them. The n-th reply of a model to a question is the same for the same
 * seed, whoever else is asked meanwhile.
 */
function randomly(seed: number, model: string): Script {
  const asked = new Map<string, number>();
  const tokensPerByte = chanceFor(seed, model, "tokenizer").is(0.5) ? 1 : 1 / CHARACTERS_PER_TOKEN;
  return async (situation) => {
    const nth = (asked.get(situation.question) ?? 0) + 1;
    asked.set(situation.question, nth);
    const chance = chanceFor(seed, situation.question, model, nth);
    const script = chance.is(0.3)
      ? improvesOnce({ answer: words(chance), improved: words(chance) })
      : answersThenVotes({ answer: words(chance) });
    const reply = await paced({ ttftMs: chance.int(0, 40) }, script)(situation);
    const fate = chance.unit();
    if (fate < 0.03) return { fail: { status: 500 } };
    if (fate < 0.06) return { ...reply, cutAfterChunks: chance.int(0, 40) };
    if (fate < 0.4 || tokensPerByte === 1)
      return { ...reply, usage: mostUsage(situation.asked, tokensPerByte) };
    if (fate < 0.5 && (situation.asked.outputCap ?? Number.POSITIVE_INFINITY) <= LONGEST_WRITTEN)
      return endlessText(situation.asked, tokensPerByte);
    return reply;
  };
}

/** What a request costs at most by a model's tokenizer, which counts all its requests alike: all that it may write was thought unseen. */
function mostUsage(asked: ModelInput, tokensPerByte: number): ReportedUsage {
  const outputTokens = asked.outputCap ?? 0;
  return {
    inputTokens: Math.ceil(Buffer.byteLength(textSent(asked)) * tokensPerByte),
    outputTokens,
    reasoningTokens: outputTokens,
  };
}

/** Text for ever, as `capped` ends it; its input costs the most, too. */
function endlessText(asked: ModelInput, tokensPerByte: number): Reply {
  const length = (asked.outputCap ?? 0) * CHARACTERS_PER_TOKEN;
  return {
    text: "and so on ".repeat(Math.ceil(length / 10) + 1),
    usage: mostUsage(asked, tokensPerByte),
  };
}

type Wanted = { question: string; cap: number; team: readonly string[] };

function request({ baseUrl }: SimulatedProviders, { question, cap, team }: Wanted): string {
  const agents = team.map((model, n) => ({
    id: `agent-${n}`,
    backend: { type: "chatcompletion", model, base_url: baseUrl, api_key: "simulated" },
  }));
  return JSON.stringify({ question, config: { agents }, budget: { max_cost_usd: cap } });
}

/** Cost only grows, so what a run has cost in the end is the most it ever had. */
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
