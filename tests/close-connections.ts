import { afterAll } from "vitest";
import * as z from "zod";

/**
 * The connection pool of Node's `fetch`. This setup replaces the pool after each test file, because
 * a worker runs several files. Without the replacement, an idle connection to a server of one file
 * could break the first request of a later file whose server has the same port.
 */
const POOL = Symbol.for("undici.globalDispatcher.1");
const PoolSchema = z.custom<{ destroy(): Promise<void>; constructor: new () => unknown }>(
  (pool) => typeof pool === "object" && pool !== null && "destroy" in pool,
);

afterAll(async () => {
  const pool = PoolSchema.safeParse(Reflect.get(globalThis, POOL));
  if (!pool.success) return; // `fetch` was not used yet
  Reflect.set(globalThis, POOL, new pool.data.constructor());
  await pool.data.destroy();
});
