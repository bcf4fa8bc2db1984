import { env } from "cloudflare:workers";
import * as z from "zod";
import { MODEL_GROUPS, type Row } from "../../src/providers/model-rows";
import worker from "../../src/worker";

/** The shipped service with one change: additional models with the prices in `BENCH_PRICES`. */
export { RateGateObject } from "../../durable-objects/rate-gate/rate-gate";
export { RelayObject } from "../../durable-objects/relay/relay";
export { EvalRunObject, SessionObject, TenantObject } from "../../src/worker";

const PricesSchema = z.record(z.string(), z.object({ input: z.number(), output: z.number() }));
const WINDOW = 128_000;
const MOST_OUTPUT = 16_384;

const prices = PricesSchema.parse(JSON.parse(String(Reflect.get(env, "BENCH_PRICES"))));
/** The prices of a closed group apply at any address, so also at the simulated providers. */
const group = MODEL_GROUPS.find(({ closed }) => closed);
if (!group) throw new Error("No group of models has prices for an unknown address.");
const rows = Object.entries(prices).map(([model, { input, output }]): [string, Row] => [
  model,
  [WINDOW, MOST_OUTPUT, input, input, output],
]);
Object.assign(group.rows, Object.fromEntries(rows));

// biome-ignore lint/style/noDefaultExport: the runtime finds a Worker by its default export
export default worker;
