import type { Bucket } from "../r2-layout/bucket";
import type { SandboxClient } from "./tools/shell";
import type { EvalRunApi } from "../durable-objects/eval-run/eval-run-api";
import type { RateGateApi } from "../durable-objects/rate-gate/rate-gate-api";
import type { RelayApi } from "../durable-objects/relay/relay-api";
import type { SessionObjectApi } from "../durable-objects/session/session-api";
import type { TenantApi } from "../durable-objects/tenant/tenant-api";

/** Objects by their interfaces: their classes are known only where they are exported. */
type Namespace<Api> = DurableObjectNamespace<Api & Rpc.DurableObjectBranded>;

/** Bindings of the Worker and its objects. Provider keys are further secrets, read by name only. */
export type Env = {
  SESSIONS: Namespace<SessionObjectApi>;
  TENANTS: Namespace<TenantApi>;
  EVALS: Namespace<EvalRunApi>;
  RATES: Namespace<RateGateApi>;
  RELAYS: Namespace<RelayApi>;
  /** The tenant of scheduled evaluations; omitted: none run. */
  EVAL_TENANT?: string;
  BUCKET: Bucket;
  DB: D1Database;
  /**
   * Session ids and object names are derived from this random text. Required if others can reach
   * the service. Do not change it: existing sessions become unreachable.
   */
  MASTER_KEY?: string;
  /** `2:<32 bytes in base64>,1:<…>`: the first seals callers' keys, all can open them. */
  SEALING_KEYS?: string;
  /** Default limits of a tenant: concurrent turns, dollars per day; numbers, 0 for no limit. */
  TENANT_CONCURRENT_TURNS?: string;
  TENANT_USD_PER_DAY?: string;
  /** Default storage limit of a tenant in bytes; 0 for no limit. */
  TENANT_STORED_BYTES?: string;
  /** The deployed version, set by the platform. */
  VERSION?: WorkerVersionMetadata;
  /** Rate limit per key, set in wrangler.toml. */
  RATE_LIMITER?: RateLimit;
  /** Rate limit of all keys of a tenant together. */
  TENANT_RATE_LIMITER?: RateLimit;
  /** Origins that configs may use although they are not public https, separated by commas. */
  ALLOWED_ORIGINS?: string;
  /**
   * Exact origins for tools, tool servers and their issuers although they are not public https,
   * separated by commas.
   */
  ALLOWED_TOOL_ORIGINS?: string;
  /**
   * Origins of this service besides that of a request, separated by commas. Teams must not call
   * them.
   */
  SERVICE_ORIGINS?: string;
  /**
   * The operator's secrets for tool servers with their bindings: `NAME=https://api.example.com`,
   * `NAME@tenant=GET https://…/v1`; separated by commas.
   */
  TOOL_SECRETS?: string;
  /** Addresses below which HTTP tools may be called twice, separated by commas. */
  REPEATABLE_TOOLS?: string;
  /**
   * Trust in tool servers' tools: `read_only https://host/mcp#search_*`, `idempotent
   * https://host/mcp#put`, separated by commas.
   */
  MCP_SAFE_TOOLS?: string;
  /**
   * Containers for agents' commands (`@cloudflare/sandbox`). Omitted: commands run in the service's
   * own shell.
   */
  SANDBOX?: Namespace<SandboxClient>;
  /** `none`: the containers have no network, so that a command may run twice. */
  SANDBOX_NETWORK?: string;
  /**
   * Memory and processors of a container by its `instance_type`: configs that require a lower limit
   * are refused.
   */
  SANDBOX_MEMORY_MB?: string;
  SANDBOX_CPUS?: string;
  /** Creates workers for agents' JavaScript, if `JAVASCRIPT` is `on`. Omitted: none runs. */
  LOADER?: WorkerLoader;
  /** `on`: agents with a shell may run JavaScript, if `LOADER` is bound. */
  JAVASCRIPT?: string;
  /** Maximum concurrent readers of one session's streams; a number. */
  MAX_READERS?: string;
  /**
   * `on`: replies are written in the background if the provider can, so that a restart does not pay
   * twice.
   */
  BACKGROUND_REPLIES?: string;
  /**
   * `loopback`: everyone who reaches the service on this machine may use it. For development only.
   */
  OPEN_ACCESS?: string;
};

/** The operator's values of these variables, by name. */
export const readVariables = (
  env: object,
  names: readonly string[],
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = readSecret(env, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );

/**
 * A secret or variable by name; `undefined` if missing, blank or not a text. Trimmed: a pasted key
 * may have spaces, which a header loses. Redaction must know the key as the provider would repeat
 * it.
 */
export function readSecret(env: object, name: string): string | undefined {
  const found: unknown = Object.hasOwn(env, name) ? Reflect.get(env, name) : undefined;
  return (typeof found === "string" && found.trim()) || undefined;
}
