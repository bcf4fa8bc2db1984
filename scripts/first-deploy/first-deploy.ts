import { ulid } from "ulid";
import { insertKey } from "../../d1/key-statements";
import { hashSecret, parseKey, SECRET_BYTES, toKey } from "../../src/tenancy/keys";
import { SEALING_KEY_BYTES, toSealingKey } from "../../src/tenancy/sealing";
import { rowsIn, statementArgs } from "../keys/run-statement";
import { type CheckPorts, confirmKey } from "./key-check";
import {
  describeStep,
  firstDeployPlan,
  type Inventory,
  type GeneratedSecret,
  type Step,
  type Goal,
} from "./plan";
import { RETRY_COMMAND, DeployProblem, explainFailure, alreadyExists } from "./problems";
import {
  addressIn,
  bucketsIn,
  databasesIn,
  isWorkerMissing,
  type Reply,
  secretsIn,
} from "./replies";
import type { SavedSecrets } from "./saved-secrets";

/** Everything outside the process that a first deployment uses. Tests replace it. */
export type DeployPorts = CheckPorts & {
  /** Runs wrangler. `input` is its stdin: secrets are passed there, never as arguments. */
  wrangler: (args: readonly string[], input?: string) => Promise<Reply>;
  /** Options of wrangler that select environment and configuration. */
  options: readonly string[];
  /** Writes a configuration that names the resources, and returns its path. */
  writeNamedConfig: () => Promise<string>;
  /** The copy of the generated secrets on this machine. */
  saved: { read: () => Promise<SavedSecrets>; write: (secrets: SavedSecrets) => Promise<void> };
  /** A provider key of `.dev.vars`. */
  providerKey: (name: string) => string;
  /** Stores the key of a service for the command line. */
  storeKey: (server: string, key: string) => Promise<void>;
  /** The stored key of a service; `null` if there is no such key. */
  storedKey: (server: string) => Promise<string | null>;
  random: (bytes: number) => Uint8Array;
  now: () => number;
};

export type Deployment = { server: string; secrets: string[]; isLoggedIn: boolean };

/**
 * Performs the remaining steps one after another. Throws `DeployProblem` for failures that the user
 * can repair. After a failure or an interruption, a later run continues with the unfinished steps.
 */
export async function firstDeploy(goal: Goal, ports: DeployPorts): Promise<Deployment> {
  const inventory = await takeInventory(ports);
  const run = new FirstDeploy(ports, goal.tenant);
  const steps = firstDeployPlan(goal, inventory);
  for (const [index, step] of steps.entries()) {
    ports.print(`${index + 1}/${steps.length} ${describeStep(step)}`);
    await run.perform(step);
  }
  const newSecrets = steps.flatMap((step) => (step.type === "put_secret" ? [step.name] : []));
  return { ...run.result(), secrets: [...(inventory.secrets ?? []), ...newSecrets] };
}

async function takeInventory(ports: DeployPorts): Promise<Inventory> {
  const databases = databasesIn(await runOrThrow(ports, ["d1", "list", "--json"]));
  const buckets = bucketsIn(await runOrThrow(ports, ["r2", "bucket", "list"]));
  const args = ["secret", "list", ...ports.options];
  const reply = await ports.wrangler(args);
  if (isWorkerMissing(reply)) return { databases, buckets, secrets: null };
  if (reply.code !== 0) throw explainFailure(args, reply);
  return { databases, buckets, secrets: secretsIn(reply) };
}

/** Runs wrangler with the options of `ports`. Throws `DeployProblem` if the command fails. */
async function runOrThrow(ports: DeployPorts, args: string[], input?: string): Promise<Reply> {
  const all = [...args, ...ports.options];
  const reply = await ports.wrangler(all, input);
  if (reply.code !== 0) throw explainFailure(all, reply);
  return reply;
}

/** The steps of one run, which share the service's address and the first key. */
class FirstDeploy {
  readonly #ports: DeployPorts;
  readonly #tenant: string;
  #server: string | null = null;
  /** The key that this run created or completed; `null` if the service had other valid keys. */
  #newKey: string | null = null;
  #isLoggedIn = false;

  constructor(ports: DeployPorts, tenant: string) {
    this.#ports = ports;
    this.#tenant = tenant;
  }

