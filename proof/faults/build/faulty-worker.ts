import type { Env } from "../../../src/env";
import { SessionObject as ShippedSession } from "../../../durable-objects/session/session-object";
import { RelayObject as ShippedRelay } from "../../../durable-objects/relay/relay";
import { TenantObject as ShippedTenant } from "../../../durable-objects/tenant/tenant";
import { sessionPrefix } from "../../../r2-layout/session-files";
import worker from "../../../src/worker";
import { LOCAL_TENANT, sessionName } from "../../../src/tenancy/principal";
import { TOOL_PATH } from "../../../simulated/providers/tool-path";
import { readStoredSnapshots } from "../../../simulated/stored-snapshots";
import { faultyBindings } from "./bindings";
import { enterBoot, faultyContext, leaveBoot, duringAlarm } from "./context";
import { CONTROL_PATH, RELAY_HEADER } from "./orders";
import { crashingFetch } from "./sending";
import { waitForOrders, applyOrders, failureOf, markPoint, serviceNow } from "./state";

/**
 * The shipped service with injectable failures and crash points. The shipped bundle starts at
 * `src/worker.ts` and contains none of this.
 */
export { EvalRunObject } from "../../../durable-objects/eval-run/eval-run";
export { RateGateObject } from "../../../durable-objects/rate-gate/rate-gate";

/** The path of a simulated tool server. A mark of the run may follow. */
const MCP_PATH = /^\/mcp(\/|$)/;

globalThis.fetch = crashingFetch(globalThis.fetch.bind(globalThis));
Date.now = serviceNow;

export class SessionObject extends ShippedSession {
  constructor(ctx: DurableObjectState, env: Env) {
    const isKnown =
      ctx.storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'meta'").toArray().length > 0;
    if (isKnown) markPoint("boot.begin");
    enterBoot();
    try {
      super(faultyContext(ctx, "session"), faultyBindings(env));
    } finally {
      // Also after a failure of the storage: otherwise all later points would be named `boot.`.
      leaveBoot();
    }
    if (!isKnown) return;
    markPoint("boot.end");
    ctx.waitUntil(ctx.storage.sync().then(() => markPoint("boot.durable")));
  }

  override async alarm(): Promise<void> {
    markPoint("alarm.begin");
    await duringAlarm(() => super.alarm());
    markPoint("alarm.end");
  }

  /** Runs the alarm `times` times concurrently. */
  async fireAlarm(times: number): Promise<void> {
    await Promise.all(Array.from({ length: times }, () => this.alarm()));
  }

  /** Number of file jobs that are not done yet. */
  async filesLeft(): Promise<number> {
    return this.ctx.storage.sql.exec("SELECT id FROM file_duties").toArray().length;
  }

  /** Resets the object, as the platform does for a new version of the code. */
  async reset(): Promise<void> {
    this.ctx.abort("Durable Object reset because its code was updated.");
  }
}

export class TenantObject extends ShippedTenant {
  constructor(ctx: DurableObjectState, env: Env) {
    super(faultyContext(ctx, "tenant"), faultyBindings(env));
  }
}

/**
 * Adds the id of the relay's instance to each request, and ends when a failure is ordered. A
 * provider may see the end of an old instance's requests late, so it counts by instance.
 */
export class RelayObject extends ShippedRelay {
  override async fetch(request: Request): Promise<Response> {
    const purpose = purposeOf(request.url);
    this.#endIfOrdered(`${purpose} before`);
    const headers = new Headers(request.headers);
    headers.set(RELAY_HEADER, await this.instance());
    const response = await super.fetch(new Request(request, { headers }));
    this.#endIfOrdered(`${purpose} headers`);
    // The body is copied in JavaScript. Otherwise the runtime would copy it, also after the end of
    // the object.
    const body = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        controller.enqueue(chunk);
        this.#endIfOrdered(`${purpose} chunk`);
      },
      flush: () => this.#endIfOrdered(`${purpose} end`),
    });
    return new Response(response.body?.pipeThrough(body) ?? null, response);
  }

  #endIfOrdered(point: string): void {
    if (failureOf("relay", point)) this.ctx.abort("internal error; reference = relay");
  }
}

/** What a request of a relay is for, as in the call texts of the seam `relay`. */
function purposeOf(url: string): "model" | "tool" | "mcp" {
  const { pathname } = new URL(url);
  if (pathname.startsWith(TOOL_PATH)) return "tool";
  return MCP_PATH.test(pathname) ? "mcp" : "model";
}

/** Resets an object; `true` if it was reset. A successful reset makes the call of `reset` fail. */
const resetObject = (object: DurableObjectStub<SessionObject>): Promise<boolean> =>
  object.reset().then(
    () => false,
    () => true,
  );

type FaultyEnv = Omit<Env, "SESSIONS"> & { SESSIONS: DurableObjectNamespace<SessionObject> };

/**
 * Applies orders. With a session: fires its alarm, resets its object, or reports its files in R2.
 */
async function control(request: Request, { SESSIONS, BUCKET }: FaultyEnv): Promise<Response> {
  const { searchParams } = new URL(request.url);
  const session = searchParams.get("session");
  if (session === null) return Response.json(applyOrders(await request.json()));
  const object = SESSIONS.get(SESSIONS.idFromName(sessionName(null, LOCAL_TENANT, session)));
  if (searchParams.has("stored")) {
    // Counted before the files are read. If a job is left, the caller asks again, so it misses no
    // file.
    const left = await object.filesLeft();
    return Response.json({
      ...(await readStoredSnapshots(BUCKET, sessionPrefix(LOCAL_TENANT, session))),
      left,
    });
  }
  const alarms = searchParams.get("alarms");
  if (alarms !== null) await object.fireAlarm(Number(alarms));
  else if (!(await resetObject(object)))
    return Response.json("The object was not reset.", { status: 500 });
  return Response.json({});
}

// biome-ignore lint/style/noDefaultExport: the runtime finds a Worker by its default export
export default {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith(CONTROL_PATH)) return control(request, env);
    if (pathname !== "/healthz") await waitForOrders();
    return worker.fetch(request, faultyBindings(env), ctx);
  },
  scheduled: (controller, env, ctx) => worker.scheduled(controller, faultyBindings(env), ctx),
} satisfies ExportedHandler<FaultyEnv>;
