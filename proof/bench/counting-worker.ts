import worker, { EvalRunObject, SessionObject as Session, TenantObject } from "../../src/worker";
import { countingBindings, operations } from "./counting-bindings";

/**
 * The shipped service with one change: it counts charged operations and the rows that sessions
 * write.
 */
export { RateGateObject } from "../../durable-objects/rate-gate/rate-gate";
export { EvalRunObject, TenantObject };

/** Rows by session object, in order of creation. */
const written = new Map<string, number>();
let counted = false;

/** Counts every statement and every alarm of any object in this process. */
function count({ storage, id }: DurableObjectState): void {
  const name = id.toString();
  written.set(name, written.get(name) ?? 0);
  owners.set(storage.sql, name);
  if (counted) return;
  counted = true;
  const sql = Object.getPrototypeOf(storage.sql);
  const { exec } = sql;
  sql.exec = function countingExec(this: SqlStorage, ...args: unknown[]) {
    const cursor = exec.apply(this, args);
    add(owners.get(this), cursor.rowsWritten);
    return cursor;
  };
  const all = Object.getPrototypeOf(storage);
  const { setAlarm } = all;
  all.setAlarm = function countingAlarm(this: DurableObjectStorage, ...args: unknown[]) {
    add(owners.get(this.sql), 1);
    return setAlarm.apply(this, args);
  };
}

const owners = new WeakMap<SqlStorage, string>();

function add(name: string | undefined, rows: number): void {
  if (name !== undefined) written.set(name, (written.get(name) ?? 0) + rows);
}

export class SessionObject extends Session {
  constructor(ctx: DurableObjectState, env: ConstructorParameters<typeof Session>[1]) {
    count(ctx);
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
      return Response.json({ rows: [...written.values()], operations });
    operations.workerRequests += 1;
    return worker.fetch(request, countingBindings(env), ctx);
  },
} satisfies ExportedHandler<ConstructorParameters<typeof Session>[1]>;
