import type { Env } from "../../src/env";

/** The variables of the service that are texts. */
type SettingName = {
  [Name in keyof Env]-?: NonNullable<Env[Name]> extends string ? Name : never;
}[keyof Env];
type BindingName = "SANDBOX" | "LOADER";

/**
 * The meaning of each setting of the service. A new setting does not compile until it has a
 * meaning.
 */
export const SETTING_MEANINGS: Readonly<Record<SettingName, string>> = {
  OPEN_ACCESS:
    "`loopback`: requests to a loopback name need no key. For development only: never set it in a deployment.",
  MASTER_KEY:
    "A secret. Session ids are derived from it. Do not change it: existing sessions become unreachable.",
  SEALING_KEYS:
    "A secret that encrypts the keys in configs: `2:<32 bytes in base64>,1:<…>`. The first version encrypts; all versions decrypt.",
  ALLOWED_ORIGINS:
    "Origins that a config may name as `base_url` although they are not public https, separated by commas. Loopback origins may have `*` as port.",
  ALLOWED_TOOL_ORIGINS:
    "The same for tools over HTTP, MCP servers and their issuers. Exact origins only, without `*`.",
  SERVICE_ORIGINS:
    "Further origins of this service, which no team may call. `npm start` sets its own.",
  TOOL_SECRETS:
    "Secrets that tools may use as `${NAME}`, and where each may be sent. `NAME=https://api.example.com` serves every tenant. `NAME@acme=GET+POST https://api.example.com/v1` serves one tenant, for these methods and this path. Separated by commas.",
  REPEATABLE_TOOLS:
    "Addresses of tools over HTTP whose calls may be repeated, with all paths below them. Separated by commas.",
  MCP_SAFE_TOOLS:
    "Properties of MCP tools: `read_only https://host/mcp#search_*` changes nothing, calls of `idempotent https://host/mcp#put` may be repeated. Separated by commas.",
  SANDBOX_NETWORK:
    "`none`: the containers bound as `SANDBOX` have no network. Their commands then run in planning mode and may be repeated after a restart.",
  SANDBOX_MEMORY_MB: "Memory of one container. A config that asks for a lower limit is refused.",
  SANDBOX_CPUS: "CPUs of one container. A config that asks for fewer is refused.",
  JAVASCRIPT:
    "`on`: agents with a shell may run JavaScript, each call in a new worker without network, keys or files. Needs the binding `LOADER`.",
  MAX_READERS: "Maximum readers of the streams of one session at a time.",
  EVAL_TENANT: "Tenant that pays for evaluations started by cron. Empty: none run.",
  TENANT_CONCURRENT_TURNS:
    "Maximum turns at a time of a tenant without its own limits. `0`: no limit. Empty: 20 for tenants with keys, no limit for open local access.",
  TENANT_USD_PER_DAY:
    "Daily budget in US dollars (UTC) of a tenant without its own limits. `0` or empty: no limit.",
  TENANT_STORED_BYTES:
    "Maximum stored bytes of a tenant without its own limits. Empty: 10 GB. `0`: no limit.",
  BACKGROUND_REPLIES:
    "`on`: after a restart the service resumes OpenAI's replies and does not pay for them again. OpenAI then stores replies for some time.",
};

/** Bindings that an operator may add. */
export const BINDING_MEANINGS: Readonly<Record<BindingName, string>> = {
  SANDBOX:
    "Containers for agents' commands, one per agent, in place of the built-in shell. The Worker in `sandbox/` provides them. They are destroyed with the session.",
  LOADER:
    "Starts workers at run time (`[[worker_loaders]]`, commented out in `wrangler.toml`). `JAVASCRIPT` needs it. Cloudflare offers it to paid accounts.",
};

/** Variables that backend types read. */
export const PROVIDER_MEANINGS: Readonly<Record<string, string>> = {
  AZURE_OPENAI_ENDPOINT: "Address of `type: azure_openai`.",
  AZURE_OPENAI_API_VERSION: "Version of the Azure API.",
  CLOUDFLARE_ACCOUNT_ID: "Account whose models `type: workers_ai` calls.",
  VLLM_BASE_URL: "Address of `type: vllm`. It may be private.",
  SGLANG_BASE_URL: "Address of `type: sglang`. It may be private.",
};
