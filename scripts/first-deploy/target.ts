/** The Worker, database and bucket of a first deployment, with their names. */
export type Target = {
  worker: string;
  database: Resource;
  bucket: Resource;
};

export type Resource = {
  binding: string;
  name: string;
  /** Whether the configuration itself has a name or an id, so that wrangler finds the resource. */
  isNamed: boolean;
  /** Whether the configuration has an id. Such a resource exists, under any name. */
  hasId: boolean;
};

const DATABASE_BINDING = "DB";
const BUCKET_BINDING = "BUCKET";

/** The fields of wrangler's normalized configuration that are read here. */
type WranglerConfig = {
  name?: string | undefined;
  d1_databases: {
    binding: string;
    database_name?: string | undefined;
    database_id?: string | undefined;
  }[];
  r2_buckets: { binding: string; bucket_name?: string | undefined }[];
};

/**
 * The target of a configuration. A resource without a name gets the name that wrangler itself gives
 * it, so that `npm run deploy` and `npm run keys -- … --remote` find it later.
 */
export function targetOf({ name, d1_databases, r2_buckets }: WranglerConfig): Target {
  const database = d1_databases.find(({ binding }) => binding === DATABASE_BINDING);
  const bucket = r2_buckets.find(({ binding }) => binding === BUCKET_BINDING);
  if (name === undefined || !database || !bucket)
    throw new Error(
      `The wrangler configuration has no \`name\`, or no bindings ${DATABASE_BINDING} and ${BUCKET_BINDING}. Restore them: git diff wrangler.toml`,
    );
  return {
    worker: name,
    database: {
      binding: DATABASE_BINDING,
      name: database.database_name ?? `${name}-db`,
      isNamed: database.database_name !== undefined || database.database_id !== undefined,
      hasId: database.database_id !== undefined,
    },
    bucket: {
      binding: BUCKET_BINDING,
      name: bucket.bucket_name ?? `${name}-bucket`,
      isNamed: bucket.bucket_name !== undefined,
      hasId: false,
    },
  };
}
