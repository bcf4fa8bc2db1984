import {
  type BundleSize,
  bundleSize,
  MAX_GZIP_BYTES,
  sizeIn,
} from "../../local/bundle/bundle-size";
import { bundleOf } from "../../local/bundle/worker-bundle";
import { ServiceProcess } from "../../simulated/service/service-process";
import { type Spread, spread } from "./arithmetic";
import { BareProcess } from "./bare-process";
import { BARE } from "./bundles";
import { descriptionOf } from "./descriptions";
import { aim, type Figure, type Measurement, millis, times } from "./figure";

const STARTS = 7;
/** The aim for a cold start. */
const MOST_MS = 200;

export const BUNDLE: Measurement = {
  ...descriptionOf("bundle"),
  async measure(): Promise<Figure> {
    const data = {
      service: withKib(await bundleSize()),
      bare: withKib(await sizeIn(await bundleOf(BARE))),
    };
    const describe = ({ gzip, raw }: BundleSize) => `${kib(gzip)} KiB (raw ${kib(raw)})`;
    return {
      lines: [
        {
          figure: "bundle, gzip",
          measured: describe(data.service),
          runs: "once: the same sources give the same bytes",
          bound: `bare Worker, with the SDK of one provider ${describe(data.bare)}`,
          aim: `${aim(kib(data.service.gzip), kib(MAX_GZIP_BYTES), "≤")} (KiB, the platform's limit)`,
        },
      ],
      data,
    };
  },
};

const kib = (bytes: number): number => Math.ceil(bytes / 1024);

/** The documents show KiB. */
const withKib = (size: BundleSize) => ({ ...size, gzipKib: kib(size.gzip) });

/**
 * Time in ms from the start of the runtime to its first answer. `empty`: with the same bindings and
 * none of the service's code. `bare`: with a one-line Worker.
 */
type ColdStartFigure = { service: Spread; empty: Spread; bare: Spread };

export const COLD_START: Measurement = {
  ...descriptionOf("cold-start"),
  async measure(bench): Promise<Figure> {
    const data = await measureStarts(times(STARTS, bench));
    return {
      lines: [
        {
          figure: "cold start, process to first answer",
          measured: millis(data.service),
          runs: `${data.service.runs}`,
          bound: `same bindings, no code ${millis(data.empty)}; bare Worker of one line ${millis(data.bare)}`,
          aim: `${aim(data.service.median, MOST_MS, "≤")} (ms)`,
        },
      ],
      data,
    };
  },
};

/** Measures the three Workers in turn, because the speed of a machine varies. */
async function measureStarts(starts: number): Promise<ColdStartFigure> {
  const workers = {
    service: await ServiceProcess.prepare({ OPEN_ACCESS: "loopback" }),
    empty: await ServiceProcess.prepare({}, [], { entry: "proof/bench/empty-worker.ts" }),
    bare: await BareProcess.prepare(),
  };
  const measured: Record<keyof typeof workers, number[]> = { service: [], empty: [], bare: [] };
  try {
    for (let start = 0; start <= starts; start += 1) {
      for (const name of ["service", "empty", "bare"] as const) {
        measured[name].push(await workers[name].start());
        await workers[name].kill();
      }
    }
    // The first start is excluded, because it reads the files from disk.
    const spreadOf = (name: keyof typeof workers) => spread(measured[name].slice(1));
    return { service: spreadOf("service"), empty: spreadOf("empty"), bare: spreadOf("bare") };
  } finally {
    for (const worker of Object.values(workers)) await worker.stop();
  }
}
