import { isMap, isSeq, parseDocument, type YAMLMap } from "yaml";
import * as z from "zod";
import { sha256 } from "../../local/sha256";
import { planBridge } from "../../local/bridge/plan";
import type { Script } from "../../simulated/providers/reply";
import type { SimulatedProviders } from "../../simulated/providers/server";
import { HOSTED_KEYS } from "../../src/config/hosted-tools";
import type { AskedQuestion } from "../../src/protocol/api";
import type { HostedToolName } from "../../src/protocol/hosted-tools";
import { BACKEND_TYPES, findHost } from "../../src/providers/registry";
import { questionTo } from "../../tests/config/sample-question";
import { EXAMPLES, readSample, withContextsNamed } from "../../tests/config/samples";

/**
 * A sample prepared for a run. Simulated servers replace its models and tool servers, and the name
 * of an upload replaces its local paths. All else is unchanged.
 */
export type PreparedSample = {
  yaml: string;
  question: AskedQuestion;
  /** For each attached file, the start of its hash, in the form that simulated providers record. */
  attachmentHashes: string[];
  agents: PreparedAgent[];
  /** Whether the sample names files that must be pushed first. */
  hasContext: boolean;
};

export type PreparedAgent = {
  id: string;
  model: string;
  /** The API key that identifies the agent's requests. */
  key: string;
  systemMessage: string;
  /** Full tool names, one for each kind of tool that the agent's config offers. */
  tools: string[];
  hosted: HostedToolName[];
  /** Names of the agent's tool servers. */
  serverNames: string[];
  hasFiles: boolean;
};

type SimulatedServers = {
  providers: Pick<SimulatedProviders, "baseUrlAs">;
  /** Address of the tool server that replaces all others. */
  toolsUrl: string;
};

const ServerSchema = z.looseObject({ name: z.string().optional() });
const AgentSchema = z.looseObject({
  id: z.string(),
  system_message: z.string().default(""),
  backend: z.looseObject({
    model: z.string(),
    cwd: z.string().optional(),
    enable_mcp_command_line: z.boolean().default(false),
    mcp_servers: z.union([z.array(ServerSchema), z.record(z.string(), ServerSchema)]).default([]),
  }),
});

/** Reads a sample, collects its attachments, and replaces its models and tool servers. */
export async function prepareSample(
  name: string,
  { providers, toolsUrl }: SimulatedServers,
): Promise<PreparedSample> {
  const { yaml, question, attachments } = await questionTo(readSample(name), EXAMPLES);
  const namedYaml = withContextsNamed(yaml);
  const { config, programs, problems } = planBridge(namedYaml, {
    host: "127.0.0.1",
    port: 8_765,
    urls: new Map(),
    variables: { NOTION_TOKEN_ONE: "one", NOTION_TOKEN_TWO: "two" },
    directory: EXAMPLES,
  });
  if (problems.length > 0) throw new Error(problems.join("\n"));
  const bridged = programs.reduce((text, { url }) => text.replaceAll(url, toolsUrl), config);
  const document = parseDocument(programs.length > 0 ? bridged : namedYaml);
  const agents = agentsIn(document.contents).map((agent, nth) => {
    const key = `sample-${sha256(`${name} ${nth}`).slice(0, 16)}`;
    const backend = agent.get("backend");
    if (!isMap(backend)) throw new Error(`${name} has an agent without a backend`);
    backend.set("base_url", addressOf(backend, providers));
    backend.set("api_key", key);
    return toPreparedAgent(agent.toJS(document), key);
  });
  return {
    yaml: document.toString({ lineWidth: 0 }),
    question,
    attachmentHashes: attachments.flatMap((attachment) =>
      "bytes" in attachment ? [sha256(attachment.bytes).slice(0, 12)] : [],
    ),
    agents,
    hasContext: document.hasIn(["orchestrator", "context_paths"]),
  };
}

function agentsIn(root: unknown): YAMLMap[] {
  if (!isMap(root)) return [];
  const agents = root.get("agents");
  return (isSeq(agents) ? agents.items : [root.get("agent")]).filter((agent) => isMap(agent));
}

/** The address at which the simulated providers act as this backend's host. */
function addressOf(backend: YAMLMap, providers: SimulatedServers["providers"]): string {
  const type = String(backend.get("type"));
  const backendType = BACKEND_TYPES[type];
  if (!backendType?.served) throw new Error(`${type} is not supported`);
  const host = backendType.host ?? findHost(String(backend.get("base_url"))).id;
  return providers.baseUrlAs(host, backendType.format);
}

function toPreparedAgent(agentConfig: unknown, key: string): PreparedAgent {
  const { id, system_message, backend } = AgentSchema.parse(agentConfig);
  const { model, cwd, enable_mcp_command_line: hasShell, mcp_servers } = backend;
  const serverNames = Array.isArray(mcp_servers)
    ? mcp_servers.map(({ name }) => name ?? "")
    : Object.keys(mcp_servers);
  const hasFiles = cwd !== undefined || hasShell;
  return {
    id,
    model,
    key,
    systemMessage: system_message,
    tools: [
      ...(hasFiles ? ["write_file", "read_file"] : []),
      ...(hasShell ? ["run_command"] : []),
      ...serverNames.map((server) => `mcp__${server}__echo`),
    ],
    hosted: HOSTED_KEYS.flatMap(([name, tool]) => (backend[name] === true ? [tool] : [])),
    serverNames,
    hasFiles,
  };
}

/** Maps the name of every model in these samples to the script. */
export function modelsOfSamples(names: readonly string[], script: Script): Record<string, Script> {
  const models = names.flatMap((name) => {
    const document = parseDocument(readSample(name));
    return agentsIn(document.contents).map((agent) => agent.getIn(["backend", "model"]));
  });
  return Object.fromEntries(models.map((model) => [String(model), script]));
}
