import { FORMAT_NAMES, FORMAT_PARAMS } from "../providers/format-params";
import { modelNamesOf } from "../providers/models";
import {
  BACKEND_TYPES,
  type Format,
  type ServedType,
  SERVED_TYPES,
  typesWithTool,
} from "../providers/registry";
import { BACKEND_KEYS, VERSIONED_KEYS } from "./backend-keys";
import { integer, type JsonSchema, texts } from "./fields";
import { HOSTED_KEYS } from "./hosted-tools";
import {
  AGENT_KEYS,
  COORDINATION_KEYS,
  type KeyRules,
  ORCHESTRATOR_KEYS,
  PERSONA_KEYS,
  TIMEOUT_KEYS,
  TOP_KEYS,
  UI_KEYS,
} from "./known-keys";
import { MAX_AGENTS, MAX_ID_CHARS, MAX_TEXT_CHARS } from "./config-limits";
import { NEED_IDS, type NeedId, NEEDS } from "./needs";
import { toKind } from "./params";
import { BACKEND } from "./backend-settings";
import type { Setting } from "./setting";
import { COORDINATION, ORCHESTRATOR, PERSONAS, SENSITIVITIES, TIMEOUTS, UI } from "./team-settings";
import { toolSchemas } from "./tool-schemas";
import { SUPPORTED_VALUES } from "./value-needs";

/**
 * Generates the JSON Schema (draft 2020-12) of a team config, for editors. Uses the tables of the
 * config check. Omits conditions that a schema cannot express: allowed addresses, stored keys, and
 * combinations of parameters.
 */
export function teamSchema(): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "A massgen-edge team",
    description:
      "The format of team configs. Ignored keys are marked as deprecated, with the reason.",
    ...section(TOP_KEYS, {
      agents: {
        description: "The agents of the team.",
        type: "array",
        minItems: 1,
        maxItems: MAX_AGENTS,
        items: ref("agent"),
      },
      agent: {
        description: "The agent of a team with a single agent, in place of `agents`.",
        ...ref("agent"),
      },
      orchestrator: {
        description: "Settings of the coordination and of the final answer.",
        ...section(ORCHESTRATOR_KEYS, {
          ...settings(ORCHESTRATOR),
          context_paths: ref("contexts"),
          coordination: {
            description: "Further settings of the coordination.",
            ...section(COORDINATION_KEYS, {
              ...settings(COORDINATION),
              persona_generator: {
                description: "Settings of generated personas.",
                ...section(PERSONA_KEYS, settings(PERSONAS)),
              },
            }),
          },
        }),
      },
      timeout_settings: {
        description: "Time limits of a turn and of its rounds.",
        ...section(TIMEOUT_KEYS, settings(TIMEOUTS)),
      },
      ui: {
        description: "Settings of the display. Clients may ignore them.",
        ...section(UI_KEYS, settings(UI)),
      },
    }),
    type: "object",
    oneOf: [{ required: ["agents"] }, { required: ["agent"] }],
    $defs: { agent: agent(), backend: backend(), ...toolSchemas(), ...paramsByFormat(), off: OFF },
  };
}

/** Values that switch off an unsupported feature. */
const OFF: JsonSchema = {
  description: "Values that switch a feature off.",
  anyOf: [
    { enum: [false, null] },
    { type: "array", maxItems: 0 },
    { type: "object", maxProperties: 0 },
    {
      type: "object",
      properties: { enabled: { description: "`false`: the feature is off.", const: false } },
      required: ["enabled"],
    },
  ],
};

