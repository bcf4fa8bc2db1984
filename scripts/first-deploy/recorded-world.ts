import { createHash } from "node:crypto";
import { parseKey } from "../../src/tenancy/keys";
import { type Deployment, type DeployPorts, firstDeploy } from "./first-deploy";
import type { KeyCheck } from "./key-check";
import type { Goal } from "./plan";
import { DeployProblem } from "./problems";
import { NAMED_CONFIG, RecordedAccount, SERVER } from "./recorded-account";
import type { Reply } from "./replies";
import type { SavedSecrets } from "./saved-secrets";
import { targetOf } from "./target";

const CONFIG = {
  name: "massgen-edge",
  d1_databases: [{ binding: "DB" }],
  r2_buckets: [{ binding: "BUCKET" }],
};
export const PROVIDER_KEY = "sk-provider-0123456789";
export const GOAL: Goal = {
  target: targetOf(CONFIG),
  tenant: "main",
  providerKeys: ["OPENAI_API_KEY"],
};

/**
 * Ends a run like a killed process: at a call of a port, before or after the effect of the call.
 */
export class Interruption extends Error {}
/** `call` is the number of the call of a port, counted from 0. */
export type InterruptionPoint = { call: number; phase: "before" | "after" };

/** This machine and an account. Both keep their state after an interrupted run. */
export class World {
  readonly account = new RecordedAccount();
  saved: SavedSecrets = {};
  /** The command line's keys, by server. */
  readonly storedKeys = new Map<string, string>();
  readonly printed: string[] = [];
  /** Replies that replace replies of the account, by the beginning of the command. */
  readonly replacedReplies = new Map<string, Reply>();
  /** Responses of the service to the first checks of a key. Later responses depend on the key. */
  checks: KeyCheck[] = [];
  /** Waits between checks, in milliseconds. */
  readonly waits: number[] = [];
  /** Options of wrangler that every run passes. */
  options = ["--config", "wrangler.toml"];
  portCalls = 0;
  #random = 0;

  async run(goal: Goal = GOAL, interruption: InterruptionPoint | null = null): Promise<Deployment> {
    this.portCalls = 0;
    return firstDeploy(goal, this.#ports(interruption));
  }

  /** Runs to the end and returns the problem's message; "" if there is none. */
  async problem(): Promise<string> {
    try {
      await this.run();
      return "";
    } catch (error) {
      if (error instanceof DeployProblem) return error.message;
      throw error;
    }
  }

  #ports(interruption: InterruptionPoint | null): DeployPorts {
    /**
     * Effects are synchronous, so an interruption is before or after an effect, never during it.
     */
    const step = async <Value>(effect: () => Value): Promise<Value> => {
      const isInterrupted = interruption?.call === this.portCalls;
      this.portCalls += 1;
      if (isInterrupted && interruption?.phase === "before") throw new Interruption();
      const value = effect();
      if (isInterrupted) throw new Interruption();
      return value;
    };
    return {
      wrangler: (args, input) => step(() => this.#wrangler(args, input)),
      options: this.options,
      writeNamedConfig: () => step(() => NAMED_CONFIG),
      saved: {
        read: () => step(() => ({ ...this.saved })),
        write: (secrets) =>
          step(() => {
            this.saved = { ...secrets };
          }),
      },
      providerKey: () => PROVIDER_KEY,
      storeKey: (server, key) => step(() => void this.storedKeys.set(server, key)),
      storedKey: (server) => step(() => this.storedKeys.get(server) ?? null),
      checkKey: (_, key) => step(() => this.checks.shift() ?? this.#checkOf(key)),
      wait: async (ms) => void this.waits.push(ms),
      random: (bytes) => {
        this.#random += 1;
        return new Uint8Array(bytes).fill(this.#random);
      },
      now: () => 1_764_115_200_000 + this.#random,
      print: (line) => void this.printed.push(line),
    };
  }

  #wrangler(args: readonly string[], input?: string): Reply {
    const [, reply] =
      [...this.replacedReplies].find(([start]) => args.join(" ").startsWith(start)) ?? [];
    return reply ?? this.account.run(args, input);
  }

  #checkOf = (key: string): KeyCheck => ({ type: this.isKeyKnown(key) ? "accepted" : "refused" });

  isKeyKnown(key: string): boolean {
    const { id = "", secret = "" } = parseKey(key) ?? {};
    const { keyRows, revokedKeys } = this.account;
    const hash = createHash("sha256").update(secret).digest("hex");
    return keyRows.get(id) === hash && !revokedKeys.has(id);
  }

  /** Revokes the key that is stored on this machine. */
  revokeStoredKey(): void {
    this.account.revokedKeys.add(parseKey(this.storedKeys.get(SERVER) ?? "")?.id ?? "");
  }
}