  result(): { server: string; isLoggedIn: boolean } {
    return { server: this.#address(), isLoggedIn: this.#isLoggedIn };
  }

  async perform(step: Step): Promise<void> {
    switch (step.type) {
      case "create_database":
        return this.#create(["d1", "create", step.name]);
      case "create_bucket":
        return this.#create(["r2", "bucket", "create", step.name]);
      case "deploy":
        return this.#deploy(step.hasNames);
      case "migrate":
        await runOrThrow(this.#ports, ["d1", "migrations", "apply", "DB", "--remote"]);
        return;
      case "put_secret":
        return this.#putSecret(step);
      case "make_key":
        return this.#makeKey();
      case "log_in":
        return this.#logIn();
    }
  }

  async #create(args: string[]): Promise<void> {
    const reply = await this.#ports.wrangler([...args, ...this.#ports.options]);
    if (reply.code !== 0 && !alreadyExists(reply)) throw explainFailure(args, reply);
  }

  async #deploy(hasNames: boolean): Promise<void> {
    const config = hasNames ? ["--config", await this.#ports.writeNamedConfig()] : [];
    const options = hasNames ? withoutConfig(this.#ports.options) : this.#ports.options;
    const args = ["deploy", ...config, ...options];
    const reply = await this.#ports.wrangler(args);
    if (reply.code !== 0) throw explainFailure(args, reply);
    this.#server = addressIn(reply);
    if (this.#server === null)
      throw new DeployProblem(
        `The Worker is deployed, but has no address. Set workers_dev = true or a route with custom_domain = true in wrangler.toml, then: ${RETRY_COMMAND}`,
      );
  }

  async #putSecret(step: Extract<Step, { type: "put_secret" }>): Promise<void> {
    const value =
      step.source === "generated"
        ? await this.#generatedSecret(step.name)
        : this.#ports.providerKey(step.name);
    await runOrThrow(this.#ports, ["secret", "put", step.name], value);
  }

  /** Returns the saved value. If there is none, generates a value and saves it. */
  async #generatedSecret(name: GeneratedSecret): Promise<string> {
    const saved = await this.#ports.saved.read();
    const savedValue = saved[name];
    if (savedValue !== undefined) return savedValue;
    const value =
      name === "MASTER_KEY"
        ? Buffer.from(this.#ports.random(MASTER_KEY_BYTES)).toString("base64")
        : toSealingKey(1, this.#ports.random(SEALING_KEY_BYTES));
    await this.#ports.saved.write({ ...saved, [name]: value });
    return value;
  }

  /**
   * Creates a key if the service has no valid key, or completes the creation of an interrupted run.
   * The database stores only the hash of the key.
   */
  async #makeKey(): Promise<void> {
    const saved = await this.#ports.saved.read();
    const now = this.#ports.now();
    if (saved.FIRST_KEY === undefined && (await this.#queryRows(selectValidKey(now))).length > 0) {
      this.#ports.print("    skipped: the service has keys already");
      return;
    }
    const key = saved.FIRST_KEY ?? this.#generateKey(now);
    if (saved.FIRST_KEY === undefined) await this.#ports.saved.write({ ...saved, FIRST_KEY: key });
    const parsed = parseKey(key);
    if (parsed === null) throw new DeployProblem("FIRST_KEY in .deployed/ is not a key.");
    const { id, secret } = parsed;
    const row = { id, tenant: this.#tenant, name: "first", scopes: "admin", now, expiresAt: null };
    const insert = insertKey({ ...row, secretHash: hashSecret(secret) });
    await this.#queryRows(`${insert} ON CONFLICT (id) DO NOTHING`);
    this.#newKey = key;
  }

  #generateKey(now: number): string {
    return toKey(ulid(now).toLowerCase(), this.#ports.random(SECRET_BYTES)).key;
  }

  async #queryRows(sql: string): Promise<Record<string, unknown>[]> {
    return rowsIn((await runOrThrow(this.#ports, statementArgs(sql, true))).stdout);
  }

  async #logIn(): Promise<void> {
    const server = this.#address();
    const key = this.#newKey ?? (await this.#ports.storedKey(server));
    if (key === null) {
      this.#ports.print("    skipped: no key of this service is stored on this machine");
      return;
    }
    await this.#ports.storeKey(server, key);
    const { FIRST_KEY, ...otherSecrets } = await this.#ports.saved.read();
    if (FIRST_KEY !== undefined) await this.#ports.saved.write(otherSecrets);
    this.#isLoggedIn = true;
    this.#ports.print(`    waiting for ${server}: a new address can take some minutes`);
    const checked = { server, key, isNew: this.#newKey !== null };
    await confirmKey(checked, this.#keyCommand(), this.#ports);
  }

  /** The command that creates another key of the tenant, in the same wrangler environment. */
  #keyCommand(): string {
    const { options } = this.#ports;
    const index = options.indexOf("--env");
    const environment = index < 0 ? "" : `CLOUDFLARE_ENV=${options[index + 1]} `;
    return `${environment}npm run keys -- create --tenant ${this.#tenant} --scopes admin --name first --remote`;
  }

  #address(): string {
    if (this.#server === null) throw new Error("the deploy step comes first");
    return this.#server;
  }
}

const MASTER_KEY_BYTES = 32;

const selectValidKey = (now: number): string =>
  `SELECT id FROM api_keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now}) LIMIT 1`;

/** Wrangler's options without the configuration's path, which the upload replaces. */
function withoutConfig(options: readonly string[]): string[] {
  return options.filter(
    (option, index) => option !== "--config" && options[index - 1] !== "--config",
  );
}
