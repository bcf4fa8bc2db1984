import { afterAll } from "vitest";
import { z } from "zod";

/**
 * Replaces the connection pool of Node's `fetch` after each test file. In a worker that runs
 * several files, a pool outlives its file, and an idle connection breaks the first request of a
 * later file whose server has the same port.
 */
const POOL = Symbol.for("undici.globalDispatcher.1");
const PoolSchema = z.custom<{ destroy(): Promise<void>; constructor: new () => unknown }>(
  (pool) => typeof pool === "object" && pool !== null && "destroy" in pool,
);

afterAll(async () => {
  const pool = PoolSchema.safeParse(Reflect.get(globalThis, POOL));
  if (!pool.success) return; // nothing was fetched yet
  Reflect.set(globalThis, POOL, new pool.data.constructor());
  await pool.data.destroy();
});