const ref = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` });

/** The key `memory`. `value-needs.ts` checks the same conditions. */
const MEMORY: JsonSchema = {
  description:
    "Agents always remember the turns of their session. Memory across sessions is not supported.",
  anyOf: [
    ref("off"),
    {
      type: "object",
      properties: { persistent_memory: ref("off") },
      anyOf: [{ required: ["conversation_memory"] }, { required: ["persistent_memory"] }],
    },
  ],
};

/**
 * A mapping with the keys in `properties`, the ignored keys, and the unsupported keys, which can
 * only be switched off. The mapping may be empty.
 */
function section(rules: KeyRules, properties: Record<string, JsonSchema>): JsonSchema {
  return { type: ["object", "null"], ...keysOf(rules, properties), additionalProperties: false };
}

function keysOf(rules: KeyRules, properties: Record<string, JsonSchema>): JsonSchema {
  const others = [...ignoredKeys(rules), ...refusedKeys(rules), ...keysByValue(rules)];
  const [patterns, names] = [
    others.filter(([key]) => key.endsWith("*")),
    others.filter(([key]) => !key.endsWith("*")),
  ];
  const byPrefix = patterns.map(([key, schema]) => [`^${key.slice(0, -1)}`, schema] as const);
  return {
    properties: { ...properties, ...Object.fromEntries(names) },
    ...(byPrefix.length > 0 && { patternProperties: Object.fromEntries(byPrefix) }),
  };
}

type Entry = readonly [key: string, schema: JsonSchema];

const ignoredKeys = ({ ignored }: KeyRules): Entry[] =>
  Object.entries(ignored).map(([key, reason]) => [
    key,
    { description: `Ignored: ${reason}.`, deprecated: true },
  ]);

function refusedKeys({ unsupported, requires = {} }: KeyRules): Entry[] {
  return NEED_IDS.flatMap((need) => {
    const description = notSupported(need);
    // A key that requires another key is ignored while that feature is off, so any value is valid.
    return (unsupported[need] ?? []).map(
      (key): Entry => [
        key,
        { description, ...(requires[key] === undefined ? ref("off") : { deprecated: true }) },
      ],
    );
  });
}

function keysByValue({ refusedByValue = [] }: KeyRules): Entry[] {
  return refusedByValue.map((key) => {
    if (key === "memory") return [key, MEMORY];
    const supported = SUPPORTED_VALUES.get(key);
    const listed = supported?.map((value) => `\`${String(value)}\``).join(" and ");
    const description = listed ? `Supported: only ${listed}.` : notSupported(NEED_OF[key] ?? OTHER);
    return [key, { description, anyOf: [...(supported ? [{ enum: supported }] : []), ref("off")] }];
  });
}

/** The missing features of keys that support no value. */
const NEED_OF: Readonly<Record<string, NeedId>> = { hooks: "hooks", upload_files: "upload_files" };
const OTHER = "other_coordination";

const notSupported = (need: NeedId): string =>
  `Not supported: ${NEEDS[need].what}. ${NEEDS[need].way}`;

type AnySetting = Pick<
  Setting<unknown, unknown>,
  "key" | "fallback" | "description" | "effectiveDefault"
> & {
  kind: { schema: JsonSchema };
};

function settings(table: Readonly<Record<string, AnySetting>>): Record<string, JsonSchema> {
  const entries = Object.values(table).map((setting): Entry => {
    const { key, kind, fallback, description, effectiveDefault } = setting;
    const defaultValue = fallback ?? effectiveDefault ?? null;
    const withDefault = defaultValue === null ? {} : { default: defaultValue };
    return [key, { description, ...nullable(kind.schema), ...withDefault }];
  });
  return Object.fromEntries(entries);
}

/** The schema that also accepts an empty value, which means the same as a missing key. */
function nullable(schema: JsonSchema): JsonSchema {
  const { type, enum: words } = schema;
  if (Array.isArray(words)) return { ...schema, enum: [...words, null] };
  return { ...schema, type: [...(Array.isArray(type) ? type : [type]), "null"] };
}

/**
 * Names that every JavaScript object inherits. Ids become keys of plain objects, so these names
 * cannot be ids. Names with a leading underscore are no valid ids anyway.
 */
const INHERITED_NAMES = Object.getOwnPropertyNames(Object.prototype)
  .filter((name) => !name.startsWith("_"))
  .sort();

const agent = (): JsonSchema => ({
  ...section(AGENT_KEYS, {
    id: {
      description: "Name of the agent in logs and results. Other agents do not see it.",
      type: "string",
      maxLength: MAX_ID_CHARS,
      pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]*$",
      not: { anyOf: [{ enum: INHERITED_NAMES }, { pattern: "^(0|[1-9][0-9]*)$" }] },
    },
    backend: { description: "Model of the agent, and its endpoint.", ...ref("backend") },
    system_message: {
      description: "Instructions for the agent, for example its role.",
      type: ["string", "null"],
      maxLength: MAX_TEXT_CHARS,
    },
    voting_sensitivity: {
      description: "Replaces the team's `voting_sensitivity` for this agent.",
      ...nullable(SENSITIVITIES.schema),
    },
  }),
  type: "object",
  required: ["id", "backend"],
});

/** Keys that only some backend types support. */
const TYPE_SPECIFIC_KEYS: readonly string[] = ["api", ...VERSIONED_KEYS];

