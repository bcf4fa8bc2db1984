import { DurableObject } from "cloudflare:workers";
import { lazy } from "../src/async/lazy";
import type { Env } from "../src/env";
import type { EvalRunApi } from "./eval-run/eval-run-api";
import type { EvalRunObject as LoadedEvalRun } from "./eval-run/eval-run";
import type { SessionObjectApi } from "./session/session-api";
import type { SessionObject as LoadedSession } from "./session/session-object";

/**
 * The classes of large objects as the runtime sees them. The code of an object is loaded with the
 * first object of its class, before the object handles anything. So a start of the Worker, and of
 * an isolate without such objects, does not read this code.
 */

const sessionPart = lazy(() => import("./session/session-object"));
const evalRunPart = lazy(() => import("./eval-run/eval-run"));

type Args<Name extends keyof SessionObjectApi> = Parameters<SessionObjectApi[Name]>;

export class SessionObject extends DurableObject<Env> implements SessionObjectApi {
  #object: LoadedSession | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    void ctx.blockConcurrencyWhile(async () => {
      const { SessionObject: Loaded } = await sessionPart();
      this.#object = new Loaded(ctx, env);
    });
  }

  prepare() {
    return this.#loaded.prepare();
  }

  create(...args: Args<"create">) {
    return this.#loaded.create(...args);
  }

  startTurn(...args: Args<"startTurn">) {
    return this.#loaded.startTurn(...args);
  }

  readQueue(...args: Args<"readQueue">) {
    return this.#loaded.readQueue(...args);
  }

  queued(...args: Args<"queued">) {
    return this.#loaded.queued(...args);
  }

  removeQueued(...args: Args<"removeQueued">) {
    return this.#loaded.removeQueued(...args);
  }

  resumeQueue(...args: Args<"resumeQueue">) {
    return this.#loaded.resumeQueue(...args);
  }

  compact(...args: Args<"compact">) {
    return this.#loaded.compact(...args);
  }

  turns(...args: Args<"turns">) {
    return this.#loaded.turns(...args);
  }

  moveHead(...args: Args<"moveHead">) {
    return this.#loaded.moveHead(...args);
  }

  cancel(...args: Args<"cancel">) {
    return this.#loaded.cancel(...args);
  }

  erase(...args: Args<"erase">) {
    return this.#loaded.erase(...args);
  }

  status(...args: Args<"status">) {
    return this.#loaded.status(...args);
  }

  turn(...args: Args<"turn">) {
    return this.#loaded.turn(...args);
  }

  answer(...args: Args<"answer">) {
    return this.#loaded.answer(...args);
  }

  files(...args: Args<"files">) {
    return this.#loaded.files(...args);
  }

  blob(...args: Args<"blob">) {
    return this.#loaded.blob(...args);
  }

  changes(...args: Args<"changes">) {
    return this.#loaded.changes(...args);
  }

  changedContents(...args: Args<"changedContents">) {
    return this.#loaded.changedContents(...args);
  }

  diffPoint(...args: Args<"diffPoint">) {
    return this.#loaded.diffPoint(...args);
  }

  contextPoint(...args: Args<"contextPoint">) {
    return this.#loaded.contextPoint(...args);
  }

  blobs(...args: Args<"blobs">) {
    return this.#loaded.blobs(...args);
  }

  events(...args: Args<"events">) {
    return this.#loaded.events(...args);
  }

  issueTicket(...args: Args<"issueTicket">) {
    return this.#loaded.issueTicket(...args);
  }

  redeemTicket(...args: Args<"redeemTicket">) {
    return this.#loaded.redeemTicket(...args);
  }

  override fetch(request: Request): Promise<Response> {
    return this.#loaded.fetch(request);
  }

  override alarm(): Promise<void> {
    return this.#loaded.alarm();
  }

  get #loaded(): LoadedSession {
    if (this.#object === null) throw new Error("The session was called before it was loaded.");
    return this.#object;
  }
}

export class EvalRunObject extends DurableObject<Env> implements EvalRunApi {
  #object: LoadedEvalRun | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    void ctx.blockConcurrencyWhile(async () => {
      const { EvalRunObject: Loaded } = await evalRunPart();
      this.#object = new Loaded(ctx, env);
    });
  }

  start(...args: Parameters<EvalRunApi["start"]>) {
    return this.#loaded.start(...args);
  }

  override alarm(): Promise<void> {
    return this.#loaded.alarm();
  }

  get #loaded(): LoadedEvalRun {
    if (this.#object === null) throw new Error("The run was called before it was loaded.");
    return this.#object;
  }
}
