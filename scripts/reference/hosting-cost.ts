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
 * Three agents that work for five minutes while a client watches. `requests`: six, and one alarm
 * every ten seconds. `objectMb`: the memory for which the platform charges.
 */
const RUN = { seconds: 300, objectMb: 128, requests: 36, chunks: 10_000 } as const;

/**
 * The prices, and the cost of hosting such a run, computed from the rows and the CPU time that
 * `npm run bench` measured.
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

const priceOf = (what: keyof typeof PRICES_PER_MILLION, amount: number): number =>
  (amount * PRICES_PER_MILLION[what]) / 1e6;