function backend(): JsonSchema {
  const { type, ...others } = settings(BACKEND);
  const common = Object.entries(others).filter(([key]) => !TYPE_SPECIFIC_KEYS.includes(key));
  return {
    type: "object",
    ...hasTypeIn(SERVED_TYPES),
    ...keysOf(BACKEND_KEYS, {
      type: { ...type, type: "string", enum: SERVED_TYPES },
      ...Object.fromEntries(common),
      context_paths: ref("contexts"),
      custom_tools: ref("custom-tools"),
      exclude_custom_tools: {
        description: "Names of tools in `custom_tools` that the agent does not get.",
        ...nullable(texts.schema),
      },
      mcp_servers: ref("mcp-servers"),
      allowed_tools: {
        description:
          "Tools of MCP servers that the agent gets, by bare or full name. Omitted: all.",
        ...nullable(texts.schema),
      },
      exclude_tools: {
        description: "Tools of MCP servers that the agent does not get, by bare or full name.",
        ...nullable(texts.schema),
      },
      rate_limits: ref("rate-limits"),
    }),
    allOf: [...keysByType(), ...hostedToolConditions()],
    unevaluatedProperties: false,
  };
}

/** A condition: the backend has one of these types, set by `type` or by the model's name. */
function hasTypeIn(types: readonly string[]): JsonSchema {
  const byType = { properties: { type: { enum: types } }, required: ["type"] };
  const names = modelNamesOf(types);
  if (names.length === 0) return { anyOf: [byType] };
  const byModelName = {
    properties: { type: { enum: [null] }, model: { pattern: names.join("|") } },
    required: ["model"],
  };
  return { anyOf: [byType, byModelName] };
}

/** The additional keys of each backend type. Types with equal keys share one condition. */
function keysByType(): JsonSchema[] {
  const groups = new Map<string, { types: string[]; facts: ServedType }>();
  for (const [name, facts] of Object.entries(BACKEND_TYPES)) {
    if (!facts.served) continue;
    const key = JSON.stringify([formatsOf(facts), facts.apis, facts.versions !== undefined]);
    const group = groups.get(key);
    if (group) group.types.push(name);
    else groups.set(key, { types: [name], facts });
  }
  return [...groups.values()].map(({ types, facts }) => ({
    if: hasTypeIn(types),
    then: keysOfType(facts),
  }));
}

const formatsOf = ({ format, apis = {} }: ServedType): Format[] => [
  ...new Set([format, ...Object.values(apis)]),
];

function keysOfType(facts: ServedType): JsonSchema {
  const { api, ...others } = settings(BACKEND);
  const versioned = Object.entries(others).filter(
    ([key]) => facts.versions && TYPE_SPECIFIC_KEYS.includes(key),
  );
  const apiKey = facts.apis
    ? [["api", { ...api, enum: [...Object.keys(facts.apis), null] }] as const]
    : [];
  const properties = Object.fromEntries([...versioned, ...apiKey]);
  const hasProperties = Object.keys(properties).length > 0;
  return { ...paramsOf(facts), ...(hasProperties && { properties }) };
}

/** The parameters of the format that `api` selects; without `api`, of the type's default format. */
const paramsOf = ({ format, apis = {} }: ServedType): JsonSchema =>
  Object.entries(apis).reduce<JsonSchema>(
    (otherwise, [api, apiFormat]) => ({
      if: { properties: { api: { const: api } }, required: ["api"] },
      then: ref(`params-${apiFormat}`),
      else: otherwise,
    }),
    ref(`params-${format}`),
  );

/** Conditions: a hosted tool can be enabled only for types whose provider has it. */
const hostedToolConditions = (): JsonSchema[] =>
  HOSTED_KEYS.map(([key, tool]) => ({
    if: hasTypeIn(typesWithTool(tool)),
    else: { properties: { [key]: { enum: [false, null] } } },
  }));

const NAMES: Readonly<Record<string, string>> = FORMAT_NAMES;

function paramsByFormat(): Record<string, JsonSchema> {
  const entries = Object.entries(FORMAT_PARAMS).map(([format, { kinds, outputCaps }]) => {
    const cap = {
      description: "Maximum output tokens of one call.",
      ...nullable(integer(1, 10_000_000).schema),
    };
    const description = `Parameter of ${NAMES[format]}.`;
    const params = Object.entries(kinds).map(
      ([key, kind]): Entry => [key, { description, ...nullable(toKind(kind).schema) }],
    );
    const caps = outputCaps.map((key): Entry => [key, cap]);
    return [`params-${format}`, { properties: Object.fromEntries([...params, ...caps]) }];
  });
  return Object.fromEntries(entries);
}
