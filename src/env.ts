import type { Bucket } from "../r2-layout/bucket";
import type { SandboxClient } from "./tools/shell";
import type { EvalRunApi } from "../durable-objects/eval-run/eval-run-api";
import type { RateGateApi } from "../durable-objects/rate-gate/rate-gate-api";
import type { SessionObjectApi } from "../durable-objects/session/session-api";
import type { TenantApi } from "../durable-objects/tenant/tenant-api";

/** Objects by what they can be asked: their classes are known only where they are exported. */
type Namespace<Api> = DurableObjectNamespace<Api & Rpc.DurableObjectBranded>;

/** What the deployment gives the Worker and its objects. Provider keys are further secrets, read by name only. */
export type Env = {
  SESSIONS: Namespace<SessionObjectApi>;
  TENANTS: Namespace<TenantApi>;
  EVALS: Namespace<EvalRunApi>;
  RATES: Namespace<RateGateApi>;
  /** The tenant whose evaluations run by cron; absent: none run. */
  EVAL_TENANT?: string;
  BUCKET: Bucket;
  DB: D1Database;
  /** Random text from which the names of sessions' objects are made. Required wherever others can reach the service; never to be changed. */
  MASTER_KEY?: string;
  /** `2:<32 bytes in base64>,1:<…>`: the first seals the keys that callers write into their configs, all of them open. */
  SEALING_KEYS?: string;
  /** What a tenant may use that has no limits of its own: turns at a time, dollars a day; numbers, 0 for no limit. */
  TENANT_CONCURRENT_TURNS?: string;
  TENANT_USD_PER_DAY?: string;
  /** Bytes that a tenant may store that has no limit of its own; a number, 0 for no limit. */
  TENANT_STORED_BYTES?: string;
  /** Which deployment this is, as the platform tells it. */
  VERSION?: WorkerVersionMetadata;
  /** Requests of one key, as wrangler.toml limits them. */
  RATE_LIMITER?: RateLimit;
  /** Requests of all keys of one tenant together. */
  TENANT_RATE_LIMITER?: RateLimit;
  /** Origins that configs may name although they are not public https, separated by commas. */
  ALLOWED_ORIGINS?: string;
  /** Exact origins that tools, tool servers and their issuers may have although they are not public https, separated by commas. */
  ALLOWED_TOOL_ORIGINS?: string;
  /** Origins of this service itself beside the one a request names, separated by commas: no team may ask them. */
  SERVICE_ORIGINS?: string;
  /** The operator's secrets for tool servers, and where each goes: `NAME=https://api.example.com`, `NAME@tenant=GET https://…/v1`; separated by commas. */
  TOOL_SECRETS?: string;
  /** Addresses of tools over HTTP that may be called twice, with all that lies below them, separated by commas. */
  REPEATABLE_TOOLS?: string;
  /** What is known of tool servers' tools: `read_only https://host/mcp#search_*`, `idempotent https://host/mcp#put`, separated by commas. */
  MCP_SAFE_TOOLS?: string;
  /** Containers for agents' commands, as `@cloudflare/sandbox` has them; absent: commands run in the service's own shell. */
  SANDBOX?: Namespace<SandboxClient>;
  /** `none`: these containers reach no network, so that a command may run twice. */
  SANDBOX_NETWORK?: string;
  /** Most memory and processors that one of them has, as its `instance_type` says: configs that ask for less are refused. */
  SANDBOX_MEMORY_MB?: string;
  SANDBOX_CPUS?: string;
  /** Makes workers of agents' JavaScript, which is run only where `JAVASCRIPT` says so; absent: none is. */
  LOADER?: WorkerLoader;
  /** `on`: agents with a shell may have JavaScript run, where `LOADER` is bound. */
  JAVASCRIPT?: string;
  /** Readers of one session's streams at a time; a number. */
  MAX_READERS?: string;
  /** `on`: replies are written in the background where a provider can, so that a restart does not pay for them twice. */
  BACKGROUND_REPLIES?: string;
  /** `loopback`: whoever reaches the service on this machine may use it. For development only. */
  OPEN_ACCESS?: string;
};

/** What the operator has set of these variables, by name. */
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
 * A secret or variable by name; undefined where it is missing, blank or not a text. Without the space around it, which a pasted key
 * brings along and a header loses: what a provider says back is the bare key, and that is what must be known to be hidden.
 */
export function readSecret(env: object, name: string): string | undefined {
  const found = Object.entries(env).find(([key]) => key === name)?.[1];
  return (typeof found === "string" && found.trim()) || undefined;
}
