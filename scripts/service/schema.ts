import { z } from "zod";

const RateLimitSchema = z.object({
  name: z.string(),
  namespace_id: z.string(),
  simple: z.object({ limit: z.int(), period: z.literal([10, 60]) }),
});

/** What is read from wrangler.toml to run the bundle. Wrangler's own types of it are not published with it. */
export const WranglerConfigSchema = z.object({
  name: z.string(),
  compatibility_date: z.string(),
  compatibility_flags: z.array(z.string()),
  vars: z.record(z.string(), z.string()),
  durable_objects: z.object({ bindings: z.array(z.object({ name: z.string(), class_name: z.string() })) }),
  ratelimits: z.array(RateLimitSchema),
  version_metadata: z.object({ binding: z.string() }),
  r2_buckets: z.array(z.object({ binding: z.string() })),
  d1_databases: z.array(z.object({ binding: z.string(), migrations_dir: z.string() })),
});
