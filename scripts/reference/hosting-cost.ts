import { type FigureFile, figureNamed } from "./figures";

/** Cloudflare's prices in US dollars, autumn 2026. */
const PRICES_PER_MILLION = {
  rowWritten: 1,
  objectGbSecond: 12.5,
  /** The higher price of the Worker's and the objects' requests. */
  request: 0.3,
  cpuMs: 0.02,
  r2Write: 4.5,
} as const;

/**
 * The run whose cost is computed: three agents work for five minutes while a client follows them.
 * The platform counts six requests and one alarm every ten seconds (`requests`), and charges for
 * the memory of one object (`objectMb`).
 */
const RUN = { seconds: 300, objectMb: 128, requests: 36, chunks: 10_000 } as const;

/**
 * Computes the cost of hosting such a run from the rows and the CPU time that `npm run bench`
 * measured. Returns the cost and the prices.
 */
export function hostingCost(bench: FigureFile): FigureFile {
  const figure = (name: string): number => Number(figureNamed(`bench.${name}`, () => bench));
  const cpuMs = (RUN.chunks * figure("cpu.watched.median")) / 1_000;
  const rowsUsd = priceOf("rowWritten", figure("rows.rows.watched.median"));
  const objectUsd = priceOf("objectGbSecond", (RUN.seconds * RUN.objectMb) / 1_000);
  const requestsUsd = priceOf("request", RUN.requests);
  const cpuUsd = priceOf("cpuMs", cpuMs);
  const usd = rowsUsd + objectUsd + requestsUsd + cpuUsd;
  const { command = "", takenAt = "", commit = "", machine = "" } = bench["rows"] ?? {};
  const source = { command, takenAt, commit, machine };
  const data = { ...RUN, usd, rowsUsd, objectUsd, requestsUsd, cpuUsd, cpuS: cpuMs / 1_000 };
  return { run: { ...source, data }, prices: { ...source, data: { ...PRICES_PER_MILLION } } };
}

const priceOf = (item: keyof typeof PRICES_PER_MILLION, amount: number): number =>
  (amount * PRICES_PER_MILLION[item]) / 1e6;
