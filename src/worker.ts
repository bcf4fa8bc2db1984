import { lazy } from "./async/lazy";
import type { Env } from "./env";

export { EvalRunObject, SessionObject } from "../durable-objects/lazy-objects";
export { RateGateObject } from "../durable-objects/rate-gate/rate-gate";
export { RelayObject } from "../durable-objects/relay/relay";
export { TenantObject } from "../durable-objects/tenant/tenant";

/**
 * The start module. The runtime reads and evaluates it at each start, so it contains only small
 * objects. All other code is loaded on first use (local/bundle/worker-parts.ts).
 */
const api = lazy(() => import("./worker/api"));
const schedule = lazy(() => import("./worker/schedule"));

export default {
  async fetch(request, env, ctx) {
    const { serve } = await api();
    return serve(request, env, ctx);
  },
  async scheduled({ scheduledTime }, env, ctx) {
    const { runSchedule } = await schedule();
    await runSchedule(scheduledTime, env, ctx);
  },
} satisfies ExportedHandler<Env>;
