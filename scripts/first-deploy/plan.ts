import type { Target } from "./target";

/** The existing resources of the account, as wrangler reports them. */
export type Inventory = {
  /** Names of the D1 databases. */
  databases: readonly string[];
  buckets: readonly string[];
  /** Names of the Worker's secrets; `null` if there is no Worker yet. */
  secrets: readonly string[] | null;
};

/**
 * One step of a first deployment. A step that runs twice has the same result as one that runs once,
 * because an interrupted run is repeated from the start.
 */
export type Step =
  | { type: "create_database"; name: string }
  | { type: "create_bucket"; name: string }
  /** `hasNames`: the upload names database and bucket, because the Worker does not exist yet. */
  | { type: "deploy"; worker: string; hasNames: boolean }
  | { type: "migrate" }
  | { type: "put_secret"; name: GeneratedSecret; source: "generated" }
  | { type: "put_secret"; name: string; source: ".dev.vars" }
  | { type: "make_key"; tenant: string }
  | { type: "log_in" };

/** The requested deployment. */
export type Goal = {
  target: Target;
  tenant: string;
  /** Names of the provider keys that are copied from `.dev.vars` to the Worker. */
  providerKeys: readonly string[];
};

/**
 * Secrets that are generated: session ids are derived from MASTER_KEY, and SEALING_KEYS seal API
 * keys.
 */
export const GENERATED_SECRETS = ["MASTER_KEY", "SEALING_KEYS"] as const;
export type GeneratedSecret = (typeof GENERATED_SECRETS)[number];

/**
 * The remaining steps, in order. Existing resources are not created again, and no secret is
 * replaced. An existing Worker keeps the database and the bucket to which it is bound, so no
 * database or bucket is created for it. The upload, the migrations and the login run each time,
 * because an interrupted run may have left them unfinished.
 */
export function firstDeployPlan(
  { target, tenant, providerKeys }: Goal,
  inventory: Inventory,
): Step[] {
  const { worker, database, bucket } = target;
  const isNew = inventory.secrets === null;
  const lacksDatabase = isNew && !database.hasId && !inventory.databases.includes(database.name);
  const lacksBucket = isNew && !inventory.buckets.includes(bucket.name);
  const secrets = new Set<string>(inventory.secrets);
  return [
    ...(lacksDatabase ? [{ type: "create_database", name: database.name } as const] : []),
    ...(lacksBucket ? [{ type: "create_bucket", name: bucket.name } as const] : []),
    { type: "deploy", worker, hasNames: isNew },
    { type: "migrate" },
    ...GENERATED_SECRETS.filter((name) => !secrets.has(name)).map(
      (name): Step => ({ type: "put_secret", name, source: "generated" }),
    ),
    ...providerKeys
      .filter((name) => !secrets.has(name))
      .map((name): Step => ({ type: "put_secret", name, source: ".dev.vars" })),
    { type: "make_key", tenant },
    { type: "log_in" },
  ];
}

/** An account without any resource of the service. */
export const EMPTY_ACCOUNT: Inventory = { databases: [], buckets: [], secrets: null };

/** Describes a step, for the terminal. */
export function describeStep(step: Step): string {
  switch (step.type) {
    case "create_database":
      return `create the D1 database ${step.name}`;
    case "create_bucket":
      return `create the R2 bucket ${step.name}`;
    case "deploy":
      return `upload the Worker ${step.worker}`;
    case "migrate":
      return "bring the database up to date";
    case "put_secret":
      return step.source === "generated"
        ? `generate and set the secret ${step.name}`
        : `set the secret ${step.name} from ${step.source}`;
    case "make_key":
      return `create the first key of the service, an admin key for the tenant ${step.tenant}`;
    case "log_in":
      return "log the command line in";
  }
}

/** Describes the plan of a dry run. A dry run cannot know which resources exist. */
export const planInWords = (steps: readonly Step[]): string[] => [
  "A dry run changes nothing and needs no network. Without --dry-run, these steps follow:",
  ...steps.map((step, index) => `  ${index + 1}. ${describeStep(step)}`),
  "What exists already is not created again, and no secret is replaced.",
];

/** The keys that the default team needs. Where there are two names, one of them must be set. */
const DEFAULT_TEAM_KEYS = [
  ["OPENAI_API_KEY"],
  ["ANTHROPIC_API_KEY"],
  ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
];
const QUESTION = '"Which database suits a shop with 40 orders a day?"';

/** The commands that the user can run next, after a deployment whose Worker has these secrets. */
export function nextCommands(secrets: readonly string[]): string[] {
  if (DEFAULT_TEAM_KEYS.every((names) => names.some((name) => secrets.includes(name))))
    return [`npm run ask -- ${QUESTION}`];
  const ask = `npm run ask -- --config one-provider ${QUESTION}`;
  return secrets.includes("OPENAI_API_KEY")
    ? [ask]
    : ["npx wrangler secret put OPENAI_API_KEY", ask];
}
