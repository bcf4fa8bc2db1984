import { CALL_TIME_LIMITS } from "../../../src/providers/limits";
import worker from "../../../src/worker";

/** The service as it is shipped, less patient with providers: what takes minutes there takes a second or two here. */
Object.assign(CALL_TIME_LIMITS, { firstByteMs: 1_500, idleMs: 1_000, totalMs: 3_000 });

export { EvalRunObject } from "../../../durable-objects/eval-run";
export { RateGateObject } from "../../../durable-objects/rate-gate";
export { SessionObject } from "../../../durable-objects/session";
export { TenantObject } from "../../../durable-objects/tenant";

export default worker;
