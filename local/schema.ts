import * as z from "zod";

const RateLimitSchema = z.object({
  name: z.string(),
  namespace_id: z.string(),
  simple: z.object({ limit: z.int(), period: z.literal([10, 60]) }),
});

/**
 * The fields of wrangler.toml that are needed to run the bundle. Wrangler does not publish its own
 * types for them.
 */
export const WranglerConfigSchema = z.object({
  name: z.string(),
  compatibility_date: z.string(),
  compatibility_flags: z.array(z.string()),
  vars: z.record(z.string(), z.string()),
  durable_objects: z.object({
    bindings: z.array(z.object({ name: z.string(), class_name: z.string() })),
  }),
  ratelimits: z.array(RateLimitSchema),
  version_metadata: z.object({ binding: z.string() }),
  r2_buckets: z.array(z.object({ binding: z.string() })),
  d1_databases: z.array(z.object({ binding: z.string(), migrations_dir: z.string() })),
});

/**
 * The record in a bundle's folder: the input files, and the hash of their contents. The hash is
 * `null` if the bundle must not be reused.
 */
export const BundledSchema = z.object({ files: z.array(z.string()), hash: z.string().nullable() });
export type BundleRecord = z.infer<typeof BundledSchema>;
