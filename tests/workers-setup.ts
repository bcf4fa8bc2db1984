import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { loadFormats } from "../src/providers/registry";

/** Tests in workerd start with the tables that a deployment has. */
const { DB, TEST_MIGRATIONS } = env as unknown as {
  DB: D1Database;
  TEST_MIGRATIONS: D1Migration[];
};
await applyD1Migrations(DB, TEST_MIGRATIONS);

/**
 * Tests load code over a connection, on behalf of the first object that needs the code. An abort of
 * that object would block all others forever.
 */
await loadFormats();
