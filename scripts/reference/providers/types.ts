import { type HostedToolName, HostedToolNameSchema } from "../../../src/protocol/hosted-tools";
import { FORMAT_NAMES } from "../../../src/providers/format-params";
import type { Host, HostedToolFacts } from "../../../src/providers/host";
import { HOSTS } from "../../../src/providers/hosts";
import { MODEL_GROUPS } from "../../../src/providers/model-rows";
import {
  BACKEND_TYPES,
  type Format,
  type ServedType,
  typesWithTool,
} from "../../../src/providers/registry";
import { code, codes, grouped, sentence, table, usd } from "../markdown";

const HOSTED_TOOLS = HostedToolNameSchema.options;

/**
 * The config key of each hosted tool. Code execution also has a second key, which is not listed.
 */
const HOSTED_KEYS: Readonly<Record<HostedToolName, string>> = {
  web_search: "enable_web_search",
  x_search: "enable_x_search",
  code_execution: "enable_code_execution",
};

/** The table of supported backend types and their features. */
export function typesTable(): string {
  const header = [
    "`type`",
    "Provider",
    "Wire format",
    "Default `base_url`",
    "Key",
    "Default model",
    "Hosted tools",
  ];
  const rows = Object.entries(BACKEND_TYPES).flatMap(([type, facts]) =>
    facts.served ? [typeRow(type, facts)] : [],
  );
  return table([...header, "Resumes after a restart"], rows);
}

function typeRow(type: string, facts: ServedType): string[] {
  const host = HOSTS.find(({ id }) => id === facts.host);
  const hosted = HOSTED_TOOLS.filter((tool) => typesWithTool(tool).includes(type));
  return [
    code(type),
    facts.name,
    formats(facts),
    address(facts),
    host ? keys(host) : "key of the address",
    facts.model === null ? "required" : code(facts.model),
    hosted.map((tool) => tool.replaceAll("_", " ")).join(", "),
    host?.background ? "with `BACKGROUND_REPLIES`" : "",
  ];
}

const formatName = (format: Format): string => FORMAT_NAMES[format].replace(/^the /, "");

function formats({ format, apis = {} }: ServedType): string {
  const others = Object.entries(apis).filter(([, other]) => other !== format);
  return [
    formatName(format),
    ...others.map(([api, other]) => `with ${code(`api: ${api}`)} ${formatName(other)}`),
  ].join("; ");
}

function address({ baseUrl, baseUrlVariable }: ServedType): string {
  const places = [baseUrlVariable, baseUrl].filter((place) => typeof place === "string");
  return codes(places, ", else ");
}

function keys({ keyNames, keyOptional, origins }: Host): string {
  if (keyNames.length === 0) return "";
  const names = codes(keyNames, " or ");
  if (!keyOptional) return names;
  return origins.length === 0
    ? `${names}, if it needs one`
    : `${names}, at ${origins.join(", ")} only`;
}

/** The table of prices of hosted tools, with the types that support each tool. */
export function hostedTable(): string {
  const rows = HOSTED_TOOLS.flatMap((tool) =>
    typesWithTool(tool).flatMap((type) => hostedRows(type, tool)),
  );
  return table(["Key", "`type`", "Price of a use", "Tokens reserved for results"], rows);
}

function hostedRows(type: string, tool: HostedToolName): string[][] {
  const facts = BACKEND_TYPES[type];
  const host = facts?.served ? HOSTS.find(({ id }) => id === facts.host) : undefined;
  const hosted = host?.hostedTools[tool];
  if (!host || !hosted) return [];
  return [
    [
      code(HOSTED_KEYS[tool]),
      code(type),
      priceOf(hosted, host.id),
      `${grouped(hosted.tokensPerUse)} tokens`,
    ],
  ];
}

function priceOf({ usdPerUse, surcharge }: HostedToolFacts, host: string): string {
  if (usdPerUse === null) return "unknown";
  if (!surcharge) return usd(usdPerUse);
  const models = MODEL_GROUPS.flatMap((group) =>
    group.host === host ? Object.keys(group.rows) : [],
  );
  const costlierModels = models.filter((model) => surcharge.models.test(model));
  return `${usd(usdPerUse)}; ${usd(surcharge.usdPerUse)} with models such as ${codes(costlierModels)}`;
}

/** The table of MassGen's backend types that this service refuses, with alternatives. */
export function refusedTable(): string {
  const rows = Object.entries(BACKEND_TYPES).flatMap(([type, facts]) =>
    facts.served ? [] : [[code(type), facts.name, sentence(facts.instead)]],
  );
  return table(["`type`", "Name", "Reason and alternative"], rows);
}

/** The table of origins to which each stored key may be sent. */
export function originsTable(): string {
  const rows = HOSTS.filter(({ keyNames }) => keyNames.length > 0).map(
    ({ keyNames, origins, endpointVariable, keyPath }) => [
      codes(keyNames),
      [
        ...origins.map((origin) => code(origin) + (keyPath ? ", paths of models only" : "")),
        ...(endpointVariable === undefined ? [] : [`the origin of ${code(endpointVariable)}`]),
      ].join(", "),
    ],
  );
  return table(["Key", "Sent only to"], rows);
}
