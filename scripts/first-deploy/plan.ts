import type { Target } from "./target";

/** What the account has already, as wrangler reports it. */
export type Inventory = {
  /** Names of the D1 databases. */
  databases: readonly string[];
  buckets: readonly string[];
  /** Names of the Worker's secrets; `null` if there is no Worker yet. */
  secrets: readonly string[] | null;
};

/**
 * One step of a first deployment. A step may run twice with the same result, because a run that
 * was interrupted is repeated from the start.
 */
export type Step =
  | { type: "create_database"; name: string }
  | { type: "create_bucket"; name: string }
  /** `named`: the upload names the resources, because the Worker has no bindings to inherit. */
  | { type: "deploy"; worker: string; named: boolean }
  | { type: "migrate" }
  | { type: "put_secret"; name: GeneratedSecret; source: "generated" }
  | { type: "put_secret"; name: string; source: ".dev.vars" }
  | { type: "make_key"; tenant: string }
  | { type: "log_in" };

export type Goal = {
  target: Target;
  tenant: string;
  /** Names of the provider keys in `.dev.vars` that the Worker is to get. */
  providerKeys: readonly string[];
};

/** Secrets that are generated: session ids are derived from the first, the second seals keys. */
export const GENERATED = ["MASTER_KEY", "SEALING_KEYS"] as const;
export type GeneratedSecret = (typeof GENERATED)[number];

/**
 * The steps that are left, in order. Nothing that exists is created again, and no secret is
 * replaced. An existing Worker keeps the database and the bucket that it is bound to, so none is
 * created for it. The upload, the migrations and the login run each time: an interrupted run may
 * have left any of them unfinished.
 */
export function firstDeployPlan({ target, tenant, providerKeys }: Goal, found: Inventory): Step[] {
  const { worker, database, bucket } = target;
  const isNew = found.secrets === null;
  const lacksDatabase = isNew && !database.hasId && !found.databases.includes(database.name);
  const lacksBucket = isNew && !found.buckets.includes(bucket.name);
  const secrets = new Set<string>(found.secrets);
  return [
    ...(lacksDatabase ? [{ type: "create_database", name: database.name } as const] : []),
    ...(lacksBucket ? [{ type: "create_bucket", name: bucket.name } as const] : []),
    { type: "deploy", worker, named: isNew },
    { type: "migrate" },
    ...GENERATED.filter((name) => !secrets.has(name)).map(
      (name): Step => ({ type: "put_secret", name, source: "generated" }),
    ),
    ...providerKeys
      .filter((name) => !secrets.has(name))
      .map((name): Step => ({ type: "put_secret", name, source: ".dev.vars" })),
    { type: "make_key", tenant },
    { type: "log_in" },
  ];
}

/** The plan for an account that has nothing yet. */
export const EMPTY_ACCOUNT: Inventory = { databases: [], buckets: [], secrets: null };

/** A step in words, for the terminal. */
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

/** The plan in words, for a dry run, which cannot know what exists. */
export const planInWords = (steps: readonly Step[]): string[] => [
  "A dry run changes nothing and needs no network. Without --dry-run, these steps follow:",
  ...steps.map((step, index) => `  ${index + 1}. ${describeStep(step)}`),
  "What exists already is not created again, and no secret is replaced.",
];

/** Keys of the team that is asked by default. */
const DEFAULT_TEAM = [
  ["OPENAI_API_KEY"],
  ["ANTHROPIC_API_KEY"],
  ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
];
const QUESTION = '"Which database suits a shop with 40 orders a day?"';

/** The commands that follow a deployment whose Worker has these secrets. */
export function nextCommands(secrets: readonly string[]): string[] {
  if (DEFAULT_TEAM.every((names) => names.some((name) => secrets.includes(name))))
    return [`npm run ask -- ${QUESTION}`];
  const ask = `npm run ask -- --config one-provider ${QUESTION}`;
  return secrets.includes("OPENAI_API_KEY")
    ? [ask]
    : ["npx wrangler secret put OPENAI_API_KEY", ask];
}
