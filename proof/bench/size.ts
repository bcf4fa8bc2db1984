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

export const BUNDLE: Measurement = {
  ...descriptionOf("bundle"),
  async measure(): Promise<Figure> {
    const data = { service: await bundleSize(), bare: await sizeIn(await bundleOf(BARE)) };
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

/** Time in ms from the start of the runtime to its first answer. `bare`: with a one-line Worker. */
type ColdStartFigure = { service: Spread; bare: Spread };

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
          bound: `bare Worker of one line ${millis(data.bare)}`,
        },
      ],
      data,
    };
  },
};

async function measureStarts(starts: number): Promise<ColdStartFigure> {
  const service = await ServiceProcess.prepare({ OPEN_ACCESS: "loopback" });
  const bare = await BareProcess.prepare();
  const [services, bares]: [number[], number[]] = [[], []];
  try {
    for (let start = 0; start <= starts; start += 1) {
      services.push(await service.start());
      await service.kill();
      bares.push(await bare.start());
      await bare.kill();
    }
    // The first start is excluded, because it reads the files from disk.
    return { service: spread(services.slice(1)), bare: spread(bares.slice(1)) };
  } finally {
    await bare.stop();
    await service.stop();
  }
}
