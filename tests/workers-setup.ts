import { applyD1Migrations, type D1Migration, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { loadAllParts } from "../src/async/lazy";
import { loadFormats } from "../src/providers/registry";
import "../src/worker";

/** Each test file starts with empty storage and with the tables that a deployment has. */
const { DB, TEST_MIGRATIONS } = env as unknown as {
  DB: D1Database;
  TEST_MIGRATIONS: D1Migration[];
};
await reset();
await applyD1Migrations(DB, TEST_MIGRATIONS);

/**
 * Loads in advance the code that is loaded on first use. In tests, code is loaded over a
 * connection, on behalf of the first object that needs the code. If that object were aborted, all
 * other objects would wait for the code forever.
 */
await loadAllParts();
await loadFormats();
