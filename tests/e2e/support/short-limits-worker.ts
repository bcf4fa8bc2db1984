import { CALL_TIME_LIMITS } from "../../../src/providers/call-limits";
import worker from "../../../src/worker";

/** The service with short time limits for model calls: seconds instead of minutes. */
Object.assign(CALL_TIME_LIMITS, { firstByteMs: 4_500, idleMs: 3_000, totalMs: 9_000 });

export { EvalRunObject } from "../../../durable-objects/eval-run/eval-run";
export { RateGateObject } from "../../../durable-objects/rate-gate/rate-gate";
export { RelayObject } from "../../../durable-objects/relay/relay";
export { SessionObject } from "../../../durable-objects/session/session-object";
export { TenantObject } from "../../../durable-objects/tenant/tenant";

export default worker;
