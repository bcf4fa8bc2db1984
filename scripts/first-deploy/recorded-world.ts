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

/** Ends a run as a kill would: at a call of a port, before or after its effect. */
export class Cut extends Error {}
export type CutPoint = { call: number; phase: "before" | "after" };

/** This machine and an account. Both outlive a run that is cut. */
export class World {
  readonly account = new RecordedAccount();
  saved: SavedSecrets = {};
  readonly stored = new Map<string, string>();
  readonly said: string[] = [];
  /** Replies that replace those of the account, by the start of the command. */
  readonly failing = new Map<string, Reply>();
  /** Responses of the service to checks of the key, before those that depend on the key. */
  checks: KeyCheck[] = [];
  /** Waits between checks, in milliseconds. */
  readonly waits: number[] = [];
  /** Wrangler's options of a run. */
  options = ["--config", "wrangler.toml"];
  portCalls = 0;
  #random = 0;

  async run(goal: Goal = GOAL, cut: CutPoint | null = null): Promise<Deployment> {
    this.portCalls = 0;
    return firstDeploy(goal, this.#ports(cut));
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

  #ports(cut: CutPoint | null): DeployPorts {
    /** Effects are synchronous, so a cut is before or after one, never inside. */
    const step = async <Value>(effect: () => Value): Promise<Value> => {
      const isCut = cut?.call === this.portCalls;
      this.portCalls += 1;
      if (isCut && cut?.phase === "before") throw new Cut();
      const value = effect();
      if (isCut) throw new Cut();
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
      storeKey: (server, key) => step(() => void this.stored.set(server, key)),
      storedKey: (server) => step(() => this.stored.get(server) ?? null),
      checkKey: (_, key) => step(() => this.checks.shift() ?? this.#checkOf(key)),
      wait: async (ms) => void this.waits.push(ms),
      random: (bytes) => {
        this.#random += 1;
        return new Uint8Array(bytes).fill(this.#random);
      },
      now: () => 1_764_115_200_000 + this.#random,
      say: (line) => void this.said.push(line),
    };
  }

  #wrangler(args: readonly string[], input?: string): Reply {
    const [, reply] = [...this.failing].find(([start]) => args.join(" ").startsWith(start)) ?? [];
    return reply ?? this.account.run(args, input);
  }

  #checkOf = (key: string): KeyCheck => ({ type: this.keyIsKnown(key) ? "accepted" : "refused" });

  keyIsKnown(key: string): boolean {
    const { id = "", secret = "" } = parseKey(key) ?? {};
    const { keyRows, revoked } = this.account;
    const hash = createHash("sha256").update(secret).digest("hex");
    return keyRows.get(id) === hash && !revoked.has(id);
  }

  /** Revokes the key that is stored on this machine. */
  revokeStoredKey(): void {
    this.account.revoked.add(parseKey(this.stored.get(SERVER) ?? "")?.id ?? "");
  }
}
