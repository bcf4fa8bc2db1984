import { modelFacts } from "../../src/providers/models";
import type { Price } from "../../src/protocol/team";
import { charges, type RecordedRequest } from "../simulated-providers/ledger";
import { answersThenVotes, improvesOnce, paced } from "../simulated-providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../simulated-providers/server";
import { toSituation } from "../simulated-providers/situation";
import type { Script } from "../simulated-providers/reply";
import type { Figure, Measurement } from "./figure";
import { endOf, startRun } from "./run-client";
import type { Runtime } from "./runtime";

/** What runs with caps, at random prices, speeds and lengths, really cost, by their providers' own books. */
type BudgetFigure = {
  runs: number;
  overshot: number;
  /** The largest share of its cap that a run used. */
  mostOfCap: number;
  /** How runs ended, counted. */
  endings: Record<string, number>;
  /** Runs whose cap kept a call from being made, or shortened it. */
  calls: number;
};

const RUNS = 1_000;
const AT_ONCE = 16;
/** Cheap ones and dear ones. */
const PRICED = ["gpt-5-mini", "gpt-5", "gpt-4o", "gpt-4.1", "gpt-4.1-nano"] as const;

export const BUDGET: Measurement = {
  name: "budget",
  about: `Caps: ${RUNS} runs at random prices, speeds and lengths`,
  counts: true,
  async measure(machines): Promise<Figure> {
    const data = await measureBudget(await machines.disk());
    const { runs, overshot, mostOfCap, endings, calls } = data;
    const ends = Object.entries(endings).map(([status, count]) => `${count} ${status}`);
    return {
      lines: [
        [
          `runs over their cap, of ${runs} (${calls} calls)`,
          `${overshot}; at most ${(mostOfCap * 100).toFixed(1)} % of a cap was used`,
          "0",
          `0: ${overshot === 0 ? "met" : "missed"}`,
        ],
        ["  how they ended", ends.join(", "), "", ""],
      ],
      data,
    };
  },
};

async function measureBudget({ service }: Runtime): Promise<BudgetFigure> {
  const providers = await startSimulatedProviders({ models: Object.fromEntries(PRICED.map((model) => [model, randomly()])) });
  try {
    const caps = new Map<string, number>();
    const endings = new Map<string, number>();
    let left = RUNS;
    const worker = async () => {
      while (left-- > 0) {
        const question = `What is worth its price? (${left})`;
        const cap = 10 ** (-4 + Math.random() * 3); // from a hundredth of a cent to ten cents
        caps.set(question, cap);
        const { turn } = await startRun(service, request(providers, question, cap));
        const status = await endOf(turn);
        endings.set(status, (endings.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    const costs = costOf(providers.requests());
    const shares = [...caps].map(([question, cap]) => (costs.get(question) ?? 0) / cap);
    return {
      runs: caps.size,
      overshot: shares.filter((share) => share > 1 + 1e-9).length,
      mostOfCap: Math.max(...shares),
      endings: Object.fromEntries(endings),
      calls: providers.requests().length,
    };
  } finally {
    await providers.close();
  }
}

const upTo = (most: number): number => Math.floor(Math.random() * most);
const words = (count: number): string =>
  Array.from({ length: count + 1 }, () => Math.random().toString(36).slice(2, 9)).join(" ");

/** Each reply of another length and speed, some of them failures, refusals and cuts: what was written is charged all the same. */
function randomly(): Script {
  return async (situation) => {
    const script =
      Math.random() < 0.3
        ? improvesOnce({ answer: words(upTo(300)), improved: words(upTo(300)) })
        : answersThenVotes({ answer: words(upTo(300)) });
    const reply = await paced({ ttftMs: upTo(40) }, script)(situation);
    const fate = Math.random();
    if (fate < 0.03) return { fail: { status: 500 } };
    if (fate < 0.06) return { ...reply, cutAfterChunks: upTo(40) };
    return reply;
  };
}

function request({ baseUrl }: SimulatedProviders, question: string, cap: number): string {
  const agents = Array.from({ length: 1 + upTo(3) }, (_, n) => {
    const model = PRICED[upTo(PRICED.length)] ?? PRICED[0];
    return { id: `agent-${n}`, backend: { type: "chatcompletion", model, base_url: baseUrl, api_key: "simulated" } };
  });
  return JSON.stringify({ question, config: { agents }, budget: { max_cost_usd: cap } });
}

/** Cost only grows, so what a run has cost in the end is the most it ever had. */
function costOf(requests: readonly RecordedRequest[]): Map<string, number> {
  const costs = new Map<string, number>();
  for (const request of requests) {
    const { question } = toSituation(request.asked);
    const price = modelFacts(request.model).price;
    if (price === null) throw new Error(`${request.model} has no price.`);
    const [charge] = charges([request]);
    if (charge) costs.set(question, (costs.get(question) ?? 0) + usd(charge, price));
  }
  return costs;
}

const usd = ({ inputTokens, outputTokens }: { inputTokens: number; outputTokens: number }, price: Price): number =>
  (inputTokens * price.input + outputTokens * price.output) / 1_000_000;
