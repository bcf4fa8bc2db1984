import worker, { EvalRunObject, SessionObject as Session, TenantObject } from "../../src/worker";
import { countingBindings, operations } from "./counting-bindings";

/**
 * The shipped service with one change: it counts charged operations and the rows that sessions
 * write.
 */
export { RateGateObject } from "../../durable-objects/rate-gate/rate-gate";
export { RelayObject } from "../../durable-objects/relay/relay";
export { EvalRunObject, TenantObject };

/** Written rows by the id of the session object, in order of creation. */
const writtenRows = new Map<string, number>();
let isPatched = false;

/**
 * Counts the rows that this session object writes; a set alarm counts as one row. It patches the
 * prototypes, which all objects of the process share, only once.
 */
function countRowsOf({ storage, id }: DurableObjectState): void {
  const name = id.toString();
  writtenRows.set(name, writtenRows.get(name) ?? 0);
  owners.set(storage.sql, name);
  if (isPatched) return;
  isPatched = true;
  const sqlPrototype = Object.getPrototypeOf(storage.sql);
  const { exec } = sqlPrototype;
  sqlPrototype.exec = function countingExec(this: SqlStorage, ...args: unknown[]) {
    const cursor = exec.apply(this, args);
    add(owners.get(this), cursor.rowsWritten);
    return cursor;
  };
  const storagePrototype = Object.getPrototypeOf(storage);
  const { setAlarm } = storagePrototype;
  storagePrototype.setAlarm = function countingAlarm(
    this: DurableObjectStorage,
    ...args: unknown[]
  ) {
    add(owners.get(this.sql), 1);
    return setAlarm.apply(this, args);
  };
}

/** The id of the session object that owns a storage. */
const owners = new WeakMap<SqlStorage, string>();

/** `name` is `undefined` for objects that are no sessions; their rows are not counted. */
function add(name: string | undefined, rows: number): void {
  if (name !== undefined) writtenRows.set(name, (writtenRows.get(name) ?? 0) + rows);
}

export class SessionObject extends Session {
  constructor(ctx: DurableObjectState, env: ConstructorParameters<typeof Session>[1]) {
    countRowsOf(ctx);
    super(ctx, countingBindings(env));
  }

  override async alarm(): Promise<void> {
    operations.alarms += 1;
    await super.alarm();
  }
}

// biome-ignore lint/style/noDefaultExport: the runtime finds a Worker by its default export
export default {
  fetch: (request, env, ctx) => {
    if (new URL(request.url).pathname === "/bench/counts")
      return Response.json({ rows: [...writtenRows.values()], operations });
    operations.workerRequests += 1;
    return worker.fetch(request, countingBindings(env), ctx);
  },
} satisfies ExportedHandler<ConstructorParameters<typeof Session>[1]>;
