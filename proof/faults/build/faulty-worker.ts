import type { Env } from "../../../src/env";
import { SessionObject as ShippedSession } from "../../../durable-objects/session/session-object";
import { TenantObject as ShippedTenant } from "../../../durable-objects/tenant/tenant";
import { sessionPrefix } from "../../../r2-layout/session-files";
import worker from "../../../src/worker";
import { LOCAL_TENANT, sessionName } from "../../../src/tenancy/principal";
import { readStoredSnapshots } from "../../../simulated/stored-snapshots";
import { faultyBindings } from "./bindings";
import { enterBoot, faultyContext, leaveBoot, duringAlarm } from "./context";
import { CONTROL_PATH } from "./orders";
import { crashingFetch } from "./sending";
import { ordersReceived, applyOrders, reached, serviceNow } from "./state";

/**
 * The shipped service with injectable failures and crash points. The shipped bundle starts at
 * `src/worker.ts` and contains none of this.
 */
export { EvalRunObject } from "../../../durable-objects/eval-run/eval-run";
export { RateGateObject } from "../../../durable-objects/rate-gate/rate-gate";

globalThis.fetch = crashingFetch(globalThis.fetch.bind(globalThis));
Date.now = serviceNow;

export class SessionObject extends ShippedSession {
  constructor(ctx: DurableObjectState, env: Env) {
    const isKnown =
      ctx.storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'meta'").toArray().length > 0;
    if (isKnown) reached("boot.begin");
    enterBoot();
    try {
      super(faultyContext(ctx, "session"), faultyBindings(env));
    } finally {
      leaveBoot(); // Also if the storage fails, otherwise all later points would be named `boot.`.
    }
    if (!isKnown) return;
    reached("boot.end");
    ctx.waitUntil(ctx.storage.sync().then(() => reached("boot.durable")));
  }

  override async alarm(): Promise<void> {
    reached("alarm.begin");
    await duringAlarm(() => super.alarm());
    reached("alarm.end");
  }

  /** Runs the alarm so many times concurrently. */
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

/** Resets an object. The caller of `reset` receives an error when that works. */
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
    // Read before the files: files that arrive in between are then requested again.
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
    if (pathname !== "/healthz") await ordersReceived();
    return worker.fetch(request, faultyBindings(env), ctx);
  },
  scheduled: (controller, env, ctx) => worker.scheduled(controller, faultyBindings(env), ctx),
} satisfies ExportedHandler<FaultyEnv>;
