import type { Reply } from "./replies";

/**
 * Simulates a Cloudflare account behind wrangler 4. Each command changes the account and replies
 * with recorded output, in which names and ids follow the arguments. The account supports the
 * commands of a first deployment, and throws for other commands.
 */
export class RecordedAccount {
  readonly databases = new Map<string, string>();
  readonly buckets = new Set<string>();
  /** Every `secret put` with the value, in order. */
  readonly puts: { name: string; value: string }[] = [];
  /** Hashes of the keys by their ids. */
  readonly keyRows = new Map<string, string>();
  /** Ids of the revoked keys. */
  readonly revokedKeys = new Set<string>();
  readonly calls: string[][] = [];
  /** The deployed Worker's bindings; `null` if there is no Worker. */
  worker: { database: string; bucket: string } | null = null;
  isMigrated = false;
  hasSubdomain = true;

  run(args: readonly string[], input = ""): Reply {
    this.calls.push([...args]);
    const command = args.filter((arg, index) => !isOption(arg) && !isOption(args[index - 1]));
    switch (command.slice(0, args[0] === "r2" || command[1] === "migrations" ? 3 : 2).join(" ")) {
      case "d1 list":
        return success(JSON.stringify(this.#listedDatabases(), null, 2));
      case "d1 create":
        return this.#createDatabase(command[2] ?? "");
      case "r2 bucket list":
        return success(`Listing buckets...\n${[...this.buckets].map(listedBucket).join("\n\n")}`);
      case "r2 bucket create":
        return this.#createBucket(command[3] ?? "");
      case "secret list":
        return this.#listSecrets();
      case "secret put":
        return this.#putSecret(command[2] ?? "", input);
      case "d1 migrations apply":
        return this.#migrate();
      case "d1 execute":
        return this.#execute(args[args.indexOf("--command") + 1] ?? "");
      default:
        if (args[0] === "deploy") return this.#deploy(args.includes(NAMED_CONFIG));
        throw new Error(`not recorded: wrangler ${args.join(" ")}`);
    }
  }

  #listedDatabases = () =>
    [...this.databases].map(([name, uuid]) => ({
      uuid,
      name,
      version: "production",
      created_at: "2026-11-26T00:00:00.000Z",
    }));

  #createDatabase(name: string): Reply {
    if (this.databases.has(name)) return failed("A database with that name already exists");
    this.databases.set(
      name,
      `0f9c0d5e-7a44-4a53-9d6c-${String(this.databases.size).padStart(12, "0")}`,
    );
    return success(
      `✅ Successfully created DB '${name}' in region WEUR\nCreated your new D1 database.\n\nTo access your new D1 Database in your Worker, add the following snippet to your configuration file:\n[[d1_databases]]\nbinding = "DB"\ndatabase_name = "${name}"\ndatabase_id = "${this.databases.get(name)}"`,
    );
  }

  #createBucket(name: string): Reply {
    if (this.buckets.has(name))
      return failed(
        `A request to the Cloudflare API (/accounts/${ACCOUNT}/r2/buckets) failed.\n\n  The bucket you tried to create already exists, and you own it. [code: 10004]`,
      );
    this.buckets.add(name);
    return success(
      `Creating bucket '${name}'...\n✅ Created bucket '${name}' with default storage class of Standard.`,
    );
  }

  #listSecrets(): Reply {
    if (this.worker === null)
      return failed(
        'Worker "massgen-edge" not found.\n\nIf this is a new Worker, run `wrangler deploy` first to create it.\nOtherwise, check that the Worker name is correct and you\'re logged into the right account.',
      );
    const names = [...new Set(this.puts.map(({ name }) => name))];
    return success(
      JSON.stringify(
        names.map((name) => ({ name, type: "secret_text" })),
        null,
        2,
      ),
    );
  }

  #putSecret(name: string, value: string): Reply {
    if (this.worker === null) throw new Error("wrangler would create a Worker without bindings");
    this.puts.push({ name, value });
    return success(
      `🌀 Creating the secret for the Worker "massgen-edge"\n✨ Success! Uploaded secret ${name}`,
    );
  }

  #deploy(isNamed: boolean): Reply {
    if (this.worker === null) {
      const [database, bucket] = ["massgen-edge-db", "massgen-edge-bucket"];
      if (!isNamed && this.databases.has(database))
        return failed("A database with that name already exists");
      this.#createDatabase(database);
      this.#createBucket(bucket);
      this.worker = { database, bucket };
    }
    if (!this.hasSubdomain)
      return failed(
        `You can either deploy your worker to one or more routes by specifying them in your wrangler.toml file, or register a workers.dev subdomain here:\nhttps://dash.cloudflare.com/${ACCOUNT}/workers/onboarding`,
      );
    return success(
      `Total Upload: 3021.10 KiB / gzip: 702.18 KiB\nUploaded massgen-edge (4.21 sec)\nDeployed massgen-edge triggers (1.02 sec)\n  ${SERVER}\n  schedule: 0 6 * * MON\n  schedule: 23 3 * * *\nCurrent Version ID: 4ed7c7bd-4c35-4f2c-8a4a-3a1ad1a8d001`,
    );
  }

  #migrate(): Reply {
    const isMissing = this.worker === null || !this.databases.has(this.worker.database);
    if (isMissing)
      return failed(
        "Couldn't find an auto-provisioned D1 DB named 'massgen-edge-db' for binding 'DB'. Run 'wrangler deploy' to provision it, or add 'database_name' / 'database_id' to your config.",
      );
    if (this.isMigrated) return success("Resource location: remote\n\n✅ No migrations to apply!");
    this.isMigrated = true;
    return success("Resource location: remote\n\nMigrations to be applied:\n┌──────────────────┐");
  }

  #execute(sql: string): Reply {
    if (!this.isMigrated) return failed("no such table: api_keys: SQLITE_ERROR [code: 7500]");
    const [, id = "", hash = ""] =
      /^INSERT INTO api_keys .* VALUES \('(\w{26})', '\w+', 'first', '(\w{64})'/.exec(sql) ?? [];
    if (id !== "" && !this.keyRows.has(id)) this.keyRows.set(id, hash);
    const validIds = [...this.keyRows.keys()].filter((keyId) => !this.revokedKeys.has(keyId));
    const results = sql.startsWith("SELECT") ? validIds.map((keyId) => ({ id: keyId })) : [];
    return success(JSON.stringify([{ results, success: true, meta: { duration: 0.2 } }], null, 2));
  }
}

const ACCOUNT = "a".repeat(32);
export const SERVER = "https://massgen-edge.acme.workers.dev";
export const NAMED_CONFIG = ".first-deploy.toml";

const isOption = (arg = ""): boolean =>
  arg.startsWith("--") && arg !== "--remote" && arg !== "--json";

const listedBucket = (name: string): string =>
  `name:           ${name}\ncreation_date:  2026-11-26T00:00:00.000Z`;

const success = (stdout: string): Reply => ({ code: 0, stdout: `${stdout}\n`, stderr: "" });

/** The reply of a failed command. Wrangler prints the message to stderr, after `✘ [ERROR]`. */
export const failed = (message: string): Reply => ({
  code: 1,
  stdout: "",
  stderr: `\n✘ [ERROR] ${message}\n\n`,
});
