import { type FigureFile, figureNamed } from "./figures";

/** Cloudflare's prices in US dollars, autumn 2026. */
const PRICES = {
  rowWritten: 1 / 1e6,
  objectGbSecond: 12.5 / 1e6,
  /** The higher price of the Worker's and the objects' requests. */
  request: 0.3 / 1e6,
  cpuMs: 0.02 / 1e6,
} as const;

/** Three agents that work for five minutes while a client watches. */
const RUN = { seconds: 300, objectGb: 0.128, requests: 36, chunks: 10_000 } as const;

/**
 * The price of hosting such a run, computed from the rows and the CPU time that `npm run bench`
 * measured.
 */
export function hostingCost(bench: FigureFile): FigureFile {
  const figure = (name: string): number => Number(figureNamed(`bench.${name}`, () => bench));
  const cpuMs = (RUN.chunks * figure("cpu.watched.median")) / 1_000;
  const rowsUsd = figure("rows.rows.watched.median") * PRICES.rowWritten;
  const objectUsd = RUN.seconds * RUN.objectGb * PRICES.objectGbSecond;
  const requestsUsd = RUN.requests * PRICES.request;
  const cpuUsd = cpuMs * PRICES.cpuMs;
  const usd = rowsUsd + objectUsd + requestsUsd + cpuUsd;
  const { command = "", takenAt = "", commit = "", machine = "" } = bench["rows"] ?? {};
  const data = { usd, rowsUsd, objectUsd, requestsUsd, cpuUsd, cpuS: cpuMs / 1_000 };
  return { run: { command, takenAt, commit, machine, data } };
}
