import { DurableObject } from "cloudflare:workers";

/**
 * A Worker with the objects of the service and without its code. Its start time is the part of the
 * service's start time that the runtime and the local simulators of D1 and R2 take.
 */
export class SessionObject extends DurableObject {}
export class TenantObject extends DurableObject {}
export class EvalRunObject extends DurableObject {}
export class RateGateObject extends DurableObject {}
export class RelayObject extends DurableObject {}

// biome-ignore lint/style/noDefaultExport: the runtime finds a Worker by its default export
export default { fetch: () => new Response("ok") } satisfies ExportedHandler;
