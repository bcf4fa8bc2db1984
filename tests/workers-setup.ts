import { applyD1Migrations, type D1Migration, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { loadFormats } from "../src/providers/registry";

/**
 * A runtime loads each module once for all its files. Each file starts with empty storage and the
 * tables that a deployment has.
 */
const { DB, TEST_MIGRATIONS } = env as unknown as {
  DB: D1Database;
  TEST_MIGRATIONS: D1Migration[];
};
await reset();
await applyD1Migrations(DB, TEST_MIGRATIONS);

/**
 * Tests load code over a connection, on behalf of the first object that needs the code. An abort of
 * that object would block all others forever.
 */
await loadFormats();
