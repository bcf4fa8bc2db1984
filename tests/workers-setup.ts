import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { loadFormats } from "../src/providers/registry";

/** Tests in workerd start with the tables that a deployment has. */
const { DB, TEST_MIGRATIONS } = env as unknown as {
  DB: D1Database;
  TEST_MIGRATIONS: D1Migration[];
};
await applyD1Migrations(DB, TEST_MIGRATIONS);

/** In tests code comes over a wire, read by whichever object asks first; if that one is aborted, all others wait for ever. */
await loadFormats();
