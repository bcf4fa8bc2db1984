import type { AgentRules } from "../protocol/team";
import { ALL_PARAMS, FORMAT_NAMES, FORMAT_PARAMS } from "../providers/format-params";
import { findHost, hostById } from "../providers/hosts";
import type { Format, ServedType } from "../providers/registry";
import { readApiKey } from "./api-key";
import { readType } from "./backend-type";
import { checkKeys } from "./check-keys";
import { readEndpoint } from "./endpoint";
import type { ConfigContext } from "./context";
import { BACKEND_KEYS, OTHER_TYPES_KEYS } from "./backend-keys";
import { oneOf, read, type Section } from "./fields";
import { readRequestedTools } from "./hosted-tools";
import { readModelRules } from "./model-rules";
import { readOutputCap, readParams } from "./params";
import { readRates } from "./rates";
import { BACKEND } from "./backend-settings";
import { readSetting } from "./setting";
import type { Backend } from "./team";

/** A backend and its coordination rules. */
type BackendAndRules = {
  backend: Backend;
  rules: Omit<AgentRules, "id" | "workspace" | "tools">;
};

const PARAM_KEYS = [...ALL_PARAMS, ...OTHER_TYPES_KEYS];

/**
 * Reads a `backend` section. Returns `null` if an error makes it unusable. `offersFunctions`:
 * whether the agent answers and votes by calling functions.
 */
export function readBackend(
  section: Section,
  context: ConfigContext,
  offersFunctions: boolean,
): BackendAndRules | null {
  const type = readType(section);
  checkKeys(section, BACKEND_KEYS, PARAM_KEYS);
  if (!type) return null;
  const requestedTools = readRequestedTools(section);
  const format = readFormat(section, type.facts);
  const wire = {
    params: FORMAT_PARAMS[format],
    name: format === type.facts.format ? type.facts.name : FORMAT_NAMES[format],
  };
  const params = readParams(section, wire, PARAM_KEYS);
  const cap = readOutputCap(section, wire);
  const model = readModel(section, type.facts);
  const endpoint = readEndpoint(section, type.facts, context);
  if (model === null || !endpoint) return null;

  const host = type.facts.host === null ? findHost(endpoint.baseUrl) : hostById(type.facts.host);
  const { hostedTools, rules } = readModelRules(section, {
    ...{ type: type.facts, host, format, baseUrl: endpoint.baseUrl },
    ...{ model, params, cap, requestedTools, offersFunctions },
  });
  const key = readApiKey(section, { host, baseUrl: endpoint.baseUrl, context });
  const rates = readRates(section, { host: host.id, hostName: host.name, model });
  return {
    backend: {
      type: type.name,
      format,
      host: host.id,
      model,
      ...endpoint,
      key,
      capsOutput: cap !== null,
      params,
      hostedTools,
      ...(rates && { rates }),
    },
    rules,
  };
}

/** The wire format that the key `api` selects; without this key, the type's default format. */
function readFormat(section: Section, { format, apis, name }: ServedType): Format {
  if (!apis) {
    if (section.values.has("api"))
      section.findings.error(
        "unknown_key",
        [...section.path, "api"],
        `${name} has only one API: remove \`api\`.`,
        "key",
      );
    return format;
  }
  const api = read(section, "api", oneOf(Object.keys(apis)), null);
  return (api === null ? undefined : apis[api]) ?? format;
}

/** The name of the model. For a versioned endpoint, the name of its deployment. */
function readModel(section: Section, { versions, model: defaultModel }: ServedType): string | null {
  const keys = versions
    ? [BACKEND.azureDeployment, BACKEND.deploymentName, BACKEND.model]
    : [BACKEND.model];
  const configured = keys.map((key) => readSetting(section, key)?.trim()).find((name) => name);
  const model = configured ?? defaultModel;
  // An invalid value is already reported.
  const hasValue = keys.some(({ key }) => (section.values.get(key) ?? null) !== null);
  if (model === null && !hasValue)
    section.findings.error(
      "missing",
      [...section.path],
      "model is missing: write the provider's name of the model.",
    );
  return model;
}
