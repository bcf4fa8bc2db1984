import worker, { EvalRunObject, SessionObject as Session, TenantObject } from "../../src/worker";

/** The service as it is, with one change: it counts the rows that its sessions write, as the platform would charge them. */
export { RateGateObject } from "../../durable-objects/rate-gate";
export { EvalRunObject, TenantObject };

/** By session object, in the order in which they came. */
const written = new Map<string, number>();
let counted = false;

/** Every statement and every alarm of any object here. */
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
    super(ctx, env);
  }
}

// biome-ignore lint/style/noDefaultExport: the runtime finds a Worker by its default export
export default {
  fetch: (request, env, ctx) => {
    if (new URL(request.url).pathname === "/bench/rows") return Response.json([...written.values()]);
    return worker.fetch(request, env, ctx);
  },
} satisfies ExportedHandler<ConstructorParameters<typeof Session>[1]>;
